"""Write why evidence was missed, as bars: what another cut may win back, and what no cut will."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkwise.evaluate.misses import CAUSES, Blame
from chunkwise.evaluate.results import Outcome
from chunkwise.report.configs import row
from chunkwise.report.html import column, safe, table
from chunkwise.report.ranking import Ranking

# How many documents of a config are listed.
_DOCUMENTS = 10

# The header of bars, which say nothing that the numbers beside them do not.
_BARS = '<td class="bars"></td>'

_MEANINGS = {
    "fragmented": "no chunk holds the evidence whole; cut otherwise it is found",
    "diluted": "a chunk holds it among other text and ranks too low; cut otherwise it is found",
    "outranked": "however it is cut, it ranks too low: the retrieval's part",
    "over budget": "it ranks high enough, and the budget does not pay for it",
}


def drawn(ranking: Ranking) -> Iterator[str]:
    """Yield what there is to win by cutting, a bar for each config, and the documents that lose most."""
    blamed = [(outcome, outcome.blame) for outcome in ranking.outcomes if outcome.blame is not None]
    if not blamed:
        yield "<p>Why evidence was missed was not asked.</p>\n"
        return
    told, why = next((one for one in blamed if one[0] is ranking.choice), blamed[0])
    yield from _winnable(told, why)
    yield '<dl class="causes">'
    for i, cause in enumerate(CAUSES):
        yield f'<div><dt><i class="c{i}"></i>{cause}</dt><dd>{_MEANINGS[cause]}</dd></div>'
    yield "</dl>\n"
    yield from _bars(ranking, blamed)
    yield "<h3>By document</h3>\n"
    for outcome, blame in blamed:
        if blame.misses:
            yield from _documents(ranking.number(outcome), outcome, blame, is_open=outcome is told)


def _winnable(outcome: Outcome, blame: Blame) -> Iterator[str]:
    """Yield how much there is to win by cutting at all."""
    lost, label = 100 * blame.total().recall, f"<code>{safe(outcome.config.label)}</code>"
    if not lost:
        yield f'<p class="lead-in">{label} missed nothing.</p>\n'
        return
    share = f"{lost * blame.winnable:.1f} of them ({100 * blame.winnable:.0f} %)"
    rest = " and ".join(f"{100 * blame.loss(cause).recall:.1f} are {cause}" for cause in ("outranked", "over budget"))
    yield (
        f'<p class="lead-in">Of 100 points of recall {label} misses {lost:.1f}. '
        f"<b>Another cut may win back {share}.</b> No cut wins the rest: {rest}.</p>\n"
    )


def _bars(ranking: Ranking, outcomes: Sequence[tuple[Outcome, Blame]]) -> Iterator[str]:
    most = max(blame.total().recall for _, blame in outcomes) or 1.0
    swatches = "".join(column(f'<i class="c{i}"></i>{cause}') for i, cause in enumerate(CAUSES))
    return table(
        f"<tr>{column('#')}{column('Config', 'left')}{column('Missed')}{_BARS}{swatches}{column('Of the cut')}</tr>",
        (f"{row(ranking, outcome)}{_cells(blame, most)}</tr>\n" for outcome, blame in outcomes),
        label="What was missed",
        caption="What was missed, in points of recall, by its cause. Of the cut: what is fragmented or diluted.",
        can_sort=True,
    )


def _cells(blame: Blame, most: float) -> str:
    """Return what was missed, as a number, as a bar and by its causes; `most` is what fills a bar."""
    losses = [100 * blame.loss(cause).recall for cause in CAUSES]
    parts = "".join(f'<i class="c{i}" style="width:{loss / most:.2f}%"></i>' for i, loss in enumerate(losses))
    bar = f'<td class="bars" aria-hidden="true"><div class="bar">{parts}</div></td>'
    numbers = "".join(f"<td>{loss:.1f}</td>" for loss in losses)
    return f"<td><b>{100 * blame.total().recall:.1f}</b></td>{bar}{numbers}<td>{100 * blame.winnable:.0f} %</td>"


def _documents(number: int, outcome: Outcome, blame: Blame, *, is_open: bool) -> Iterator[str]:
    """Yield the documents on which a config loses most."""
    parts = blame.by_document()
    shown = list(parts.items())[:_DOCUMENTS]
    most = max(part.total().recall for _, part in shown) or 1.0
    label = safe(outcome.config.label)
    causes = "".join(map(column, (*CAUSES, "Of the cut")))
    yield f'<details class="documents"{" open" * is_open}><summary>{number} <code>{label}</code></summary>\n'
    yield from table(
        f"<tr>{column('Document', 'left')}{column('Questions')}{column('Missed')}{_BARS}{causes}</tr>",
        (_document(id, part, most) for id, part in shown),
        label=f"Documents, config {number}",
        caption="Points of the recall of all questions"
        + (f", the {len(shown)} documents that lose most of {len(parts):,}" if len(shown) < len(parts) else ""),
    )
    yield "</details>\n"


def _document(id: str, part: Blame, most: float) -> str:
    n_queries = f"<td>{part.total().n_queries:,}</td>"
    return f'<tr><th scope="row"><bdi>{safe(id)}</bdi></th>{n_queries}{_cells(part, most)}</tr>\n'
