"""What is put before a chunk: title, headings, summary, neighbours, and what a language model says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core.errors import AnswerError, RecipeError
from chunkwise.core.protocols import Budget
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.llm import Answers, Chat, Estimate, custom_llm
from chunkwise.pipeline import Index, chunk, chunker
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker, check_locality, check_within
from chunkwise.text.tokens import tokenizer
from chunkwise.transforms import Context
from chunkwise.transforms.situate import stretches
from laws.strategies import EXAMPLES, documents, sizes, written
from unit.fake_server import Asked, FakeServer, Reply, prompt_of, said
from unit.hashing import HashingEncoder

GUIDE = """# Pumps

A pump moves water. It has a seal.

## Seals

Seals wear out. Check them weekly. Replace them yearly. Keep spares in store. Order more in May. Write it down.

| Part | Weeks |
|---|---|
| Seal | 4 |

## Valves

### Safety valves

A safety valve opens by itself. Never block it.
"""


def cut(recipe: str, text: str = GUIDE, *, media_type: str = "text/markdown") -> list[Chunk]:
    chunks = check_chunker(chunker(recipe, tokenizer="words"), read_text(text, id="guide.md", media_type=media_type))
    assert chunks
    return chunks


def test_the_title_of_the_metadata_goes_before_the_headings() -> None:
    document = read_text(GUIDE, id="x", media_type="text/markdown")
    document = Document("x", document.text, document.blocks, document.media_type, meta={"title": "Plant \n handbook"})
    contexts = [
        made.context for made in chunk(document, "structural(size=40) | context(title=True)", tokenizer="words")
    ]
    assert contexts[:2] == ["Plant handbook\n", "Plant handbook > Pumps\n"]


def test_the_first_heading_is_the_title_where_there_is_no_other_and_is_not_said_twice() -> None:
    contexts = [made.context for made in cut("structural(size=40) | context(headings=False, title=True)")]
    assert contexts[0] == ""
    assert set(contexts[1:]) == {"Pumps\n"}
    assert [made.context for made in cut("structural(size=40) | context(title=True)")] == [
        made.context for made in cut("structural(size=40) | context()")
    ]


def test_a_heading_far_into_a_text_is_no_title() -> None:
    text = "A line of running text.\n\n" * 200 + "# Late\n\nText.\n"
    assert not any(made.context for made in cut("structural(size=40) | context(headings=False, title=True)", text))


def test_a_summary_is_the_first_sentence_of_the_section_that_a_chunk_does_not_hold() -> None:
    chunks = cut("sentences(size=24) | context(headings=False, summary=True)")
    contexts = {made.text.splitlines()[0]: made.context for made in chunks}
    assert contexts == {
        "# Pumps": "",
        "Keep spares in store. Order more in May. Write it down.": "Seals wear out.\n",
        "| Part | Weeks |": "Seals wear out.\n",
        "## Valves": "A pump moves water.\n",  # what begins its own sections is in it
    }


def test_neighbours_are_the_sentences_beside_a_chunk_in_its_own_section() -> None:
    chunks = cut("sentences(size=20) | context(headings=False, neighbours=1)")
    contexts = {made.text.splitlines()[0]: made.context for made in chunks}
    assert contexts["Replace them yearly. Keep spares in store."] == "Check them weekly.\nOrder more in May.\n"
    assert contexts["Order more in May. Write it down."] == "Keep spares in store.\n"  # a table is no sentence
    assert contexts["| Part | Weeks |"] == ""
    assert contexts["## Valves"] == ""


def test_rows_and_lines_of_code_are_no_neighbours() -> None:
    rows = "".join(f"| Valve {n} | {n} weeks |\n" for n in range(20))
    text = f"Before it.\n\n| Part | Interval |\n|---|---|\n{rows}\nAfter it.\n"
    chunks = cut("structural(size=60) | context(neighbours=1)", text)
    assert len(chunks) > 2
    assert not any("Valve" in made.context for made in chunks)


def test_a_context_counts_against_the_size_and_its_last_line_goes_first() -> None:
    chunks = cut("sentences(size=12) | context(title=True, summary=True, neighbours=2)")
    assert all(made.token_count <= 12 for made in chunks)
    tight = [made for made in chunks if made.meta.get("context_truncated")]
    assert tight
    assert all(made.context.split("\n")[0] in ("Pumps", "Seals", "Safety valves") for made in tight)


def test_many_parts_leave_a_chunk_half_of_its_size() -> None:
    text = "The pump runs all day and all of the night and never stops for any of us here. " * 60
    recipe = "sentences(size=80) | context(title=True, summary=True, neighbours=2, llm='wordy')"
    own = [made.token_count - len(made.context.split()) for made in cut(recipe, "# Title\n\n" + text)]
    assert min(own[:-1]) >= 17  # a sentence
    assert sum(own[:-1]) / len(own[:-1]) > 32


def test_a_line_in_a_script_without_spaces_is_cut_at_characters() -> None:
    text = "水泵每周检查一次密封圈和阀门以及管道。" + "阀门必须关闭。" * 30
    made = cut("sentences(size=24) | context(summary=True)", text, media_type="text/plain")[-1]
    assert made.meta["context_truncated"] is True
    assert made.context == "水泵每周检\n"


@pytest.mark.parametrize("parts", ["title=True", "summary=True", "neighbours=1", "llm='steady'"])
def test_only_headings_can_be_found_in_a_stream(parts: str) -> None:
    assert chunker("sentences | context()").streamable
    assert not chunker(f"sentences | context({parts})").streamable


def passage_of(prompt: str) -> str:
    found = re.search(r"<passage>\n(.*)\n</passage>", prompt, re.DOTALL)
    assert found
    return found[1]


def steady(prompt: str) -> str:
    return f"It is about {passage_of(prompt)[:9]!r} and much more than that. " * 3


def silent(prompt: str) -> str:
    return ""


def wordy(prompt: str) -> str:
    return " ".join(f"word{n}" for n in range(90))


for answer in (steady, silent, wordy):
    custom_llm(answer.__name__, answer)


@pytest.mark.parametrize("model", ["steady", "silent"])
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, tokenizer=st.sampled_from(["characters", "words", "cl100k_base"]))
def test_contexts_of_a_model_obey_the_laws(model: str, document: Document, size: int, tokenizer: str) -> None:
    recipe = f"recursive(size={size}) | context(title=True, neighbours=1, llm={model!r})"
    check_chunker(chunker(recipe, tokenizer=tokenizer), document)


@pytest.mark.parametrize(
    ("text", "media_type", "size", "first"),
    [
        ("def broken(:\n  ]]\n", "text/x-python", 14, "def broken(:"),  # nothing ends where a text begins
        ("```py\n# not a heading\n```\n", "text/markdown", 5, "```py"),  # the line under the opener is over the limit
        ("Text.\n\n```py\n# not a heading\n```\n", "text/markdown", 5, "Text."),
    ],
)
@pytest.mark.parametrize("strategy", ["recursive", "sentences", "structural", "scored"])
def test_a_context_gives_way_to_a_line_that_fits_without_it(
    strategy: str, text: str, media_type: str, size: int, first: str
) -> None:
    recipe = f"{written(strategy, size)} | context(neighbours=2, llm='wordy')"
    document = read_text(text, id="x", media_type=media_type)
    chunks = check_chunker(chunker(recipe, tokenizer="characters"), document)
    assert chunks[0].text == first
    assert ("```py" in text) == ("```py" in [made.text for made in chunks])


def test_parts_of_a_context_stay_in_the_spans_that_are_cut_by_themselves() -> None:
    document = Document.from_text("One here. Two here. Three here. Four here.", id="x")
    recipe = chunker("sentences(size=6) | context(neighbours=1)", tokenizer="words")
    spans = [Span(0, 20), Span(20, 42)]
    contexts = [made.context for made in check_within(recipe, document, spans)]
    assert "Two here." not in "".join(contexts[len(contexts) // 2 + 1 :])


@pytest.mark.parametrize("parts", ["title=True", "summary=True", "neighbours=1"])
def test_an_edit_at_the_end_leaves_the_first_contexts_alone(parts: str) -> None:
    text = "# Plant\n\n" + "The pump runs all day. Valve 7 stays shut.\n\n" * 150
    document = read_text(text, id="x", media_type="text/markdown")
    check_locality(chunker(f"recursive(size=40) | context({parts})", tokenizer="words"), document, "# End\n\nMore.")


def test_the_document_comes_first_in_the_prompt_and_is_the_same_for_all_its_chunks(tmp_path: Path) -> None:
    with FakeServer(*[Reply(body=lambda asked: said(f"On {passage_of(prompt_of(asked))[:8]}"))] * 9) as server:
        model = Chat(server.url, "fake", answers=Answers(str(tmp_path / "kept")))
        recipe = chunker("structural(size=60)", tokenizer="words") | Context(llm=model)
        document = read_text(GUIDE, id="x", media_type="text/markdown")
        chunks = list(recipe(document))
        assert list(recipe(document)) == chunks  # the second time nothing is asked
    assert len(server.asked) == len(chunks) == 3
    for asked in server.asked:
        assert prompt_of(asked).startswith(f"<document>\n{GUIDE}\n</document>")
    assert [made.context for made in chunks] == [
        "On # Pumps\n",
        "Pumps\nOn ## Seals\n",
        "Pumps\nOn ## Valve\n",
    ]
    assert not any("context_failed" in made.meta for made in chunks)


def test_a_failed_answer_is_told_and_the_summary_taken() -> None:
    def moody(asked: Asked) -> str:
        return said("", refusal="No.") if "Seals wear" in passage_of(prompt_of(asked)) else said("Fine.")

    with FakeServer(*[Reply(body=moody)] * 9) as server:
        recipe = chunker("structural(size=60)", tokenizer="words") | Context(llm=Chat(server.url, "fake"))
        chunks = list(recipe(read_text(GUIDE, id="x", media_type="text/markdown")))
    assert [made.context for made in chunks] == ["Fine.\n", "Pumps\nA pump moves water.\n", "Pumps\nFine.\n"]
    assert [made.meta.get("context_failed") for made in chunks] == [None, "the model refuses: 'No.'", None]


def test_an_answer_that_is_too_long_is_cut_at_a_word() -> None:
    for made in cut("sentences(size=24) | context(llm='wordy')"):
        assert made.meta["context_truncated"] is True
        assert re.fullmatch(r"(.*\n)?(word\d+ ?)+\n", made.context)


def test_cuts_do_not_depend_on_what_a_model_says() -> None:
    spans = [
        [made.spans for made in cut(f"sentences(size=24) | context(llm={name!r})")] for name in ("wordy", "silent")
    ]
    assert spans[0] == spans[1]


def test_a_long_document_is_read_in_stretches_that_overlap() -> None:
    text = "word " * 1000
    ruler = tokenizer("words").measure(text)
    around = stretches(Document.from_text(text, id="x"), ruler, 100)
    seen = {around(place) for place in range(0, len(text), 7)}
    assert 12 <= len(seen) <= 15
    assert all(ruler.count(*span) <= 101 for span in seen)
    for place in range(0, len(text) - 500, 7):
        assert around(place).start <= place < around(place).end
        assert place < 500 or around(place).start <= place - 100
        assert stretches(Document.from_text(text[: place + 500], id="x"), ruler, 100)(place) == around(place)


def test_a_dry_run_tells_what_the_contexts_of_a_document_cost() -> None:
    dry = Estimate(Chat("http://localhost:9/v1", "none"), price_in=1.0)
    document = read_text(GUIDE, id="x", media_type="text/markdown")
    chunks = list((chunker("structural(size=60)", tokenizer="words") | Context(llm=dry))(document))
    assert dry.n_calls == len(chunks) == 3
    assert dry.shared_tokens < dry.prompt_tokens < 4 * len(GUIDE)
    assert {made.meta["context_failed"] for made in chunks} == {"a dry run"}


def test_a_model_that_no_one_knows_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"no language model 'gpt'.*custom_llm"):
        chunker("sentences | context(llm='gpt')")
    with pytest.raises(RecipeError, match="names no language model"):
        Context(llm=7)  # type: ignore[arg-type]  # that is what is tried
    recipe = chunker("sentences | context(llm='https://host/v1#m')")
    assert repr(recipe) == "sentences(size=200) | context(headings=True, llm='https://host/v1#m')"


def test_an_index_tells_where_the_model_failed_and_stops_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_ANSWERS", str(tmp_path / "kept"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    document = read_text(GUIDE, id="guide.md", media_type="text/markdown")
    index = Index("memory:", encoder=HashingEncoder())
    with FakeServer(Reply(body=said("", refusal="No."))) as server:
        recipe = f"structural(size=60) | context(llm='{server.url}#fake')"
        (note,) = index.add_documents([document], recipe=recipe).notes
    assert note == "guide.md: no context of the language model for 1 of 4 chunks: the model refuses: 'No.'"
    assert index.recipe == repr(chunker(recipe, tokenizer=HashingEncoder.tokenizer))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(AnswerError, match="check the URL"):
        index.add_documents([read_text("Another.", id="b.md")])
    assert index.documents() == ["guide.md"]


def test_any_budget_will_do() -> None:
    Context(llm=custom_llm("upper", str.upper)).check(Budget(3, tokenizer("words")))
