"""Queries that are drafted: verbatim evidence, no copies of it, all over the documents, the same for the same seed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chunkwise import Document, Query, Span, read_folder, read_text
from chunkwise.core.protocols import Answer, Prompt
from chunkwise.core.types import Evidence
from chunkwise.evaluate.asked import draft_by
from chunkwise.evaluate.drafts import Sieve, spread, synthetic
from chunkwise.evaluate.mechanical import draft_mechanically
from chunkwise.evaluate.passages import Passages
from chunkwise.text.terms import terms

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "corpus"
DOCUMENTS = [one for one in read_folder(EXAMPLES) if isinstance(one, Document)]
TEXTS = {document.id: document.text for document in DOCUMENTS}
SPEECH = "state_of_the_union_2024.md"


def evidence(query: Query) -> str:
    ((one,),) = query.evidence
    return one.span.slice(TEXTS[one.document_id])


def test_mechanical_drafts_are_marked_and_cover_the_documents_evenly() -> None:
    queries = draft_mechanically(DOCUMENTS, n=25).queries
    counts = Counter(query.evidence[0][0].document_id for query in queries)
    assert len(queries) == 25
    assert set(counts) == set(TEXTS)
    assert max(counts.values()) <= 8
    assert {query.meta["synthetic"] for query in queries} == {"heading", "fact", "terms"}
    assert all(query.is_synthetic for query in queries)
    assert len({query.id for query in queries}) == 25


def test_the_seed_decides_and_nothing_else() -> None:
    again = draft_mechanically(DOCUMENTS, n=12, seed=3)
    assert again == draft_mechanically(DOCUMENTS, n=12, seed=3)
    assert again.queries != draft_mechanically(DOCUMENTS, n=12, seed=4).queries


def test_a_masked_fact_is_in_its_evidence_and_not_in_its_question() -> None:
    facts = [query for query in draft_mechanically(DOCUMENTS, n=60).queries if query.meta["synthetic"] == "fact"]
    assert len(facts) > 15
    for query in facts:
        before, after = query.text.split(": ", 1)[1].rstrip("?").split("...", 1)
        assert query.answer in evidence(query)
        assert " ".join(f"{before}{query.answer}{after}".split()) in " ".join(evidence(query).split())


def test_words_that_are_asked_for_stand_together_in_one_sentence_only() -> None:
    passages = Passages(DOCUMENTS, words=terms)
    drafts = [query for query in draft_mechanically(DOCUMENTS, n=40).queries if query.meta["synthetic"] == "terms"]
    assert len(drafts) > 5
    for query in drafts:
        (row,) = passages.holding(terms(query.text))
        assert passages.each[row][1] == query.evidence[0][0].span


def test_headings_are_asked_for_with_their_title_where_others_are_alike() -> None:
    text = "# {}\n\n## Seals\n\n" + "Seals are replaced every six weeks by the people of the night shift. " * 2
    documents = [read_text(text.format(name), id=f"{name}.md") for name in ("Pumps", "Valves")]
    documents.append(
        read_text("# Notes\n\n## References\n\n" + "Okafor 1998, on pumps and all that they do. " * 3, id="n")
    )
    documents.append(
        read_text("# FAQ\n\n## 2.1 How do I stop it?\n\n" + "Turn the wheel until it no longer turns. " * 3)
    )
    asked = {q.text for q in draft_mechanically(documents, n=30).queries if q.meta["synthetic"] == "heading"}
    assert asked == {
        "What is said about Seals (Pumps)?",
        "What is said about Seals (Valves)?",
        "How do I stop it?",
    }


def test_texts_without_spaces_give_no_mechanical_questions() -> None:
    assert (
        draft_mechanically([Document.from_text("他在北京工作。他在1998年买了一台泵。" * 9, id="zh")], n=5).queries == ()
    )


def test_what_is_dropped_is_told_with_its_reason() -> None:
    sieve = Sieve(Passages(DOCUMENTS, words=terms), DOCUMENTS)
    start = TEXTS[SPEECH].index("And just this morning, Sweden")
    gold = Evidence(SPEECH, Span(start, start + 84))
    elsewhere = Evidence(SPEECH, Span(30_000, 30_300))
    drafts = [
        ("Sweden officially joined, and their minister is here this morning tonight?", gold, "rare words"),
        ("Which nation became an ally on that day?", gold, ""),
        ("Who entered the pact?", Evidence(SPEECH, Span(start + 20, start + 40)), "another question's, too"),
        ("On which day became that nation an ally?", elsewhere, "what another question asks"),
        ("What does the author of the text mean by unity?", elsewhere, "points at a text"),
    ]
    for text, where, reason in drafts:
        sieve.dropped.clear()
        assert sieve.take(synthetic(text, where, how="test")) is not bool(reason)
        assert not reason or reason in sieve.dropped[0][1]


def test_documents_take_turns_until_all_are_at_their_end() -> None:
    sieve = Sieve(Passages(DOCUMENTS, words=terms), DOCUMENTS)

    def stream(names: Sequence[str], place: int) -> Iterator[Query]:
        for name in names:
            yield synthetic(f"What of {name}?", Evidence(SPEECH, Span(place, place + 200)), how="test")
            place += 300

    spread([stream(["ann", "bob", "cid"], 1_000), stream(["dan"], 9_000)], sieve, 9)
    assert [query.text[8:11] for query in sieve.queries] == ["ann", "dan", "bob", "cid"]


@dataclass
class Scripted:
    """A language model that says what it is told to of the text that it is shown."""

    replies: list[str] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    name: str = "http://localhost/v1#fake"
    window: int = 8192

    def __call__(self, prompts: Sequence[Prompt]) -> list[Answer]:
        self.prompts += prompts
        return [Answer(self.replies.pop(0) if self.replies else self.good(prompt)) for prompt in prompts]

    def good(self, prompt: Prompt) -> str:
        text = prompt.text.split("<text>\n")[1]
        sentence = max(re.findall(r"[A-Z][^.\n|]{60,200}\.", text) or [text[:80]], key=len)
        number = self.prompts.index(prompt)
        return json.dumps({"question": f"Why {number}x and {number}y?", "excerpt": sentence, "answer": "so"})


def test_a_model_is_asked_about_places_all_over_the_documents() -> None:
    llm = Scripted()
    queries = draft_by(llm, DOCUMENTS, n=5).queries
    assert {query.evidence[0][0].document_id for query in queries} == set(TEXTS)
    assert {query.meta["synthetic"] for query in queries} == {"llm fake"}
    assert {query.answer for query in queries} == {"so"}
    assert len(set(llm.prompts)) == len(llm.prompts) == 6
    again = Scripted()
    assert draft_by(again, DOCUMENTS, n=5).queries == queries
    assert again.prompts == llm.prompts


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no", "the answer is no JSON: 'no'"),
        ("[1]", "nothing to ask there"),
        ('{"question": ""}', "nothing to ask there"),
        ('{"question": "Why?"}', "the answer has no question, or no excerpt"),
        ('{"question": "Why?", "excerpt": "four words are short"}', "too short to be told apart"),
        ('{"question": "Why?", "excerpt": "Llamas graze on hillsides near Cusco."}', "its excerpt is not in the text"),
        ("[" * 20_000, "the answer is no JSON"),
    ],
)
def test_an_answer_that_is_no_good_is_dropped_and_another_one_asked_for(reply: str, reason: str) -> None:
    drafted = draft_by(Scripted([reply] * 3), DOCUMENTS, n=3)
    assert len(drafted.queries) == 3
    assert len(drafted.dropped) == 3
    assert all(reason in told for _, told in drafted.dropped)


def test_a_model_that_is_never_any_good_is_not_asked_for_ever() -> None:
    llm = Scripted(["no"] * 1_000)
    drafted = draft_by(llm, DOCUMENTS, n=4)
    assert drafted.queries == ()
    assert len(llm.prompts) == 20


def test_an_excerpt_with_another_number_is_dropped() -> None:
    document = Document.from_text("The valve opens at 3.5 bar, and closes again at 2.1 bar or below.", id="v")
    reply = {"question": "When does it open?", "excerpt": "The valve opens at 3.6 bar, and closes again at 2.1 bar"}
    assert draft_by(Scripted([json.dumps(reply)]), [document], n=1).queries == ()
    reply["excerpt"] = "the  valve opens at 3.5 bar, and\ncloses again"
    (query,) = draft_by(Scripted([json.dumps(reply)]), [document], n=1).queries
    assert query.evidence == ((Evidence("v", Span(0, 44)),),)
