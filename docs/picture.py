"""Draw the README's picture: the same page cut by three strategies, from real runs.

Run: .venv/bin/python docs/picture.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from chunkwise import Chunk, Document, chunk, read
from chunkwise.chunkers.levels import unit_ends
from chunkwise.core.types import Span
from chunkwise.text.graphemes import last_ink
from chunkwise.text.words import line_spans

HERE = Path(__file__).parent / "images"
RECIPES = ("fixed(size=50)", "recursive(size=50)", "structural(size=50) | context()")

WIDTH, LINE, FONT = 50, 15, 10.5  # characters a line; pixels
ADVANCE = FONT * 0.6
COLUMN = WIDTH * ADVANCE + 44
TOP = 54
TONES = ("#cfe3ff", "#ffe3b8", "#d4f0d0", "#f3d3e6")


def main() -> None:
    """Write the picture."""
    (HERE / "cuts.svg").write_text(drawn(read(HERE / "page.md")), encoding="utf-8")


def drawn(page: Document) -> str:
    """Return the page, once for each recipe, every chunk on a ground of its own."""
    rows = wrapped(page.text)
    width, height = int(COLUMN * len(RECIPES)), TOP + LINE * len(rows) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{FONT}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for i, recipe in enumerate(RECIPES):
        chunks = chunk(page, recipe)
        parts += column(page.text, rows, chunks, i * COLUMN + 24)
        parts += headline(recipe, len(chunks), bad_cuts(page, chunks), i * COLUMN + 24)
    return "\n".join([*parts, "</svg>", ""])


def headline(recipe: str, n_chunks: int, bad: int, left: float) -> Iterator[str]:
    """Yield what stands over a column."""
    verdict = f"{n_chunks} chunks, {bad} cuts inside a sentence, row or line"
    yield f'<text x="{left:.1f}" y="20" font-weight="bold" font-size="13">{escape(recipe)}</text>'
    yield f'<text x="{left:.1f}" y="37" fill="{"#a03020" if bad else "#207040"}">{verdict}</text>'


def column(text: str, rows: Sequence[Span], chunks: Sequence[Chunk], left: float) -> Iterator[str]:
    """Yield the page's lines, each piece on the ground of its chunk."""
    numbered = set()
    for i, row in enumerate(rows):
        y = TOP + i * LINE
        for number, made in enumerate(chunks):
            start, end = max(row.start, made.body.start), min(row.end, made.body.end)
            if start >= end:
                continue
            x, length = left + (start - row.start) * ADVANCE, (end - start) * ADVANCE
            yield (
                f'<rect x="{x - 1:.1f}" y="{y}" width="{length + 2:.1f}" height="{LINE}" '
                f'fill="{TONES[number % len(TONES)]}"/>'
            )
            if number not in numbered:
                numbered.add(number)
                if len(made.spans) > 1:
                    x = left + COLUMN - 46
                    yield f'<text x="{x:.1f}" y="{y + 11}" text-anchor="end" fill="#808080">+ header</text>'
                yield f'<text x="{left - 8:.1f}" y="{y + 11}" text-anchor="end" fill="#808080">{number}</text>'
        line = row.slice(text).rstrip("\n")
        if line.strip():
            yield (
                f'<text x="{left:.1f}" y="{y + 11}" xml:space="preserve" '
                f'textLength="{len(line) * ADVANCE:.1f}" lengthAdjust="spacingAndGlyphs">{escape(line)}</text>'
            )


def wrapped(text: str) -> list[Span]:
    """Return the lines of a text, long ones folded at a space."""
    rows = []
    for line in line_spans(text):
        start = line.start
        while line.end - start > WIDTH + 1:
            fold = text.rfind(" ", start, start + WIDTH) + 1 or start + WIDTH
            rows.append(Span(start, fold))
            start = fold
        rows.append(Span(start, line.end))
    return rows


def bad_cuts(page: Document, chunks: Sequence[Chunk]) -> int:
    """Count the chunks that end where neither a sentence, nor a row, nor a line of code ends."""
    text = page.text
    good = {last_ink(text, 0, end) for end in unit_ends(page, "auto")}
    headings = {block.span.end for block in page.blocks if block.kind == "heading"}
    return sum(made.end not in good | headings | {last_ink(text, 0, len(text))} for made in chunks)


if __name__ == "__main__":
    main()
