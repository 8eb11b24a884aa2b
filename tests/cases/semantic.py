"""Reported bugs of cutting by meaning, and siblings of them: each is asked of every way to find boundaries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import pytest

from cases import reported
from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.core.types import Document
from chunkwise.embed import custom_encoder, encoder
from chunkwise.embed.late import late
from chunkwise.llm import custom_llm
from chunkwise.pipeline import Index, chunk, chunker
from unit.hashing import HashingEncoder, hashed

SCORERS = [
    "drop()",
    "drop(percentile=95)",
    "drop(percentile=90, horizon=5)",
    "drop(deviations=3)",
    "gradient()",
    "gradient(window=1, horizon=2)",
    "max_min()",
    "double_pass()",
    "cluster()",
    "marked(llm='every third')",
]


class Strict(HashingEncoder):
    """Refuse, as an endpoint does, a text that is empty or longer than it takes, and a request for nothing."""

    name = "strict"
    max_tokens = 512

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        assert texts, "asked for nothing"
        for text in texts:
            assert text.strip(), "asked for a blank text"
            n_tokens = self.tokenizer.count(text)
            assert n_tokens <= self.max_tokens, f"asked for {n_tokens} tokens"
        return hashed(texts, self.dim)


def every_third(prompt: str) -> str:
    numbers = [int(found) for found in re.findall(r"^\[(\d+)\]", prompt, re.MULTILINE)]
    return json.dumps({"starts": numbers[::3]})


def no_model(prompt: str) -> str:
    raise AssertionError("asked")


custom_encoder("strict", Strict())
custom_llm("every third", every_third)
custom_llm("no model", no_model)


def recipes(size: int, tokenizer: str | None = None, *, min_size: int | None = None) -> list[str]:
    """Return the recipe of every scorer, counting with the encoder's tokenizer if none is named."""
    counted = f", tokenizer={tokenizer!r}" if tokenizer else ""
    return [
        f"scored(size={size}, scorer={scorer}, encoder='strict', min_size={min_size}{counted})" for scorer in SCORERS
    ]


def holds(*checks: reported.Check, tokenizer: str | None = None) -> reported.Test:
    """Return the test that these checks, and the laws, hold for the case's text, whatever finds the boundaries."""

    def test(case: reported.Case) -> None:
        for recipe in recipes(case.params["size"], case.params.get("tokenizer", tokenizer)):
            laws = (reported.exact, reported.covered, reported.within)
            reported.verify(reported.run(case.text, recipe), (*laws, *checks), case.expect)

    return test


def sibling(text: str, size: int, *checks: reported.Check, media_type: str = "text/plain") -> Callable[[], None]:
    """Return the test that these checks, and the laws, hold for a text of our own, whatever finds the boundaries."""

    def test() -> None:
        for recipe in recipes(size, "words"):
            laws = (reported.exact, reported.covered, reported.within)
            reported.verify(reported.run(text, recipe, media_type), (*laws, *checks), "as in the cases of its kind")

    return test


def of_whole_lines(run: reported.Run) -> bool:
    lines = [line.strip() for line in run.text.splitlines()]
    return [line.strip() for text in run.texts for line in text.splitlines()] == lines


def a_blank_document_leaves_the_others(case: reported.Case) -> None:
    documents = [Document.from_text(text, id=str(number)) for number, text in enumerate(case.inputs)]
    for recipe in recipes(100):
        assert [[c.text for c in chunk(document, recipe)] for document in documents] == [
            ["Real text here."],
            [],
            ["More real text."],
        ]
        index = Index("memory:", encoder=Strict())
        assert index.add_documents(documents, recipe=recipe).n_chunks == 2
        assert [hit.chunk.document_id for hit in index.search("more", k=1)] == ["2"]


def as_many_chunks_as_sentences(case: reported.Case) -> None:
    with pytest.raises(RecipeError, match="n_chunks"):  # by design: the size bounds chunks, not their number
        chunker("scored(n_chunks=2)")
    written = "scored(size=100, min_size=0, encoder='strict', scorer=drop(threshold=1, window=1))"
    assert reported.run(case.text, written).texts == ["First sentence.", "Second sentence."]
    for recipe in recipes(100, min_size=0):
        reported.verify(reported.run(case.text, recipe), (reported.whole,), case.expect)


TESTS: dict[str, reported.Test] = {
    "B023": holds(of_whole_lines),
    "B024": holds(lambda run: len(run.chunks) >= 7),
    "B026": holds(),
    "B141": a_blank_document_leaves_the_others,
    "B142": holds(lambda run: run.texts == [run.text], tokenizer="characters"),
    "B143": as_many_chunks_as_sentences,
}


def nothing_is_asked_of_blank_documents() -> None:
    for text in ("", " \n\t", "\u00a0\u2003\f", "\r\n\r\n"):
        for scorer in (*SCORERS, "marked(llm='no model')"):
            assert chunk(Document.from_text(text, id="x"), f"scored(scorer={scorer}, encoder='strict')") == []


def blank_documents_are_no_matter_of_late_chunking() -> None:
    documents = [Document.from_text(text, id=str(number)) for number, text in enumerate(["Real.", " \n", "More."])]
    index = Index("memory:", late=True)
    assert index.add_documents(documents).n_chunks == 2
    only = Index("memory:", late=True)
    assert only.add_documents(documents[1:2]).n_chunks == 0
    minilm = encoder(index.encoder.name)
    assert late(minilm)(documents[1], []).shape == (0, minilm.dim)


def all_sentences_alike() -> None:
    # All distances are one and the same: no statistic of them may part, or divide by, nothing.
    for number in (2, 3, 4, 40):
        for recipe in recipes(20, "words", min_size=0):
            reported.verify(
                reported.run("Same again. " * number, recipe), (reported.whole, reported.within), "no error"
            )


SIBLINGS: dict[str, Callable[[], None]] = {
    "semantic-json-on-one-line": sibling(
        json.dumps({f"key {number}": ["a", number, None] for number in range(900)}), 64, lambda run: len(run.chunks) > 9
    ),
    "semantic-chinese-without-stops": sibling("水泵每周检查一次阀门必须关闭" * 400, 100),
    "semantic-thai": sibling("คนงานตรวจปั๊มน้ำทุกวันก่อนเริ่มงาน " * 300, 100),
    "semantic-one-endless-word": sibling("x" * 20_000, 100),
    "semantic-log-without-stops": sibling(
        "".join(f"2026-11-30 02:{minute:02}:03 INFO started worker {minute}\n" for minute in range(60)) * 9,
        60,
        reported.at_line_ends,
    ),
    "semantic-nothing-but-a-table": sibling(
        "| Part | Weeks |\n|---|---|\n" + "| seal | 4 |\n" * 200, 60, reported.at_line_ends, media_type="text/markdown"
    ),
    "semantic-nothing-but-code": sibling(
        "```py\n" + "value = compute(1, 2)\n" * 200 + "```\n", 60, reported.at_line_ends, media_type="text/markdown"
    ),
    "semantic-nothing-but-headings": sibling("# One\n\n## Two\n\n### Three\n", 60, media_type="text/markdown"),
    "semantic-sentences-alike": all_sentences_alike,
    "semantic-blank-documents": nothing_is_asked_of_blank_documents,
    "late-blank-documents": blank_documents_are_no_matter_of_late_chunking,
}
