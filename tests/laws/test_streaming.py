"""L13: a text that comes in pieces gives the chunks that it gives as a whole."""

from __future__ import annotations

import gzip
import random
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise.text.records as records_of
from chunkwise.core.errors import ChunkwiseError, RecipeError
from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.types import Document
from chunkwise.pipeline import chunk, chunker, stream
from chunkwise.readers.read import read_text
from chunkwise.text.growing import Growing
from chunkwise.text.segments import Encoding, token_ends
from chunkwise.text.tokens import custom_tokenizer
from laws.strategies import EXAMPLES, PIPES, sizes, texts, written

TOKENIZERS = ["characters", "bytes", "words", "cl100k_base", "o200k_base", "all-MiniLM-L6-v2"]
STREAMABLE = [name for name in sorted(STRATEGIES) if chunker(written(name, 20)).streamable]
STREAMABLE_PIPES = [pipe for pipe in PIPES if chunker(f"sentences{pipe}").streamable]
custom_tokenizer("blind", len)
CORPUS = sorted((Path(__file__).parents[2] / "examples" / "corpus").iterdir())

# White space wider than what is looked at at once, paragraphs longer than a window of sentences, marks that may join
# to what a piece ends with, and enough of each that most chunks are made before the end.
_SPREAD = [
    *["The pump runs. ", "Valve 7 is shut", "\n", "\r\n", "\r", "\n\n", " " * 40, "\n" + " " * 40, "- item ", "1. x "],
    *["水泵。", "ไทย ", "\u0301", "\u200d", "\U0001f1eb", "\f", "no, never; ", "Die Pumpe und das Ventil. ", "\ufeff"],
]
_repeated = st.lists(
    st.tuples(st.one_of(st.sampled_from(_SPREAD), texts), st.sampled_from([1, 3, 40])), min_size=3, max_size=20
)
long_texts = _repeated.map(lambda drawn: "".join(piece * times for piece, times in drawn)[:8000])
piece_sizes = st.one_of(st.just([1]), st.lists(st.integers(1, 400), min_size=1, max_size=8))


def pieces(text: str, sizes: Sequence[int]) -> Iterator[str]:
    start = 0
    for size in cycle(sizes):
        if start >= len(text):
            return
        yield text[start : start + size]
        start += size


def check_stream(recipe: str, text: str, sizes: Sequence[int], tokenizer: str | None = None) -> None:
    whole = chunk(Document.from_text(text, id="stream"), recipe, tokenizer=tokenizer)
    assert list(stream(recipe, tokenizer=tokenizer).over(pieces(text, sizes))) == whole


def prose(length: int, seed: int = 0) -> str:
    """Return sentences and paragraphs of uneven length."""
    drawn, parts, n = random.Random(seed), [], 0
    while n < length:
        words = drawn.choices(["pump", "valve", "runs", "the", "never", "checked,", "weekly", "12", "sealing"], k=9)
        parts.append(" ".join(words[: drawn.randint(2, 9)]).capitalize() + drawn.choice([". ", "? ", ". ", ".\n\n"]))
        n += len(parts[-1])
    return "".join(parts)


def test_most_strategies_are_streamable() -> None:
    assert {"fixed", "paragraphs", "recursive", "sentences", "structural"} <= set(STREAMABLE)


@pytest.mark.parametrize("name", STREAMABLE)
@settings(max_examples=EXAMPLES)
@given(
    text=long_texts,
    size=sizes,
    pipe=st.sampled_from(STREAMABLE_PIPES),
    tokenizer=st.sampled_from(TOKENIZERS),
    piece_sizes=piece_sizes,
)
def test_pieces_give_the_chunks_of_the_whole(
    name: str, text: str, size: int, pipe: str, tokenizer: str, piece_sizes: list[int]
) -> None:
    check_stream(f"{written(name, size)}{pipe}", text, piece_sizes, tokenizer)


@pytest.mark.parametrize(
    "recipe",
    [
        "recursive(size={size}, min_size={least}, language='de') | overlap(sentences=1)",
        "sentences(size={size}, min_size={least}, language='zh')",
        "structural(size={size}, min_size={least}, fill=0.9)",
        "fixed(size={size}, unit='words') | overlap(ratio=0.4)",
        "fixed(size={size}, unit='bytes') | overlap(sentences=3)",
    ],
)
@settings(max_examples=EXAMPLES)
@given(text=long_texts, size=sizes, least=st.integers(0, 4), piece_sizes=piece_sizes)
def test_parameters_keep_that(recipe: str, text: str, size: int, least: int, piece_sizes: list[int]) -> None:
    check_stream(recipe.format(size=size, least=least), text, piece_sizes, "o200k_base")


@pytest.mark.parametrize("recipe", ["structural(size=200) | context()", "sentences(size=64) | overlap(sentences=1)"])
@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_real_texts_give_the_chunks_of_the_whole(recipe: str, size: int) -> None:
    for path in CORPUS:
        check_stream(recipe, path.read_text("utf-8")[: 400 * size + 6000], [size])
    for path in sorted(Path("/usr/share/doc").glob("*/changelog*.gz"))[:12]:  # where a system has such
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        check_stream(recipe, text[: 400 * size + 6000], [size], "cl100k_base")


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("ending", ["\r\n", "\r", "\u2028", " \u0301"])
def test_what_a_piece_ends_with_may_join_to_the_next(tokenizer: str, ending: str) -> None:
    text = ("\ufeff" + ("The pump runs." + ending) * 3 + ending + "e\u0301" * 30 + "\U0001f1eb\U0001f1f7" * 9) * 30
    for name in STREAMABLE:
        check_stream(f"{written(name, 24)} | overlap(ratio=0.2)", text, [1], tokenizer)


def test_equal_chunks_are_told_apart_through_the_whole_stream() -> None:
    chunks = list(stream("sentences(size=8)", tokenizer="words").over(["The pump runs all day long. "] * 2000))
    assert [found.ordinal for found in chunks] == list(range(2000))
    assert {found.document_id for found in chunks} == {"stream"}


@pytest.mark.parametrize("recipe", ["recursive(size=200)", "structural(size=200) | context()", "fixed(size=200)"])
def test_a_chunk_comes_out_when_about_one_more_has_come(recipe: str) -> None:
    cut, n_received, waits = stream(recipe, tokenizer="cl100k_base"), 0, []
    for piece in pieces(prose(60_000), [16]):
        n_received += len(piece)
        waits += [n_received - found.end for found in cut.feed(piece) if found.end > 5000]  # the language is known
    assert len(waits) > 50
    assert max(waits) < 2 * 200 * 6  # two chunks' length of long words


def test_a_language_that_is_named_is_not_waited_for() -> None:
    text = prose(4000)
    assert stream("recursive(size=50)").feed(text) == []
    assert len(stream("recursive(size=50, language='en')").feed(text)) > 5


@pytest.mark.parametrize("tokenizer", ["characters", "cl100k_base"])
def test_memory_stays_small_over_five_million_characters(tokenizer: str) -> None:
    cut, piece, most, n_chunks = stream("recursive(size=300) | overlap(tokens=60)", tokenizer=tokenizer), "", 0, 0
    for seed in range(50):
        for piece in pieces(prose(100_000, seed), [3000]):
            n_chunks += len(cut.feed(piece))
            most = max(most, cut.n_kept)
    assert n_chunks > 3000
    assert most < 12_000


def test_every_character_is_encoded_once_however_short_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = 0

    def counted(text: str, encoding: Encoding) -> array[int]:
        nonlocal encoded
        encoded += len(text)
        return token_ends(text, encoding)

    monkeypatch.setattr("chunkwise.text.growing.token_ends", counted)
    text = prose(20_000)
    for size in (1, 50, 20_000):
        encoded = 0
        list(stream("recursive(size=50)").over(pieces(text, [size])))
        assert encoded == len(text)


@pytest.mark.parametrize("text", ["a" * 30_000, " " * 30_000 + "x", "\n" * 30_000 + "x", "\u0301" * 30_000])
@pytest.mark.parametrize("recipe", ["recursive(size=60)", "fixed(size=60) | overlap(tokens=20)"])
def test_a_text_without_places_to_cut_is_tried_again_ever_less_often(
    recipe: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    plain = Growing.grow

    def grow(self: Growing, *, final: bool = False) -> bool:
        tried.append(self.received)
        return plain(self, final=final)

    monkeypatch.setattr(Growing, "grow", grow)
    whole = chunk(Document.from_text(text, id="stream"), recipe)
    assert list(stream(recipe).over(text)) == whole
    assert len(tried) < 60


@pytest.mark.parametrize(
    ("recipe", "tokenizer", "words"),
    [
        ("recursive(size=50, balance=True)", None, "read the whole text and use chunk"),
        ("recursive(size=50, separators=['. '])", None, "separators=.* can't cut a stream"),
        ("sentences(max_sentences=3) | overlap(sentences=1)", None, "sentences.*can't cut a stream"),
        ("recursive(size=50)", "blind", "blind can't count a stream.*cl100k_base"),
    ],
)
def test_what_can_not_be_decided_early_is_refused(recipe: str, tokenizer: str | None, words: str) -> None:
    with pytest.raises(RecipeError, match=words):
        stream(recipe, tokenizer=tokenizer)


def test_a_stream_ends_once_and_takes_strings() -> None:
    cut = stream("fixed(size=5, unit='words')", id="chat")
    assert cut.feed("") == []
    with pytest.raises(ChunkwiseError, match="decode bytes"):
        cut.feed(b"text")  # type: ignore[arg-type]
    cut.feed("One two")
    assert [found.document_id for found in cut.close()] == ["chat"]
    assert cut.close() == []
    with pytest.raises(ChunkwiseError, match="closed"):
        cut.feed("more")


def test_streams_of_many_threads_do_not_meet() -> None:
    texts = [prose(9000, seed) for seed in range(8)]
    recipe = "sentences(size=40) | overlap(sentences=1)"
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = pool.map(lambda text: list(stream(recipe).over(pieces(text, [30]))), texts)
    for text, chunks in zip(texts, found, strict=True):
        assert chunks == chunk(Document.from_text(text, id="stream"), recipe)


# Fields that may or may not be quoted, quotes that nothing closes, breaks inside quotes, titles above a table, and
# cells that are over any size; written often enough that the beginning is long past.
_FIELDS = [
    *["pump", "12", '"a, b"', '"two\nlines"', '"say ""hi"""', '"', '5"', "", " ", "\ufeff", "水泵", "word " * 30],
    *['"open', '"\r\n"', "x" * 90, '""', "e\u0301"],
]
_records = st.lists(
    st.tuples(
        st.lists(st.sampled_from(_FIELDS), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
    ),
    min_size=1,
    max_size=5,
)
TABLE_PIPES = ["", " | overlap(tokens=3)", " | overlap(ratio=0.2) | context()"]


def check_table(recipe: str, text: str, sizes: Sequence[int], tokenizer: str | None = None) -> None:
    for media_type in ("text/csv", "text/tab-separated-values"):
        whole = chunk(read_text(text, id="stream", media_type=media_type), recipe, tokenizer=tokenizer)
        cut = stream(recipe, tokenizer=tokenizer, media_type=media_type)
        assert list(cut.over(pieces(text, sizes))) == whole


@pytest.mark.parametrize(("sample", "longest"), [(40, 1 << 16), (400, 1 << 16), (40, 30), (400, 60)])
@settings(max_examples=EXAMPLES)
@given(
    preamble=st.sampled_from(["", "Orders\n\n", "as of,May\n", "\n" * 50, "sep=;\n"]),
    header=st.sampled_from(["", "id,item,price\n", "id;item\n", '"i\nd","item"\n', 'id,"item\n']),
    records=_records,
    times=st.integers(1, 60),
    tail=_records,
    size=st.integers(6, 60),
    pipe=st.sampled_from(TABLE_PIPES),
    tokenizer=st.sampled_from(TOKENIZERS),
    piece_sizes=piece_sizes,
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_pieces_of_a_table_give_the_chunks_of_the_whole(
    sample: int,
    longest: int,
    preamble: str,
    header: str,
    records: list[tuple[list[str], str]],
    times: int,
    tail: list[tuple[list[str], str]],
    size: int,
    pipe: str,
    tokenizer: str,
    piece_sizes: list[int],
    delimiter: str,
) -> None:
    def lines(drawn: list[tuple[list[str], str]]) -> str:
        return "".join(delimiter.join(fields) + ending for fields, ending in drawn)

    text = (preamble + header + lines(records) * times + lines(tail))[:6000]
    # A short sample, so that much comes after it; quotes may be as far apart as they are in long texts.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkwise.readers.tabular.SAMPLE", sample)
        patch.setattr("chunkwise.chunkers.growing_table.SAMPLE", sample)
        patch.setattr(records_of, "_LONGEST", longest)
        forget_patterns()
        check_table(f"rows(size={size}){pipe}", text, piece_sizes, tokenizer)
    forget_patterns()


def forget_patterns() -> None:
    records_of._pattern.cache_clear()
    records_of._open_pattern.cache_clear()


def test_of_a_table_only_the_beginning_and_what_is_needed_are_kept() -> None:
    cut = stream("rows(size=900) | overlap(tokens=90)", tokenizer="characters", media_type="text/csv")
    most, n_chunks = 0, len(cut.feed("id,words,note\n"))
    for number in range(400):
        n_chunks += len(cut.feed("".join(f'{number}-{row},"pumps, and\nvalves",checked\n' for row in range(40))))
        most = max(most, cut.n_kept)
    assert n_chunks > 500
    assert most < 1.2 * 65_536


def test_a_quote_that_nothing_closes_holds_up_no_table_for_long() -> None:
    for text in (
        'a,b\n1,"open\n' + "2,3\n" * 20_000,
        'a,"b\n' + "2,3\n" * 20_000,
        "a,b\n" + '"""' * 9000 + "\n1,2\n",
    ):
        check_table("rows(size=400)", text, [10_000], "characters")


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("rows(size=60, max_rows=3)", "can't cut a stream of a table"),
        ("rows(size=60) | overlap(sentences=1)", "can't cut a stream of a table"),
        ("structural(size=60)", "can't cut a stream of a table"),
    ],
)
def test_what_can_not_cut_a_table_early_is_refused(recipe: str, words: str) -> None:
    with pytest.raises(RecipeError, match=words):
        stream(recipe, media_type="text/csv")
