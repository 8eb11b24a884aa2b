"""Bugs that users of other libraries reported: none of them happens here, as docs/public-bugs.md tells in words."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cases import pages, reported, semantic, test_cleaning_cases, test_pdf_cases
from chunkwise.core.errors import RecipeError
from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.spans import contains
from chunkwise.core.types import Document
from chunkwise.pipeline import Index, chunk, chunker
from chunkwise.readers.batch import read_folder
from chunkwise.readers.read import Skip, read_text
from chunkwise.testing import check_chunker
from chunkwise.text.tokens import tokenizer
from laws.strategies import written

ends, holds, linear = reported.ends, reported.holds, reported.linear
recipe, run, has = reported.recipe, reported.run, reported.has
covered, distinct, exact, rising = reported.covered, reported.distinct, reported.exact, reported.rising
within, whole, unnested, under = reported.within, reported.whole, reported.unnested, reported.under
headings_of, starts_with_no, every_chunk = reported.headings_of, reported.starts_with_no, reported.every_chunk
at_line_ends, pages_are_touched, rows_tile = reported.at_line_ends, reported.pages_are_touched, reported.rows_tile

# By design white space at a chunk's ends is in no chunk. So where a case asks that the joined chunks equal
# the text, `whole` asks that only white space is between them; and where the last chunk should end with the
# text, it ends where the text's last word does.


def an_overlap_of_the_whole_size_is_refused(case: reported.Case) -> None:
    with pytest.raises(RecipeError, match="must be less than size=5"):  # by design: a chunk brings something new
        chunker(recipe(case.params))
    holds(exact, lambda run: run.chunks[-1].spans == ((6, 11),), overlap=4)(case)


def more_chunks_than_a_bound_are_not_lost(case: reported.Case) -> None:
    with pytest.raises(RecipeError, match="max_chunks"):  # by design: there is no bound that could lose text
        chunker("fixed(size=10, max_chunks=100)")
    holds(whole, lambda run: len(run.chunks) > 100)(case)


def the_work_on_one_long_token_is_linear(case: reported.Case) -> None:
    linear()(case)
    linear(tokenizer="cl100k_base")(case)


def one_bad_document_leaves_the_others(case: reported.Case) -> None:
    with TemporaryDirectory() as folder:
        for i, text in enumerate(case.inputs):
            Path(folder, f"{i}.txt").write_text(text, "utf-8")
        Path(folder, "1b.txt").write_bytes(bytes(range(32)) * 8)
        results = list(read_folder(folder))
    skips = [result for result in results if isinstance(result, Skip)]
    assert [skip.id for skip in skips] == ["1b.txt"]
    assert "binary" in skips[0].reason
    cut = chunker(recipe(case.params))
    texts = ["".join(c.text for c in cut(result)) for result in results if not isinstance(result, Skip)]
    assert texts == list(case.inputs)


def a_literal_special_token_is_text(case: reported.Case) -> None:
    assert tokenizer("cl100k_base").count("<|endoftext|>") == 7
    holds(whole, within, lambda run: "<|endoftext|>" in run.joined)(case)


def an_unknown_tokenizer_is_refused_without_network(case: reported.Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "socket", None)
        with pytest.raises(RecipeError, match="no tokenizer 'gpt2'"):
            chunker("recursive", tokenizer=case.params["tokenizer"])


def a_second_call_is_as_the_first(case: reported.Case) -> None:
    written, other = recipe(case.params), read_text('{"a": 1, "b": 2}', id="case", media_type=case.media_type)
    used, fresh = chunker(written), run(case.text, written, case.media_type)
    list(used(other))
    assert list(used(fresh.document)) == fresh.chunks
    assert fresh.joined == case.text


def blank_texts_give_no_chunks(case: reported.Case) -> None:
    for text in (case.text, " ", "\n\t \r\n"):
        for name in STRATEGIES:
            assert not run(text, written(name, 10), "text/markdown").chunks


def ids_are_the_same_in_every_process(case: reported.Case) -> None:
    program = (
        f"import chunkwise as cw; print([c.id for c in cw.chunk(cw.read_text({case.text!r}), {recipe(case.params)!r})])"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    outputs = [subprocess.check_output([sys.executable, "-c", program], env=env, text=True) for env in environments]
    assert outputs[0] == outputs[1] != "[]\n"


def metadata_costs_nothing(case: reported.Case) -> None:
    meta = {"abstract": "lorem " * 80}
    written = recipe({key: value for key, value in case.params.items() if key != "doc_meta"})
    plain, rich = (chunk(Document.from_text(case.text, id="x", meta=m), written) for m in ({}, meta))
    assert [c.text for c in rich] == [c.text for c in plain] != []


def levels_need_no_overlap_and_scale_one(case: reported.Case) -> None:
    sizes = ", ".join(map(str, case.params["sizes"]))
    for nest in (f"nest({sizes})", f"nest({sizes}) | overlap(ratio=0.1)"):
        chunks = {c.id: c for c in run(case.text, nest).chunks}
        assert {c.meta["level"] for c in chunks.values()} == {0, 1, 2}
        assert all(contains(chunks[c.parent].body, c.body) for c in chunks.values() if c.parent)


def an_index_of_leaves_alone_answers(case: reported.Case) -> None:
    index = Index("memory:")
    index.add_documents([Document.from_text(case.text, id="dam")], recipe="nest(2048, 512, 128)")
    hits = index.search("When was the dam inspected?")
    assert {hit.chunk.meta["level"] for hit in hits} == {2}


def two(run: reported.Run) -> bool:
    return len(run.chunks) == 2


def gives(*texts: str) -> reported.Check:
    return lambda run: run.texts == list(texts)


def clauses_are(*numbers: str) -> reported.Check:
    return lambda run: list(dict.fromkeys(c.meta["clause"] for c in run.chunks)) == list(numbers)


def three(run: reported.Run) -> bool:
    return len(run.chunks) == 3


def both(*tests: reported.Test) -> reported.Test:
    def test(case: reported.Case) -> None:
        for one in tests:
            one(case)

    return test


TESTS: dict[str, reported.Test] = {
    **pages.TESTS,
    **semantic.TESTS,
    "B001": holds(exact, rising),
    "B002": holds(exact, distinct),
    "B004": holds(lambda run: run.joined == run.text and "\ufffd" not in run.joined, exact),
    "B005": holds(exact, lambda run: all(run.texts), lambda run: run.chunks[-1].end == len(run.text.rstrip())),
    "B007": holds(exact, covered),
    "B008": an_overlap_of_the_whole_size_is_refused,
    "B009": holds(exact, rising),
    "B011": holds(exact, lambda run: "result  of" in run.joined and "Third   result" in run.joined),
    "B012": holds(exact, distinct, lambda run: len({c.start for c in run.holding("Check the seal.")}) == 3),
    "B014": holds(exact, lambda run: all(0 <= c.start < c.end <= len(run.text) for c in run.chunks)),
    "B015": holds(
        exact, rising, lambda run: [c.start for c in run.chunks][:2] == [0, 924] and run.chunks[-1].end == 2000
    ),
    "B017": holds(exact, lambda run: any(c.context == "Guide > Limits\n" for c in run.chunks)),
    "B018": holds(exact, within),
    "B019": holds(exact, distinct),
    "B020": holds(within, strategy="paragraph"),
    "B021": holds(lambda run: run.texts == [run.text.rstrip()] and len(run.text) > 400),
    "B027": holds(within),
    "B029": holds(within),
    "B030": holds(within),
    "B032": holds(within, covered),
    "B033": holds(within),
    "B035": holds(within, under("Big")),
    "B036": holds(within, lambda run: all(text.endswith("。") for text in run.texts[:-1])),
    "B037": ends(covered, within, rising),
    "B038": ends(within, rising),
    "B040": ends(rising, lambda run: len(run.chunks) <= 8),
    "B041": ends(within),
    "B043": linear(),
    "B044": linear(),
    "B046": the_work_on_one_long_token_is_linear,
    "B047": linear(),
    "B048": holds(
        lambda run: run.chunks[0].end - 10 <= run.chunks[1].start < run.chunks[0].end,
        lambda run: run.chunks[1].meta["overlap"] == 10,
    ),
    "B049": holds(gives("abcde", "defgh", "ghij")),
    "B051": holds(unnested),
    "B052": holds(gives("abc", "def", "gh")),
    "B054": holds(covered, within),
    "B055": holds(covered),
    "B057": holds(covered, has("Max 40 seats.")),
    "B058": holds(exact, has("\tcc main.c"), has("10\u00a0000")),
    "B060": holds(lambda run: "First paragraph.\n\nSecond paragraph." in run.texts[0]),
    "B061": holds(exact, covered, within, lambda run: "\\s" not in run.joined),
    "B062": holds(exact, whole, lambda run: "(?=" not in run.joined),
    "B063": holds(starts_with_no(".")),
    "B064": holds(starts_with_no("。")),
    "B065": holds(whole),
    "B067": holds(exact, covered),
    "B069": a_second_call_is_as_the_first,
    "B070": holds(has("# Two"), covered),
    "B071": holds(has("Keep this prose.")),
    "B073": holds(has("The body must survive."), lambda run: run.chunks[-1].meta["context_truncated"] is True, within),
    "B074": more_chunks_than_a_bound_are_not_lost,
    "B076": holds(exact, lambda run: all("\n" in text for text in run.texts)),
    "B078": holds(
        lambda run: "Sentence two.\n\nSentence three." in run.joined,
        lambda run: not any(re.search(r"[^\n]\n#", text) for text in run.texts),
    ),
    "B080": one_bad_document_leaves_the_others,
    "B081": a_literal_special_token_is_text,
    "B082": an_unknown_tokenizer_is_refused_without_network,
    "B083": holds(under("Setup")),
    "B084": holds(under("Doc")),
    "B086": holds(under("Steps"), has("```sh\n   # not a heading\n   make\n   ```")),
    "B087": holds(headings_of("Section text.", "Doc", "Section")),
    "B089": holds(headings_of("text", "Root", "24/7 Support", "[CV](https://example.org/cv)")),
    "B090": holds(under("Alpha"), exact, lambda run: run.text[0] == "\ufeff" == run.document.text[0]),
    "B091": holds(headings_of("body a", "Alpha"), headings_of("body b", "Alpha", "Beta")),
    "B093": holds(under("Real"), lambda run: run.document.meta["title"] == "Guide" and "Guide" not in run.joined),
    "B094": holds(exact, lambda run: run.headings == {("One",), ("One", "Two")}, has("\r\n")),
    "B096": holds(lambda run: all(c.embed_text.count("```") % 2 == 0 or "fence" in c.meta for c in run.chunks)),
    "B097": holds(has("For example:", "run()")),
    "B099": holds(headings_of("## Section 2", "Title", "Section 2")),
    "B100": holds(lambda run: len(run.chunks) > 1 and all(isinstance(c.headings, tuple) for c in run.chunks)),
    "B102": holds(every_chunk("| Region | Q1 | Q2 |\n| | Jan | Apr |\n|---|---|---|\n"), three),
    "B103": both(
        holds(rows_tile, exact), holds(rows_tile, exact, strategy="markdown", rows=None, size=58, unit="char")
    ),
    "B105": both(*(holds(every_chunk("Interval", "Owner"), strategy=name) for name in ("markdown", "table"))),
    "B106": both(*(holds(at_line_ends, within, strategy=name) for name in ("markdown", "table"))),
    "B123": holds(pages_are_touched),
    "B124": holds(pages_are_touched, lambda run: max(max(c.pages) for c in run.chunks) == 3),
    "B126": holds(has("Warranty", "two years")),
    "B128": holds(reported.small_ones_can_not_be_joined, covered),
    "B129": holds(two),
    "B130": holds(two),
    "B132": holds(two),
    "B133": holds(clauses_are("11.5.14.1"), covered),
    "B134": holds(clauses_are("5.10AA.1", "4.5", "10.5.2.21aa")),
    "B135": holds(lambda run: max(map(len, run.texts)) <= 300),
    "B136": holds(exact),
    "B137": holds(lambda run: not any(unicodedata.category(text[0]) == "Mn" for text in run.texts), covered),
    "B139": holds(within, starts_with_no(*map(chr, (0x0E31, *range(0x0E34, 0x0E3B), *range(0x0E47, 0x0E4F))))),
    "B140": blank_texts_give_no_chunks,
    "B145": holds(lambda run: [text.split() for text in run.texts] == [["a", "b"], ["c", "d"], ["e"]]),
    "B147": holds(lambda run: run.texts[0] == "alpha beta", covered),
    "B148": levels_need_no_overlap_and_scale_one,
    "B149": an_index_of_leaves_alone_answers,
    "B150": ids_are_the_same_in_every_process,
    "B151": holds(distinct, lambda run: len(run.chunks) == 3),
    "B152": metadata_costs_nothing,
    "B153": holds(covered, lambda run: run.chunks[-1].end == len(run.text)),
    "B154": holds(has("# explains load", "@cached", "def load")),
}

# Cases whose tests make files of their own, beside this one.
ELSEWHERE = test_cleaning_cases.CASES.keys() | test_pdf_cases.TESTS.keys()


@pytest.mark.parametrize("id", TESTS)
def test_a_reported_bug_does_not_happen_here(id: str) -> None:
    TESTS[id](reported.load()[id])


def test_every_case_is_tested() -> None:
    assert set(reported.load()) == TESTS.keys() | ELSEWHERE


@pytest.mark.parametrize("id", [*TESTS, *ELSEWHERE])
def test_the_laws_hold_for_every_reported_text(id: str) -> None:
    for text in reported.load()[id].inputs[:3]:
        for media_type in ("text/plain", "text/markdown", "text/x-python"):
            document = read_text(text[:4000], id=id, media_type=media_type)
            for name in STRATEGIES:
                cut = chunker(f"{written(name, 40)} | overlap(tokens=8) | context()", tokenizer="cl100k_base")
                check_chunker(cut, document)


def test_the_page_tells_of_every_case_that_it_passes() -> None:
    page = (reported.ROOT / "docs" / "public-bugs.md").read_text("utf-8")
    rows = re.findall(r"^\| (B\d+) \|.*\| ([^|]+) \|$", page, re.MULTILINE)
    assert {id for id, state in rows if state == "passes"} == TESTS.keys() | ELSEWHERE
