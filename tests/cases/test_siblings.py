"""Siblings of reported bugs: texts of our own in which a mended implementation may still get the same wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cases import pages, reported, semantic
from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.types import Document, Source
from chunkwise.pipeline import chunk, chunker
from chunkwise.readers.read import read_text
from chunkwise.readers.tabular import read_table

sibling, markdown, run, has, covered = reported.sibling, reported.markdown, reported.run, reported.has, reported.covered
distinct, exact, within, under = reported.distinct, reported.exact, reported.within, reported.under
at_line_ends = reported.at_line_ends

MD, EACH, LINES = "text/markdown", "sentences(max_sentences=1)", "Same line.\n" * 9


def two(run: reported.Run) -> bool:
    return len(run.chunks) == 2


def gives(*texts: str) -> reported.Check:
    return lambda run: run.texts == list(texts)


def overlaps(run: reported.Run) -> bool:
    return any(c.meta["overlap"] for c in run.chunks)


def equal_lines_keep_their_ids() -> None:
    first, longer = (run(text, EACH).chunks for text in (LINES, LINES + "Same line."))
    assert [c.id for c in longer][:9] == [c.id for c in first]
    assert len({c.id for c in longer}) == 10


def no_id_is_that_of_another_document() -> None:
    pairs = [("a", "1 x"), ("a1", " x"), ("a1", "x"), ("a", "x")]
    chunks = [c for id, text in pairs for c in chunk(Document.from_text(text, id=id), "recursive")]
    assert [c.id for c in chunks].count(chunks[1].id) == 2  # the same document and text
    assert len({c.id for c in chunks}) == 3


def nothing_but_front_matter() -> None:
    document = read_text("---\ntitle: T\n---\n", media_type=MD)
    assert chunk(document, "structural") == []
    assert [drop.span for drop in chunker("structural").dropped(document)] == [(0, 17)]


def nothing_but_odd_white_space() -> None:
    for name in STRATEGIES:
        assert chunk(read_text("\x1c\x1f\x85\u2028\u2029\u3000\u00a0\v\f", media_type=MD), f"{name} | context()") == []


def encoded(text: str, encoding: str) -> list[str]:
    source = Source("a.csv", text.encode(encoding), media_type="text/csv")
    return [c.text for c in chunk(read_table(source), "rows(size=200, max_rows=1)")]


def an_encoding_of_two_bytes() -> None:
    assert encoded("id;Größe\n1;水泵\n2;ü\n", "utf-16") == ["id;Größe\n1;水泵", "id;Größe\n2;ü"]


def an_encoding_of_windows() -> None:
    lines = [f"{number};Straße von Müller" for number in range(40)]
    assert encoded("id;Größe\n" + "\n".join(lines), "cp1252") == [f"id;Größe\n{line}" for line in lines]


# Two of our own for each kind of fault: what a mended implementation may still get wrong.
SIBLINGS: dict[str, Callable[[], None]] = {
    **pages.SIBLINGS,
    **semantic.SIBLINGS,
    "offsets-a-text-within-another": sibling(
        "\r\n\r\n".join(["ab", "abc", "ab", "b", "abc ab"]), "recursive(size=5)", exact, distinct, covered
    ),
    "offsets-sections-alike": markdown(12, "# N\n\nsame\n\n" * 4 + "\U0001f9ea", exact, distinct, under("N")),
    "size-of-context-and-header": markdown(
        70,
        "# " + "Pump " * 9 + "\n\n| Part | No |\n|---|---|\n" + "| seal | 3 |\n" * 9 + "\nOne. Two.\n" * 9,
        within,
        covered,
    ),
    "size-of-tokens-that-merge": sibling(
        " 1234567890" * 60 + "  naïveté\u00a0" * 20, "fixed(size=7, tokenizer='o200k_base') | overlap(tokens=3)", within
    ),
    "overlap-of-one-word": sibling(
        "one two three four",
        "fixed(size=2, unit='words') | overlap(tokens=1)",
        gives("one two", "two three", "three four"),
    ),
    "overlap-not-across-headings": markdown(
        24,
        "# A\n\nOne two three. Four five six.\n\n# B\n\nSeven eight nine.",
        lambda run: not has("six.", "# B")(run),
        overlaps,
    ),
    "loss-of-what-is-not-shown": markdown(
        30, "See [a].\n\n[a]: https://example.org/a\n[b]: <c> 'B'\n\n<!-- never closed\n\nThe end.\n", covered, exact
    ),
    "loss-of-lazy-lines": markdown(
        20, "> quoted\nlazy\n\n- item\nlazy too\n\n***\n\n| a |\n|---|\n| 1 | spare cell |\ntail", covered, within
    ),
    "markdown-hashes-that-head-nothing": markdown(
        50,
        "# Real\n\n#tag\n\n####### no\n\n    # code\n\n<pre>\n# html\n</pre>\n\n~~~\n# x\n```\n~~~\n\n\\# y",
        under("Real"),
    ),
    "markdown-fences-that-do-not-close": markdown(
        50,
        "# Real\n\n```\n``` no end\n# inside\n    ```\n# still\n```\n\n> # quoted\n\n- # listed\n\nEnd.",
        under("Real"),
    ),
    "unicode-one-character-at-a-time": sibling(
        "🇫🇷🇩🇪e\u0301\u0323\r\n\u1112\u1161\u11ab",
        "fixed(size=1, unit='characters')",
        gives("🇫🇷", "🇩🇪", "e\u0301\u0323", "\u1112\u1161\u11ab"),
    ),
    "unicode-lone-surrogates": sibling("a half \ud83e and \udd9c half " * 9, "recursive(size=25)", exact, covered),
    "hang-on-one-endless-character": lambda: reported.grows_linearly(
        "z" + "\u0335" * 20_000, "fixed(size=40, unit='characters') | overlap(tokens=39)"
    ),
    "hang-on-many-small-blocks": lambda: reported.grows_linearly(
        "".join(f"[^{i}]: See it.\n\n" for i in range(1500)), "sentences(size=64) | overlap(tokens=9) | context()", MD
    ),
    "hang-on-even-chunks": lambda: reported.grows_linearly("Check it. " * 2500, "sentences(size=40, balance=True)"),
    "sentence-with-titles": sibling("We saw Ms. Lee at Mt. Fuji. They left.", EACH, two),
    "sentence-with-foreign-words": sibling("She met Prof. Lee et al. in May. They left.", EACH, two),
    "structure-of-a-heading-under-a-heading": sibling(
        "# A\n\n## B\n\nBody one is here. Body two.", "structural(size=24)", has("## B", "Body one"), media_type=MD
    ),
    "structure-of-a-quote": sibling(
        "> One.\n>\n> Two.\n>\n> | a | b |\n> |---|---|\n" + "> | 1 | 2 |\n" * 9,
        "structural(size=40)",
        at_line_ends,
        media_type=MD,
    ),
    "separators-that-are-dropped": sibling(
        ";; a;b ;c;;", "recursive(size=2, tokenizer='characters', separators=[';'], keep='none')", gives("a", "b", "c")
    ),
    "separators-that-match-nothing": sibling(
        "One1Two2Three",
        "recursive(size=5, tokenizer='characters', separators=[r'(?<=\\d)'], regex=True)",
        gives("One1", "Two2", "Three"),
    ),
    "table-of-quoted-line-breaks": sibling(
        'id,note\r\n1,"a\r\nb"\r\n2,"c, ""d""\r\n"\r\n3,x\r\n',
        "rows(size=200, max_rows=1)",
        gives('id,note\r\n1,"a\r\nb"', 'id,note\r\n2,"c, ""d""\r\n"', "id,note\r\n3,x"),
        media_type="text/csv",
    ),
    "table-of-pipes-with-a-caption": sibling(
        "Text before.\n\nTable 2: seals\n\n| A |\n| B |\n|---|\n| 1 |\n| 2 |\n\nText after.\n",
        "rows(max_rows=1)",
        gives(
            "Text before.",
            "Table 2: seals\n\n| A |\n| B |\n|---|\n| 1 |",
            "| A |\n| B |\n|---|\n| 2 |",
            "Text after.",
        ),
        media_type=MD,
    ),
    "encoding-of-two-bytes-a-character": an_encoding_of_two_bytes,
    "encoding-of-windows": an_encoding_of_windows,
    "legal-references-at-a-line's-start": sibling(
        "1. Rent\nRent is due as stated in\n1.2 and\n2. or in\nSection 9\nof this lease.\n1.1 The Tenant pays.\n"
        "2. Term\nOne year.",
        "clauses(size=400)",
        lambda run: [c.meta["clause"] for c in run.chunks] == ["1", "1.1", "2"],
    ),
    "legal-clauses-that-were-repealed": sibling(
        "\u00a7 5 Frist\n\nEin Monat.\n\n\u00a7 8a Form\n\nNur schriftlich.\n\n\u00a7 9\n\n(weggefallen)\n",
        "clauses(size=400)",
        lambda run: [c.headings for c in run.chunks] == [("\u00a7 5 Frist",), ("\u00a7 8a Form",), ("\u00a7 9",)],
    ),
    "empty-but-for-front-matter": nothing_but_front_matter,
    "empty-but-for-odd-white-space": nothing_but_odd_white_space,
    "ids-of-equal-lines": equal_lines_keep_their_ids,
    "ids-of-documents-that-join-alike": no_id_is_that_of_another_document,
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_no_sibling_of_a_reported_bug_happens_here(name: str) -> None:
    SIBLINGS[name]()
