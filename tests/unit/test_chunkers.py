"""What each strategy and transform promises beyond the laws."""

from __future__ import annotations

from itertools import pairwise

import pytest

from chunkwise.core.types import Chunk, Document
from chunkwise.pipeline import chunk
from chunkwise.readers.read import read_text

STORY = "The crew logged every valve reading before noon. Pump two was shut. " * 30


def text_chunks(text: str, recipe: str, **options: str) -> list[Chunk]:
    return chunk(Document.from_text(text, id="x"), recipe, **options)


def markdown_chunks(text: str, recipe: str, **options: str) -> list[Chunk]:
    return chunk(read_text(text), recipe, **options)


def test_the_default_chunk_never_exceeds_the_default_encoder() -> None:
    assert max(made.token_count for made in text_chunks(STORY * 10, "structural()")) <= 200


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_fixed_counts_in_its_unit(unit: str) -> None:
    chunks = text_chunks(STORY, f"fixed(size=50, unit={unit!r})")
    assert {made.token_count for made in chunks[:-1]} <= {49, 50}


def test_fixed_tokens_fill_every_chunk_but_the_last() -> None:
    chunks = text_chunks(STORY, "fixed(size=50)", tokenizer="cl100k_base")
    assert {made.token_count for made in chunks[:-1]} == {50}


def test_sentences_are_never_cut_where_they_fit() -> None:
    for made in text_chunks(STORY, "sentences(size=40)"):
        assert made.text.endswith(".")
        assert made.text[0].isupper()


def test_recursive_prefers_the_end_of_a_paragraph_in_a_well_filled_chunk() -> None:
    text = "\n\n".join([STORY[:400].strip(), STORY[:200].strip(), STORY[:900].strip()])
    first = text_chunks(text, "recursive(size=700)", tokenizer="characters")[0]
    assert text[first.end : first.end + 2] == "\n\n"


def test_a_paragraph_that_fits_is_whole_at_fill_zero() -> None:
    paragraphs = [f"Paragraph {i}. " + "It says so. " * (3 + 5 * (i % 3)) for i in range(12)]
    text = "\n\n".join(paragraph.strip() for paragraph in paragraphs)
    for made in text_chunks(text, "recursive(size=260, fill=0)", tokenizer="characters"):
        assert made.text.startswith("Paragraph")
        assert made.text.endswith("so.")


def test_a_section_is_not_joined_to_its_neighbour_unless_asked() -> None:
    text = "# A\n\nSee site.\n\n# B\n\nLink here.\n"
    assert len(markdown_chunks(text, "structural()")) == 2
    assert len(markdown_chunks(text, "structural(min_size=40, siblings=True)")) == 1


@pytest.mark.parametrize("noise", ["<!-- Licensed to somebody. -->", "---", "***\n\n<!-- x -->"])
def test_a_comment_or_a_rule_before_the_first_heading_is_no_chunk_of_its_own(noise: str) -> None:
    (made,) = markdown_chunks(f"{noise}\n\n# A\n\nText.\n", "structural()")
    assert "Text." in made.text


def test_headings_without_text_stay_with_the_text_below_them() -> None:
    (made,) = markdown_chunks("# Root\n\n## 24/7 Support\n\n### [CV](https://example.org/cv)\n\ntext\n", "structural()")
    assert made.headings == ("Root", "24/7 Support", "[CV](https://example.org/cv)")


def test_a_table_too_large_is_cut_between_rows_under_its_header() -> None:
    rows = "".join(f"| Valve {i} | {i} weeks | Crew {i} |\n" for i in range(40))
    document = read_text(f"# Plan\n\n| Part | Interval | Owner |\n|---|---|---|\n{rows}\nAfter.\n")
    chunks = chunk(document, "structural(size=100) | context()", tokenizer="cl100k_base")
    assert len(chunks) > 3
    for made in chunks[1:-1]:
        assert made.text.startswith("| Part | Interval | Owner |\n|---|---|---|\n| Valve")
        assert made.text.endswith("|")
        assert made.context == "Plan\n"
        assert len(made.spans) == 2


def test_a_table_and_a_fence_that_fit_are_whole() -> None:
    filler = "This sentence takes some room here. " * 5
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 6
    fence = "```py\n" + "call()\n" * 12 + "```\n"
    chunks = markdown_chunks(f"{filler}\n\n{table}\n{filler}\n\n{fence}\n{filler}", "structural(size=80)")
    assert any(table.strip() in made.text for made in chunks)
    assert any(fence.strip() in made.text for made in chunks)


def test_a_fence_too_large_is_cut_between_lines_that_keep_their_indent() -> None:
    code = "def f():\n" + "".join(f"    value_{i} = compute({i})\n\n" for i in range(40))
    chunks = markdown_chunks(f"```py\n{code}```\n", "structural(size=60)", tokenizer="cl100k_base")
    assert len(chunks) > 3
    for made in chunks[1:-1]:
        assert made.text.startswith("```py\n    value_")
        assert made.text.endswith(")")


def test_an_introduction_stays_with_what_it_announces() -> None:
    filler = "This sentence takes some room here. " * 5
    text = f"# Use\n\n{filler}\n\nFor example:\n\n```py\n{'run()' * 15}\n```\n"
    chunks = markdown_chunks(text, "structural(size=80)")
    assert any(made.text.startswith("For example:") and "run()" in made.text for made in chunks)


def test_a_list_item_is_not_parted_from_its_mark() -> None:
    text = "".join(f"{i}. Check valve number {i}.\n\n   It is behind the pump.\n\n" for i in range(1, 9))
    for made in markdown_chunks(text, "structural(size=24)"):
        assert made.text[0].isdigit() or made.text.startswith("It is")
        assert not made.text.rstrip().endswith(tuple(f"{i}." for i in range(1, 9))) or "number" in made.text


def test_front_matter_is_in_no_chunk_of_any_strategy() -> None:
    document = read_text("---\ntitle: Guide\n---\n# Real\n\nbody\n")
    for name in ("fixed", "sentences", "recursive", "structural"):
        assert "title" not in "".join(made.text for made in chunk(document, f"{name}(size=50)"))


def test_the_context_holds_the_headings_that_the_text_does_not() -> None:
    first, second = markdown_chunks("# A\n\n## B\n\nOne.\n\n## C\n\nTwo.\n", "structural() | context(headings=True)")
    assert (first.context, second.context) == ("", "A\n")
    assert second.embed_text == "A\n## C\n\nTwo."


def test_a_path_is_shortened_by_whole_headings_even_where_one_holds_the_separator() -> None:
    text = f"# {'Outer words ' * 3}\n\n## Menu > File\n\n{'Some text here. ' * 30}"
    chunks = markdown_chunks(text, "structural(size=60) | context()", tokenizer="words")
    assert chunks[-1].context == "Outer words Outer words Outer words > Menu > File\n"
    chunks = markdown_chunks(text, "structural(size=24) | context()", tokenizer="words")
    assert {made.context for made in chunks[1:]} == {"Menu > File\n"}


def test_a_heading_too_long_is_shortened_in_the_context_and_said_so() -> None:
    text = "# " + "very long heading text " * 20 + "\n\nThe body must survive.\n\n" + "More of it. " * 30
    chunks = markdown_chunks(text, "structural(size=30) | context()", tokenizer="cl100k_base")
    assert "The body must survive." in "".join(made.text for made in chunks)
    assert chunks[-1].meta["context_truncated"] is True
    assert chunks[-1].context


@pytest.mark.parametrize("option", ["sentences=1", "tokens=20", "ratio=0.2"])
def test_an_overlap_repeats_the_end_of_the_chunk_before(option: str) -> None:
    chunks = text_chunks(STORY, f"recursive(size=60) | overlap({option})")
    for one, other in pairwise(chunks):
        assert other.start < one.end < other.end
        assert isinstance(other.meta["overlap"], int)
        assert STORY[one.end : other.start + other.meta["overlap"]].isspace()


def test_an_overlap_of_sentences_begins_at_a_sentence() -> None:
    for made in text_chunks(STORY, "recursive(size=60) | overlap(sentences=1)")[1:]:
        assert made.text.startswith(("The crew", "Pump two"))


def test_an_overlap_of_tokens_begins_at_a_word_and_stays_within_its_tokens() -> None:
    chunks = text_chunks(STORY, "fixed(size=60) | overlap(tokens=15)", tokenizer="cl100k_base")
    for made in chunks[1:]:
        assert STORY[made.start - 1] == " "
    for one, other in pairwise(chunks):
        assert 0 < one.end - other.start <= 15 * 8


def test_an_overlap_does_not_cross_a_heading_or_enter_a_table() -> None:
    rows = "".join(f"| Valve {i} | {i} weeks |\n" for i in range(20))
    text = f"# A\n\n{STORY[:300]}\n\n# B\n\n| Part | Interval |\n|---|---|\n{rows}\nAfter it.\n"
    chunks = markdown_chunks(text, "structural(size=50) | overlap(sentences=1)")
    for made in chunks:
        if made.text.startswith(("# ", "| ")):
            assert made.meta["overlap"] == 0


def test_a_min_size_leaves_no_crumb_at_the_end_of_a_section() -> None:
    text = STORY[: 68 * 5].strip()
    plain = text_chunks(text, "structural(size=60)")
    floored = text_chunks(text, "structural(size=60, min_size=20)")
    assert plain[-1].token_count < 20
    assert floored[-1].token_count >= 20


def test_pages_are_those_that_the_chunk_touches() -> None:
    text = "\f".join(f"Page {i} says the code is P{i:04d}. " * 3 for i in range(1, 40))
    document = read_text(text, media_type="text/plain")
    for made in chunk(document, "recursive(size=60) | overlap(tokens=20)", tokenizer="characters"):
        first = text.count("\f", 0, made.start) + 1
        last = text.count("\f", 0, made.end) + 1
        assert made.pages == tuple(range(first, last + 1))


class CountingTokenizer:
    """Count in characters, and add up how many were given to it."""

    name = "counting"
    n_special = 0

    def __init__(self) -> None:
        self.seen = 0

    def count(self, text: str) -> int:
        self.seen += len(text)
        return len(text)

    def measure(self, text: str) -> CountingRuler:
        self.seen += len(text)
        return CountingRuler(self, text)


class CountingRuler:
    """A ruler that pays for every slice it counts."""

    def __init__(self, tokenizer: CountingTokenizer, text: str) -> None:
        self.tokenizer, self.text = tokenizer, text

    def count(self, start: int, end: int, *, before: str = "") -> int:
        return self.tokenizer.count(before + self.text[start:end])

    def fit(self, start: int, budget: int) -> int:
        self.tokenizer.seen += budget
        return min(start + budget, len(self.text))

    def fit_back(self, end: int, budget: int) -> int:
        self.tokenizer.seen += budget
        return max(end - budget, 0)


@pytest.mark.parametrize("name", ["fixed", "sentences", "recursive", "structural"])
@pytest.mark.parametrize("text", [STORY * 40, "a" * 60_000, "\n".join(["word"] * 12_000), "水泵每周检查一次。" * 6_000])
def test_the_text_is_tokenised_a_few_times_only_however_long(name: str, text: str) -> None:
    from chunkwise.core.recipes import STRATEGIES

    counting = CountingTokenizer()
    chunks = list(STRATEGIES[name](size=300, tokenizer=counting)(Document.from_text(text, id="x")))
    assert len(chunks) > 10
    assert counting.seen <= 8 * len(text)
