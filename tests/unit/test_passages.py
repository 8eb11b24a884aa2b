"""Passages found by words: those of neighbours and headings count, and what is alike is trimmed to what is meant."""

from __future__ import annotations

from pathlib import Path

from chunkwise import Document, read_folder, read_text
from chunkwise.evaluate.passages import Passages, plain_words, sentences
from chunkwise.evaluate.queries import read_queries
from chunkwise.text.terms import terms

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MANUAL = """---
title: Manual
---
# Manual

## Pumps

They hum. Seals are replaced every six weeks. This is done by the night shift.

## Valves

They open at 3.5 bar. The gauge is on the left.

```
open()
```
"""


def found(question: str, n: int = 3) -> list[str]:
    return [one.text for one in Passages([read_text(MANUAL, id="m")], words=terms).ranked(question, n)]


def test_sentences_leave_out_headings_and_front_matter() -> None:
    document = read_text(MANUAL, id="m")
    texts = [span.slice(document.text) for span in sentences(document)]
    assert texts[:2] == ["They hum.", "Seals are replaced every six weeks."]
    assert not any("#" in text or "title" in text for text in texts)


def test_a_word_that_only_a_heading_has_finds_what_is_under_it() -> None:
    assert found("valves")[0].startswith("They open at 3.5 bar.")
    assert not any("Seals" in text for text in found("valves"))


def test_a_word_that_only_a_neighbour_has_counts_less_than_its_own() -> None:
    passages = Passages([read_text(MANUAL, id="m")], words=terms).ranked("replaced by the night shift", 1)
    assert passages[0].text == "This is done by the night shift."
    assert passages[0].headings == ("Manual", "Pumps")


def test_neighbours_are_one_passage_but_not_across_a_heading() -> None:
    # The last sentence on pumps and the first on valves follow one another, too.
    assert found("seals shift bar", 3) == [
        "Seals are replaced every six weeks. This is done by the night shift.",
        "They open at 3.5 bar.",
    ]


def test_what_is_alike_has_the_words_that_are_meant_and_no_more() -> None:
    passages = Passages([read_text(MANUAL, id="m")], words=plain_words)
    (best, *_) = passages.alike("seals were replaced each six weeks", 3)
    assert best.text == "Seals are replaced every six weeks"
    assert best.score > passages.alike("pumps were replaced", 1)[0].score
    assert passages.alike("xylophone", 3) == []


def test_documents_without_a_sentence_give_none() -> None:
    passages = Passages([Document.from_text(" \n", id="blank")], words=plain_words)
    assert passages.ranked("pumps", 3) == passages.alike("pumps hum", 3) == []


def test_most_questions_of_people_find_their_evidence_among_ten() -> None:
    documents = [one for one in read_folder(EXAMPLES / "corpus") if isinstance(one, Document)]
    passages = Passages(documents, words=terms)
    n_found = 0
    queries = read_queries(EXAMPLES / "questions.jsonl", documents)
    for query in queries:
        proposed = [one.evidence for one in passages.ranked(query.text, 10)]
        n_found += any(
            one.document_id == gold.document_id and one.span.start < gold.span.end and gold.span.start < one.span.end
            for one in proposed
            for slot in query.evidence
            for gold in slot
        )
    assert n_found >= 0.6 * len(queries)
