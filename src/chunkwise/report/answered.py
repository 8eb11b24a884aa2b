"""Write how good answers of each config are, and who says so."""

from __future__ import annotations

from collections.abc import Iterator

from chunkwise.evaluate.judgements import ASPECTS, Judged, remarks
from chunkwise.report.configs import row
from chunkwise.report.html import column, safe, table
from chunkwise.report.ranking import Ranking


def drawn(ranking: Ranking) -> Iterator[str]:
    """Yield a table of the means of every aspect, and what a reader of them must know."""
    judged = [(outcome, outcome.answers) for outcome in ranking.outcomes if outcome.answers is not None]
    first = judged[0][1]
    heads = "".join(column(safe(first.label(aspect)), columns=2) for aspect in ASPECTS if first.mean(aspect))
    by = "a heuristic, which compares words and understands nothing" if first.kind == "heuristic" else first.judge
    yield from table(
        f"<tr>{column('#')}{column('Config', 'left')}{heads}{column('Answers')}</tr>",
        (f"{row(ranking, outcome)}{_cells(answers, first)}</tr>\n" for outcome, answers in judged),
        label="How good answers are",
        caption=f"Means in points, with 95 % intervals, judged by {safe(by)}.",
        can_sort=False,
    )
    notes = dict.fromkeys(note for _, answers in judged for note in remarks(answers))
    yield "".join(f"<p>{safe(note[:1].upper() + note[1:])}.</p>\n" for note in notes)


def _cells(answers: Judged, first: Judged) -> str:
    """Return the mean of every aspect that the first config was judged in, and how many answers there are."""
    cells = ""
    for aspect in ASPECTS:
        if not first.mean(aspect):
            continue
        mean = answers.mean(aspect)
        told = mean.interval if mean else None
        cells += f"<td><b>{100 * told.mean:.1f}</b></td>" if told else "<td></td>"
        cells += f"<td>[{100 * told.low:.1f}, {100 * told.high:.1f}]</td>" if told else "<td></td>"
    return f"{cells}<td>{len(answers.rows)}</td>"
