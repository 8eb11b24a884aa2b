"""Draw a document with its chunks as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from chunkwise.chunkers.levels import solid_blocks
from chunkwise.core.protocols import Chunker
from chunkwise.core.types import Chunk, Document, Drop, Span
from chunkwise.evaluate.intrinsic import deepest, sizes
from chunkwise.report.html import opened, safe

# Of more chunks than these no strip of bars is drawn: they would be thinner than a pixel.
_MOST_BARS = 400

Ink = tuple[Span, bool, bool, bool]
"""A stretch of text of one look: its span, whether it is code or a table, a heading, a repeat."""


def drawn(document: Document, chunks: Sequence[Chunk], chunker: Chunker) -> str:
    """Return the page. Each character of the document is in it once, but for what is marked as a repeat.

    Of a hierarchy the deepest level is drawn. Line breaks are those of Unix; signs stand for control characters.
    Cost: linear in the text.
    """
    shown, document = deepest(chunks), chunker.outlined(document)
    parts = [
        opened(f"{document.id}: {len(shown)} chunks", "page"),
        *_summary(document, shown, chunker, len(chunks)),
        '<main lang="">\n',
        *_body(document, shown, chunker),
        "</main>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _summary(document: Document, chunks: Sequence[Chunk], chunker: Chunker, n_chunks: int) -> Iterator[str]:
    size = chunker.budget.size
    least, _, median, _, most = sizes([chunk.token_count for chunk in chunks], size).quartiles
    others = f" of the deepest level, {n_chunks:,} in all" if n_chunks > len(chunks) else ""
    yield (
        f"<header><div><h1><bdi>{safe(document.id)}</bdi></h1><code>{safe(repr(chunker))}</code>\n"
        '<p class="legend"><i class="a">chunk</i><i class="b">next chunk</i><i class="again">repeated, put before</i>'
        '<i class="left">in no chunk</i></p>\n'
        f'<p class="facts"><b>{len(chunks):,}</b> chunks{others} &ensp; tokens: least <b>{least}</b>, '
        f"median <b>{median}</b>, most <b>{most}</b> of {size}</p>\n"
    )
    if 1 < len(chunks) <= _MOST_BARS:
        bars = (
            f'<a href="#c{i}" style="height:{_share(chunk, size)}%" title="{i}: {chunk.token_count} tokens"></a>'
            for i, chunk in enumerate(chunks)
        )
        yield f"<nav>{''.join(bars)}</nav>\n"
    yield "</div></header>\n"


def _body(document: Document, chunks: Sequence[Chunk], chunker: Chunker) -> Iterator[str]:
    size, drops = chunker.budget.size, sorted(chunker.dropped(document), key=lambda drop: drop.span)
    position = 0
    for i, chunk in enumerate(chunks):
        body, start = chunk.body, max(chunk.body.start, position)  # what is drawn already is a repeat
        yield from _left(document, Span(position, max(position, body.start)), drops)
        inks = [ink for span in chunk.spans[:-1] for ink in _inks(document, span, repeated=True)]
        inks += _inks(document, Span(body.start, min(start, body.end)), repeated=True)
        inks += _inks(document, Span(start, max(start, body.end)), repeated=False)
        yield (
            f'<section class="chunk {"ab"[i % 2]}" id="c{i}">{_label(chunk, i, size)}'
            f'<div class="text">{_context(chunk)}{_text(document, inks)}</div></section>\n'
        )
        position = max(start, body.end)
    yield from _left(document, Span(position, len(document.text)), drops)


def _label(chunk: Chunk, index: int, size: int) -> str:
    place = f"<div>{safe(chunk.place)}</div>" if chunk.place else ""
    return (
        f'<aside><a href="#c{index}">{index}</a>{chunk.token_count} tokens'
        f'<span class="bar"><i style="width:{_share(chunk, size)}%"></i></span>'
        f'<div class="path"><bdi>{_path(chunk)}</bdi></div>{place}</aside>'
    )


def _path(chunk: Chunk) -> str:
    """Return the headings over a chunk, marked where they are its context."""
    before, context, after = " > ".join(chunk.headings).partition(chunk.context.strip() or "\n")
    marked = f'<mark title="embedded before the text">{safe(context)}</mark>' if context else ""
    return f"{safe(before)}{marked}{safe(after)}".replace(" &gt; ", " › ")


def _context(chunk: Chunk) -> str:
    if not chunk.context or _is_path(chunk):
        return ""
    return f'<mark class="context">{safe(chunk.context.rstrip())}</mark>'


def _is_path(chunk: Chunk) -> bool:
    """Tell whether the context is made of the headings, which the label shows."""
    return chunk.context.strip() in " > ".join(chunk.headings)


def _left(document: Document, span: Span, drops: Sequence[Drop]) -> Iterator[str]:
    """Yield what is in no chunk: white space unseen, the rest greyed, with the reason where there is one."""
    text = span.slice(document.text)
    if not text.strip():
        yield f'<div class="blank">{safe(text)}</div>' if text else ""
        return
    index = bisect_right(drops, span.end, key=lambda drop: drop.span.start) - 1
    reason = drops[index].reason if index >= 0 and drops[index].span.end > span.start else "in no chunk"
    yield f'<div class="left"><p class="why">{safe(reason)}</p><div class="prose">{safe(text)}</div></div>\n'


def _inks(document: Document, span: Span, *, repeated: bool) -> Iterator[Ink]:
    """Yield the stretches of a span that look the same."""
    blocks = solid_blocks(document)
    index = bisect_right(blocks, span.start, key=lambda block: block.span.end)
    position = span.start
    while position < span.end:
        block = blocks[index] if index < len(blocks) and blocks[index].span.start < span.end else None
        if block is None or position < block.span.start:
            end = block.span.start if block else span.end
            yield Span(position, end), False, False, repeated
        else:
            end = min(block.span.end, span.end)
            yield Span(position, end), block.kind != "heading", block.kind == "heading", repeated
            index += 1
        position = end


def _text(document: Document, inks: Sequence[Ink]) -> str:
    parts = []
    for mono, group in groupby(inks, key=lambda ink: ink[1]):
        pieces = (_piece(span.slice(document.text), heading, repeated) for span, _, heading, repeated in group)
        parts.append(f'<div class="{"mono" if mono else "prose"}">{"".join(pieces)}</div>')
    return "".join(parts)


def _piece(text: str, heading: bool, repeated: bool) -> str:
    piece = safe(text)
    piece = f"<b>{piece}</b>" if heading else piece
    return f"<mark>{piece}</mark>" if repeated else piece


def _share(chunk: Chunk, size: int) -> int:
    return min(100, round(100 * chunk.token_count / size))
