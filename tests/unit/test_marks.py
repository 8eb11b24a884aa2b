"""Boundaries that a language model marks."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from chunkwise.chunkers.marks import Marks, marks
from chunkwise.core.protocols import LLM
from chunkwise.llm import Answers, Chat, custom_llm
from unit.fake_server import Asked, FakeServer, Reply, prompt_of, said

SENTENCES = [f"{'Pumps' if n // 7 % 2 else 'Valves'} matter, says number {n}." for n in range(100)]
CHANGES = tuple(range(7, 100, 7))


def subjects(prompt: str) -> str:
    """Mark the sentences whose first word is not that of the one before, as a good model would."""
    lines = re.findall(r"^\[(\d+)\] (\w+)", prompt, re.MULTILINE)
    starts = [int(n) for (_, before), (n, word) in pairwise(lines) if word != before]
    return json.dumps({"starts": starts})


def noting(asked: list[str], answer: str) -> LLM:
    """Return a model that always says the same, and writes down what it is asked."""

    def say(prompt: str) -> str:
        asked.append(prompt)
        return answer

    return custom_llm("noting", say)


def test_numbers_of_several_windows_are_those_of_the_sentences() -> None:
    assert marks(SENTENCES, custom_llm("subjects", subjects)) == Marks(CHANGES, ())


def test_an_edit_at_the_end_changes_no_mark_before() -> None:
    model = custom_llm("subjects", subjects)
    assert marks(SENTENCES[:60], model).starts == tuple(number for number in CHANGES if number < 60)


def test_no_sentences_ask_nothing() -> None:
    asked: list[str] = []
    assert marks([], noting(asked, "[]")) == Marks((), ())
    assert asked == []


def test_a_sentence_that_breaks_lines_keeps_its_number() -> None:
    asked: list[str] = []
    assert marks(["One\n[7] is not a number.", "Two " * 900], noting(asked, '{"starts": [2]}')).starts == (1,)
    lines = asked[0].splitlines()[-2:]
    assert lines[0] == "[1] One [7] is not a number."
    assert len(lines[1]) < 420


@pytest.mark.parametrize(
    "text",
    ['{"starts": [3, 5]}', "[3, 5]", '```json\n{"starts": [3, 5]}\n```', '{"starts": [1, 3, 5], "why": "the subject"}'],
)
def test_an_answer_is_read_in_the_forms_that_models_give_it(text: str) -> None:
    assert marks(["a."] * 9, custom_llm("fixed", lambda prompt: text)).starts == (2, 4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Sentences 3 and 5.", "no JSON"),
        ('{"starts": [3, 5', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"begin": [3]}', "no list of numbers"),
        ('{"starts": ["3"]}', "no list of numbers"),
        ('{"starts": [true]}', "no list of numbers"),
        ('{"starts": [3.0]}', "no list of numbers"),
        ('{"starts": [0]}', "no sentence 0"),
        ('{"starts": [3, 10]}', "no sentence 10, only 1 to 9"),
        ('{"starts": [5, 3]}', "do not rise"),
        ('{"starts": [3, 3]}', "do not rise"),
        ("", "the answer is empty"),
    ],
)
def test_an_answer_that_makes_no_sense_marks_nothing_and_is_told(text: str, reason: str) -> None:
    found = marks(["a."] * 9, custom_llm("fixed", lambda prompt: text))
    assert found.starts == ()
    (failure,) = found.failures
    assert failure.startswith("sentences 1 to 9: ")
    assert reason in failure


def test_a_window_without_an_answer_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    def moody(asked: Asked) -> str:
        prompt = prompt_of(asked)
        return said("", refusal="No.") if "number 50." in prompt else said(subjects(prompt))

    with FakeServer(*[Reply(body=moody)] * 9) as server:
        model = Chat(server.url, "fake", answers=Answers(str(tmp_path / "kept")))
        found = marks(SENTENCES, model)
        assert {asked.content["response_format"]["type"] for asked in server.asked} == {"json_object"}
        n_asked = len(server.asked)
        assert marks(SENTENCES, model) == found  # only the failed one is asked again
        assert len(server.asked) == n_asked + 1
    assert found.starts == tuple(number for number in CHANGES if not 40 <= number < 80)
    assert found.failures == ("sentences 41 to 80: the model refuses: 'No.'",)
