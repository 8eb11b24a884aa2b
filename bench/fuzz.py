"""Cut random mixes of real and hostile text at many limits, and check every chunk by encoding it again.

Run: .venv/bin/python bench/fuzz.py --chunks 100000 --seed 1
Exit code 1 if any chunk is over its limit, counted wrongly, not a slice, or any ink is lost.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import chunkwise as cw
from chunkwise.core.spans import gaps
from chunkwise.text.graphemes import ceiling

ROOT = Path(__file__).resolve().parent.parent
LIMITS = (8, 16, 32, 128, 512)
TOKENIZERS = ("cl100k_base", "o200k_base", "all-MiniLM-L6-v2")
RECIPES = (
    *("fixed(size={})", "sentences(size={})", "paragraphs(size={})", "recursive(size={})", "structural(size={})"),
    *("recursive(size={}, balance=True)", "structural(size={}, balance=True)"),
    *(
        "recursive(size={}, separators=['. ', ','])",
        "recursive(size={}, separators=[r'\\W+'], regex=True, keep='none')",
    ),
)
PIPES = ("", " | overlap(ratio=0.2)", " | overlap(sentences=1) | context()")
CHINESE = "水泵每周检查一次。阀门必须关闭！记录压力读数，然后打电话给站长；夜班工人每两小时巡视。"
JAPANESE = "ポンプは毎週点検します。バルブを閉めてください．圧力を記録する！「止めるな」と書いてある。"
EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0001f1eb\U0001f1f7\U0001f9d1\U0001f3fd\u200d\U0001f692e\u0301 "
HOSTILE = [
    *("\r\n", "\r", "\n\n\n", "\t", "\x00", "\u2028", "\x85", "\u00a0", "'s don't", "<|endoftext|>", "[SEP]"),
    *("_" * 60, "a" * 300, "/ /\n/", "...!!!", "\u0301", "\ufeff", "\u200b", "1234567", "ไทย", "한국어 ", "İß"),
]


def main() -> None:
    """Cut until enough chunks are checked, and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    sources = texts()
    totals: Counter[str] = Counter()
    while totals["chunks"] < options.chunks:
        kind = chance.choice(("text/plain", "text/markdown", "text/x-python"))
        document = cw.read_text(mixed(chance, sources), id="x", media_type=kind)
        limit, tokenizer = chance.choice(LIMITS), chance.choice(TOKENIZERS)
        recipe = chance.choice(RECIPES).format(limit) + chance.choice(PIPES)
        for fault in faults(document, recipe, tokenizer, totals):
            totals[fault.partition(":")[0]] += 1
            print(f"{recipe} {tokenizer}: {fault}", file=sys.stderr)
    print(", ".join(f"{totals[name]} {name}" for name in ("chunks", "over", "wrong", "changed", "lost")))
    sys.exit(any(totals[name] for name in ("over", "wrong", "changed", "lost")))


def faults(document: cw.Document, recipe: str, tokenizer: str, totals: Counter[str]) -> Iterator[str]:
    """Cut a document, and yield what is wrong with its chunks."""
    cut = cw.parse(recipe, tokenizer=cw.tokenizer(tokenizer))
    chunks = list(islice(cut(document), len(document.text) + 1))  # were it endless, the last would count as lost
    totals["chunks"] += len(chunks)
    text, count = document.text, cut.budget.tokenizer.count
    for chunk in chunks:
        if chunk.text != "".join(text[start:end] for start, end in chunk.spans):
            yield f"changed: {chunk.text!r}"
        if (true := count(chunk.embed_text)) != chunk.token_count:
            yield f"wrong: {chunk.token_count} for {true} in {chunk.embed_text!r}"
        if true > cut.budget.size and (chunk.context or ceiling(text, chunk.body.start) < chunk.body.end):
            yield f"over: {true} in {chunk.embed_text!r}"
    kept = [chunk.body for chunk in chunks] + [drop.span for drop in cut.dropped(document)]
    for gap in gaps(kept, cw.Span(0, len(text))):
        if gap.slice(text).strip():
            yield f"lost: {gap.slice(text)!r}"


def texts() -> list[str]:
    """Return prose, Markdown, code, Chinese, Japanese and emoji."""
    corpus = ("examples/corpus/state_of_the_union_2024.md", "examples/corpus/apollo_program.md")
    paths = (*corpus, "README.md", "src/chunkwise/core/recipes.py", "tests/golden/files/guide.md")
    return [*((ROOT / path).read_text("utf-8") for path in paths), CHINESE * 40, JAPANESE * 40, EMOJI * 60]


def mixed(chance: random.Random, sources: list[str]) -> str:
    """Return stretches of several sources with hostile pieces between them."""
    parts = []
    for _ in range(chance.randrange(1, 8)):
        source = chance.choice(sources)
        start = chance.randrange(len(source))
        parts += [source[start : start + chance.randrange(1, 2500)], *chance.choices(HOSTILE, k=chance.randrange(4))]
    return "".join(parts)


if __name__ == "__main__":
    main()
