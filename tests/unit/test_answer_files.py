"""Answers and labels that come in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate.answer_files import read_answers, read_labels
from unit.readers_of_prompts import query

ASKED = [query(id="1"), query(id="2"), query(id="3")]


def written(folder: Path, text: str, name: str = "answers.jsonl") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1, "answer": " Cats\\n eat. "}\n{"id": "2", "answer": ""}\n'),
        ("a.csv", 'id,answer\n1,"Cats\neat."\n2,\n'),
        ("a.tsv", "id\tanswer\n1\tCats eat.\n2\t\n"),
        ("a.yaml", "- id: 1\n  answer: Cats eat.\n- id: 2\n  answer: ''\n"),
    ],
)
def test_answers_are_read_by_id_and_an_empty_one_is_a_refusal(name: str, text: str, tmp_path: Path) -> None:
    found = read_answers(written(tmp_path, text, name), ASKED)
    assert list(found) == ["1", "2"]
    assert (found["1"].text, found["1"].by) == ("Cats eat.", name)
    assert found["2"].is_refusal


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "9", "answer": "a"}', "line 1: no question '9' in the set"),
        ('{"id": "1", "answer": "a"}\n{"id": "1", "answer": "b"}', "line 2: a second answer to question '1'"),
        ('{"answer": "a"}', "line 1: no id"),
        ('{"id": "1", "answer": ["a"]}', "line 1: the answer is no text"),
        ('{"id": "1", "response": "a"}', "no answer in it"),
        ("{", "line 1: no JSON"),
        ("", "no answer in it"),
    ],
)
def test_a_line_that_can_not_be_read_is_named(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=told):
        read_answers(written(tmp_path, text), ASKED)


def test_labels_are_read_in_the_words_that_people_use(tmp_path: Path) -> None:
    words = ["true", "1", '"supported"', '"Yes"', "false", "0", '"unsupported"', '"no"']
    lines = [f'{{"id": "1", "answer": "a", "label": {word}, "passages": ["p"]}}' for word in words]
    found = read_labels(written(tmp_path, "\n".join(lines)), ASKED)
    assert [one.label for one in found] == [True] * 4 + [False] * 4
    assert found[0].passages == ("p",)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ('"label": "good enough"', "line 1: the label 'good enough' is none of"),
        ('"other": 1', "line 1: the label '' is none of"),
        ('"label": 1, "passages": "p"', "line 1: `passages` is no list of texts"),
        ('"label": 1, "passages": [" "]', "line 1: `passages` is no list of texts"),
    ],
)
def test_a_label_that_can_not_be_read_is_named(fields: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=told):
        read_labels(written(tmp_path, f'{{"id": "1", "answer": "a", {fields}}}'), ASKED)
