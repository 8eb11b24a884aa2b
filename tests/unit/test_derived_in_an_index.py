"""Derived chunks in an index: kept beside the chunks of the cut, found by what they say, shown for what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from chunkwise.cli.hits import print_hits
from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import LLM, Budget, Reserve, no_reserve
from chunkwise.core.recipes import TRANSFORMS, numbered, transform
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.pipeline import Index, Mode, chunk
from chunkwise.readers.read import read_text
from chunkwise.transforms.propositions import propositions
from chunkwise.transforms.summaries import summaries
from unit.fake_server import Asked, FakeServer, Reply, prompt_of, said
from unit.hashing import HashingEncoder

TEXT = """# Pumps

Lena Okafor built it in 1969. She sold it to Rotterdam. Same again. Same again.

## Seals

Seals of graphite wear out in spring. Nobody knows why.
"""


def facts(asked: Asked) -> str:
    """Name who is meant wherever a sentence says `she`."""
    lines = re.findall(r"^\[(\d+)\] (.+)", prompt_of(asked), re.MULTILINE)
    told = [{"sentence": int(n), "text": line.replace("She", "Engineer Okafor")} for n, line in lines if "She" in line]
    return said(json.dumps({"facts": told}))


@pytest.fixture
def derives() -> Iterator[None]:
    """Register a transform that yields, after the cut, what can be derived of it."""

    @transform
    @dataclass(frozen=True, slots=True)
    class Derives:
        llm: LLM | None = None

        def check(self, budget: Budget) -> None:
            pass

        def reserve(self, document: Document, budget: Budget, within: Sequence[Span]) -> Reserve:
            return no_reserve

        def __call__(
            self, chunks: Iterable[Chunk], document: Document, budget: Budget, within: Sequence[Span]
        ) -> Iterator[Chunk]:
            cut = list(numbered(chunks))
            yield from cut
            if self.llm is not None:
                yield from propositions(cut, document, budget=budget, llm=self.llm).chunks
            yield from summaries(document, budget=budget)

    yield
    TRANSFORMS.pop("derives")


@pytest.fixture(params=["memory:", "folder"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return Index("memory:" if request.param == "memory:" else tmp_path / "index", encoder=HashingEncoder())


@pytest.mark.usefixtures("derives")
@pytest.mark.parametrize("strategy", ["sentences(size=24, max_sentences=1)", "structural(size=24)"])
def test_derived_chunks_are_kept_beside_the_chunks_that_they_come_from(index: Index, strategy: str) -> None:
    document = read_text(TEXT, id="guide.md", media_type="text/markdown")
    with FakeServer(*[Reply(body=facts)] * 9) as server:
        added = index.add_documents([document], recipe=f"{strategy} | derives(llm='{server.url}#fake')")
        again = index.add_documents([document])
    kept = index.chunks("guide.md")
    cut = [made for made in kept if "derived" not in made.meta]
    plain = chunk(document, strategy, tokenizer=index.encoder.tokenizer)
    assert [made.id for made in cut] == [made.id for made in plain]
    assert [made.meta["derived"] for made in kept[len(cut) :]] == ["proposition", "summary", "summary"]
    assert kept[len(cut)].parent in {made.id for made in plain}
    assert added.n_chunks == len(index) == len(kept)
    assert again.unchanged == ("guide.md",)


@pytest.mark.usefixtures("derives")
def test_a_proposition_is_found_by_what_it_states_and_cites_the_sentence(index: Index) -> None:
    document = read_text(TEXT, id="guide.md", media_type="text/markdown")
    with FakeServer(*[Reply(body=facts)] * 9) as server:
        index.add_documents(
            [document], recipe=f"sentences(size=24, max_sentences=1) | derives(llm='{server.url}#fake')"
        )
    modes: tuple[Mode, ...] = ("vector", "lexical", "hybrid")
    for mode in modes:
        hit = index.search("What did Engineer Okafor sell to Rotterdam?", k=1, mode=mode)[0]
        assert hit.chunk.meta["derived"] == "proposition"
        assert hit.chunk.context == "Engineer Okafor sold it to Rotterdam.\n"
        assert hit.chunk.text == hit.chunk.body.slice(document.text) == "She sold it to Rotterdam."


@pytest.mark.usefixtures("derives")
def test_what_is_derived_can_be_asked_for_and_says_what_it_is(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    document = read_text(TEXT, id="guide.md", media_type="text/markdown")
    index.add_documents([document], recipe="sentences(size=24, max_sentences=1) | derives()")
    (hit, *others) = index.search("graphite seals in spring", k=5, where={"derived": "summary"})
    assert hit.chunk.meta["section"] == [TEXT.index("## Seals"), len(TEXT)]
    assert {made.chunk.meta["derived"] for made in others} == {"summary"}
    assert hit.chunk.text == "".join(span.slice(document.text) for span in hit.chunk.spans)
    print_hits([hit])
    assert "guide.md:100-138+138-155, summary" in capsys.readouterr().out


MANUAL = """# Pumps

The pump moves water uphill through a pipe. It has a seal of rubber. The seal wears every year.

# Lamps

The lamp lights the yard when evening comes. It has a bulb of glass. The bulb wears every year.

# Doors

Short.
"""


def summarised(url: str | Path, recipe: str = "structural(size=40)") -> Index:
    made = Index(url, encoder=HashingEncoder(), summaries=True)
    made.add_documents([read_text(MANUAL, id="manual.md")], recipe=recipe)
    return made


@pytest.mark.parametrize("recipe", ["structural(size=40)", "nest(60, 20, base=structural())"])
def test_sections_are_chosen_by_their_summaries_and_passages_in_them(tmp_path: Path, recipe: str) -> None:
    for url in ("memory:", tmp_path / "index"):
        index = summarised(url, recipe)
        hits = index.search("when evening comes, what wears every year?", k=9)
        assert {hit.chunk.headings[0] for hit in hits} >= {"Pumps", "Lamps"}
        assert not any(hit.chunk.is_derived for hit in hits)
        how = "hybrid() | two_stage(sections=1, by='summary')"
        chosen = index.search("when evening comes, what wears every year?", k=9, retrieval=how)
        assert {hit.chunk.headings for hit in chosen} == {("Lamps",)}
        assert not any(hit.chunk.is_derived for hit in chosen)
        evidence = index.assemble("evening comes", tokens=12, ladder="fine")
        assert [hit.chunk.headings for hit in evidence] == [("Lamps",)]


def test_summaries_are_found_where_they_are_asked_for(tmp_path: Path) -> None:
    index = summarised(tmp_path / "index")
    hits = index.search("pump water uphill", where={"level": 1})
    assert hits[0].chunk.meta["derived"] == "summary"
    assert hits[0].chunk.headings == ("Pumps",)
    assert Index(tmp_path / "index", encoder=HashingEncoder()).summaries
    assert summarised(tmp_path / "index").add_documents([read_text(MANUAL, id="manual.md")]).unchanged == ("manual.md",)


def test_an_index_has_summaries_or_has_not(tmp_path: Path) -> None:
    plain = Index(tmp_path / "index", encoder=HashingEncoder())
    plain.add_documents([read_text(MANUAL, id="manual.md")])
    with pytest.raises(StoreError, match="with summaries=False, which stays"):
        Index(tmp_path / "index", encoder=HashingEncoder(), summaries=True)
    with pytest.raises(StoreError, match="needs an index with summaries"):
        plain.search("pump", retrieval="hybrid() | two_stage(by='summary')")
    with pytest.raises(StoreError, match="needs an index of several levels"):
        summarised("memory:").search("pump", retrieval="hybrid() | auto_merge()")
