"""What structural keeps together: fences and their lines, captions and tables, items and their lists, sections."""

from __future__ import annotations

import pytest

from chunkwise.core.types import Chunk
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker

FENCE = "# Setup\n\n```py title=x\n" + "".join(f"line_{i} = compute({i})\n" for i in range(12)) + "```\n\nThe end.\n"


def cut(text: str, recipe: str, tokenizer: str = "words") -> list[Chunk]:
    return check_chunker(chunker(recipe, tokenizer=tokenizer), read_text(text, id="x"))


@pytest.mark.parametrize("recipe", ["structural(size=12)", "code(size=12)"])
def test_pieces_of_a_fence_begin_with_the_line_that_opens_it_and_say_so(recipe: str) -> None:
    pieces = [c for c in cut(FENCE, recipe) if "line_" in c.text]
    assert len(pieces) > 3
    assert pieces[0].text.startswith("# Setup\n\n```py title=x\nline_0")
    assert all(c.text.startswith("```py title=x\nline_") for c in pieces[1:])
    assert [c.meta["fence"] for c in pieces] == ["opened", *["continued"] * (len(pieces) - 2), "closed"]
    assert "```" in pieces[-1].text.splitlines()


def test_a_fence_that_fits_is_not_cut_and_says_nothing() -> None:
    whole = next(c for c in cut(FENCE, "structural(size=50)") if "line_0" in c.text)
    assert "line_11" in whole.text
    assert "fence" not in whole.meta


@pytest.mark.parametrize("name", ["structural", "recursive", "sentences", "code"])
@pytest.mark.parametrize("fence", ["```", "~~~", "  ```", "> ```"])
def test_no_chunk_is_an_opening_or_a_closing_line_alone(name: str, fence: str) -> None:
    mark = fence.rpartition(" ")[0] + " " if " " in fence else ""
    lines = "".join(f"{mark}line_{i} = {i}\n" for i in range(9))
    for size in range(9, 30):  # so that a line fits beside what opens and what closes the fence
        for c in cut(f"Text before it.\n\n{fence}py\n{lines}{fence}\n\nText after it.\n", f"{name}(size={size})"):
            assert c.body.length > 0
            assert c.text.strip(" >`~py\n"), (size, c.text)


def test_a_fence_in_a_list_is_marked_where_it_is_cut() -> None:
    text = "- item\n\n  ```ts\n" + "".join(f"  const v{i} = {i};\n" for i in range(15)) + "  ```\n\n- next\n"
    for c in cut(text, "structural(size=120)", "characters"):
        assert c.text.count("```") % 2 == 0 or c.meta["fence"] in ("opened", "continued", "closed")


@pytest.mark.parametrize(
    "caption", ["Table 3: Parts and their makers.", "**Table 1** Parts", "Tabelle 2. Teile", "表 4 零件"]
)
def test_a_caption_stays_with_the_first_rows_of_its_table(caption: str) -> None:
    rows = "".join(f"| part {i} | maker {i} |\n" for i in range(12))
    text = (
        "Some words of text before all this, which fill most of it.\n\n" + caption + f"\n\n| a | b |\n|---|---|\n{rows}"
    )
    chunks = cut(text, "structural(size=24)")
    (first,) = [c for c in chunks if caption in c.text]
    assert "| part 0 |" in first.text
    assert all(c.text.startswith("| a | b |") for c in chunks if "| part" in c.text and c is not first)


def test_an_item_stays_with_the_list_in_it() -> None:
    text = "- first item of all\n\n- second item has these\n  - one part\n  - other part\n\n- third item\n"
    for size in range(9, 20):
        for c in cut(text, f"structural(size={size})"):
            assert not c.text.endswith("second item has these")


def test_displayed_math_is_not_taken_for_sentences() -> None:
    text = "It holds that\n\n$$\na = b. \\\\\nC = d. \\\\\nE = f.\n$$\n\nfor all of them. And more."
    document = read_text(text)
    assert [b.span.slice(text)[:5] for b in document.blocks if b.kind == "math"] == ["$$\na "]
    assert any("$$\na = b. \\\\\nC = d. \\\\\nE = f.\n$$" in c.text for c in cut(text, "sentences(size=14)"))


SECTIONS = (
    "# Top\n\nIntro here.\n\n## One\n\nFirst words.\n\n## Two\n\nSecond words.\n\n### Deep\n\nThird words.\n\n"
    "# Next\n\nEnd.\n"
)


def test_a_small_section_joins_the_one_that_it_is_under_but_none_beside_it() -> None:
    texts = [c.text for c in cut(SECTIONS, "structural(size=40, min_size=20)")]
    assert [[line for line in text.splitlines() if line.startswith("#")] for text in texts] == [
        ["# Top", "## One"],
        ["## Two", "### Deep"],
        ["# Next"],
    ]


def test_small_sections_beside_each_other_join_where_that_is_asked_for() -> None:
    assert len(cut(SECTIONS, "structural(size=40, min_size=20, siblings=True)")) == 1


def test_a_section_of_the_least_size_is_left_alone() -> None:
    assert len(cut(SECTIONS, "structural(size=40, min_size=3)")) == 5


@pytest.mark.parametrize("name", ["structural", "recursive", "sentences", "paragraphs", "auto"])
def test_a_heading_is_not_left_alone_by_an_endless_word_under_it(name: str) -> None:
    first = cut("# Title\n\n" + "x" * 3000, f"{name}(size=20)", "cl100k_base")[0]
    assert first.text.startswith("# Title\n\nxxx")


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "words", "characters"])
@pytest.mark.parametrize("recipe", ["structural", "auto", "code"])
@pytest.mark.parametrize("after", ["", "\n", "\nAfter this.\n", "\n## Next\n\nAfter.\n"])
def test_a_fence_of_exactly_the_size_is_whole(tokenizer: str, recipe: str, after: str) -> None:
    fence = "```python\n" + "".join(f"x{i} = {i}\n" for i in range(9)) + "```"
    size = chunker(recipe, tokenizer=tokenizer).budget.tokenizer.count(fence)
    texts = [c.text for c in cut(f"Some text before it.\n\n{fence}\n{after}", f"{recipe}(size={size})", tokenizer)]
    assert fence in texts
