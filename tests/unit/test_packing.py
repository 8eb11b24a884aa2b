"""What the engine does with separators of one's own, with even chunks, and at the edges of blocks."""

from __future__ import annotations

import pytest

from chunkwise.core.errors import RecipeError
from chunkwise.core.parsing import parse
from chunkwise.pipeline import chunk
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker
from chunkwise.text.tokens import custom_tokenizer, tokenizer


def cut(text: str, recipe: str, media_type: str = "text/plain") -> list[str]:
    """Cut a text, counting characters, and check the laws."""
    document = read_text(text, id="x", media_type=media_type)
    return [chunk.text for chunk in check_chunker(parse(recipe.replace(")", ", tokenizer='characters')", 1)), document)]


@pytest.mark.parametrize(
    ("text", "options", "chunks"),
    [
        ("aaaa | bbbb | cccc", "size=6, separators=[' | '], keep='none'", ["aaaa", "bbbb", "cccc"]),
        ("aaaa | bbbb | cccc", "size=7, separators=[' | '], keep='right'", ["aaaa", "| bbbb", "| cccc"]),
        ("aaaa | bbbb | cccc", "size=6, separators=[' | '], keep='left'", ["aaaa |", "bbbb |", "cccc"]),
        ("a\n---\nb\n---\nc", r"size=2, separators=['\n---\n'], keep='none'", ["a", "b", "c"]),
        ("a\n---\nb\n-\nc", r"size=2, separators=[r'\n-+\n'], regex=True, keep='none'", ["a", "b", "c"]),
        (" | a | b | ", "size=3, separators=[' | '], keep='none'", ["a", "b"]),
        ("aaaa---bbbb", "size=6, separators=['--'], keep='none'", ["aaaa", "-bbbb"]),
        (",,,,,,,,", "size=2, separators=[',,,'], keep='none'", [",,"]),
        ("one.two", "size=20, separators=[''], keep='left'", ["one.two"]),
    ],
)
def test_a_separator_goes_where_it_is_kept(text: str, options: str, chunks: list[str]) -> None:
    assert cut(text, f"recursive({options})") == chunks


@pytest.mark.parametrize("options", ["regex=True", "keep='none'", "separators=['('], regex=True", "separators='x'"])
def test_separators_that_mean_nothing_are_refused(options: str) -> None:
    with pytest.raises(RecipeError, match=r"separator"):
        parse(f"recursive({options})")


@pytest.mark.parametrize("strategy", ["recursive", "sentences", "paragraphs", "structural"])
def test_a_fence_ends_a_unit_without_a_blank_line_after_it(strategy: str) -> None:
    text = "Run this:\n```sh\nmake all\nmake test\n```\nThen look at the file:\n```py\nx = 1\n```\nand go on with it.\n"
    fences = ["```sh\nmake all\nmake test\n```", "```py\nx = 1\n```"]
    chunks = cut(text, f"{strategy}(size=40)", "text/markdown")
    assert [sum(fence in chunk for chunk in chunks) for fence in fences] == [1, 1]
    assert not any(chunk.startswith("```\n") for chunk in chunks)


@pytest.mark.parametrize("strategy", ["recursive", "sentences", "paragraphs"])
def test_code_at_the_edge_of_a_block_is_not_cut_inside_a_line(strategy: str) -> None:
    assert cut("---\n    indented cod", f"{strategy}(size=19)", "text/markdown") == ["---", "    indented cod"]


@pytest.mark.parametrize("n_sentences", [11, 21, 31, 32, 41, 61])
def test_even_chunks_leave_no_small_rest(n_sentences: int) -> None:
    text = ("A short sentence. " * n_sentences).strip()
    lengths = [len(chunk) for chunk in cut(text, "sentences(size=190, balance=True)")]
    assert max(lengths) - min(lengths) <= len("A short sentence. ")
    assert len(lengths) <= n_sentences // 10 + 1


def test_even_chunks_end_at_paragraphs_where_that_costs_little() -> None:
    paragraph = "The pump runs. " * 8
    chunks = cut("\n\n".join([paragraph.strip()] * 6), "recursive(size=150, balance=True)")
    assert chunks == [paragraph.strip()] * 6


@pytest.mark.parametrize("options", ["", ", balance=True", ", separators=['. ', ' '], balance=True"])
def test_a_function_is_given_the_text_a_few_times_at_most(options: str) -> None:
    given: list[int] = []

    def quarter(text: str) -> int:
        given.append(len(text))
        return len(text) // 4

    counter = custom_tokenizer(f"quarter{options}", quarter)
    text = "The pump was checked on Tuesday; valve 7 was shut. " * 400
    chunks = chunk(read_text(text, id="x"), f"recursive(size=200{options})", tokenizer=counter)
    assert len(chunks) > 20
    assert sum(given) <= 5 * len(text)


@pytest.mark.parametrize("n", [4_000, 8_000])
def test_planning_even_chunks_of_one_endless_word_is_linear(n: int) -> None:
    calls = []

    def letters(text: str) -> int:
        calls.append(len(text))
        return len(text)

    counter = custom_tokenizer("one by one", letters)
    chunk(read_text("." * n, id="x"), "recursive(size=50, separators=['.'], balance=True)", tokenizer=counter)
    assert sum(calls) <= 6 * n


def test_a_unit_that_fits_is_found_where_a_look_up_falls_short_and_more_units_follow() -> None:
    text = 'id,name,note\n1,"a ""b""\nc",x\n2,d,\n水泵每周检查一次。阀门必须关闭！'
    document = read_text(text, id="x", media_type="text/x-python")
    chunks = check_chunker(parse("rows(size=6) | overlap(ratio=0.3)", tokenizer=tokenizer("o200k_base")), document)
    assert any(chunk.text.endswith('1,"a ""b""') for chunk in chunks)
