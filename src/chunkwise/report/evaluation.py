"""Draw an evaluation as one HTML file that needs nothing else: what to take, how sure that is, what is missed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from chunkwise.evaluate.compare import FEW
from chunkwise.evaluate.misses import CAUSES
from chunkwise.evaluate.results import Evaluation
from chunkwise.report import answered, blamed, configs, frontier
from chunkwise.report.details import details, written
from chunkwise.report.html import opened, ran, resource, safe
from chunkwise.report.questions import Questions
from chunkwise.report.ranking import Ranking


def drawn(evaluation: Evaluation, texts: Mapping[str, str]) -> str:
    """Return the page. `texts` are those of the documents by their ids, of which it holds what questions need.

    Of a large evaluation the page says what was left out. Without scripts all but evidence and hits can be read.
    Cost: that of `compare`, and linear in the hits and the texts.
    Raises: ChunkwiseError for evidence or hits in no text.
    """
    ranking, script = Ranking.of(evaluation), resource("evaluation.js")
    return "".join(
        [
            opened("Evaluation: " + _headline(ranking, plain=True), "evaluation", script=script),
            *_header(ranking),
            "<main>\n",
            *_section("frontier", "Recall against tokens", frontier.drawn(ranking)),
            *_section("configs", "Configs", configs.drawn(ranking)),
            *_section("blame", "Why evidence was missed", blamed.drawn(ranking)),
            *(_section("answers", "Answers", answered.drawn(ranking)) if _is_answered(ranking) else ()),
            *_section("questions", "Question by question", _questions(Questions(ranking, texts))),
            *_section("repeat", "How to repeat it", _repeat(ranking)),
            "</main>\n",
            ran(script),
            "</body>\n</html>\n",
        ]
    )


def _is_answered(ranking: Ranking) -> bool:
    return any(outcome.answers is not None for outcome in ranking.outcomes)


def _headline(ranking: Ranking, *, plain: bool = False) -> str:
    found = ranking.comparison
    if len(found.names) == 1:
        return "Only one config was measured"
    if not ranking.can_choose:
        return "Too few questions to choose by"
    return f"Take {found.choice}" if plain else f"Take <code>{safe(found.choice)}</code>"


def _header(ranking: Ranking) -> Iterator[str]:
    links = ("frontier", "Recall"), ("configs", "Configs"), ("blame", "Blame"), ("questions", "Questions")
    nav = "".join(f'<a href="#{id}">{name}</a>' for id, name in (*links, ("repeat", "Repeat")))
    yield f'<header>\n<nav aria-label="Sections"><span>chunkwise evaluate</span>{nav}</nav>\n'
    yield f"<h1>{_headline(ranking)}</h1>\n<p class='verdict'>{_verdict(ranking)}</p>\n"
    yield from (f'<p class="loud"><strong>{title}</strong> {text}</p>\n' for title, text in _doubts(ranking))
    yield "<dl class='facts'>"
    for term, value, more in _facts(ranking):
        yield f"<div><dt>{term}</dt><dd><b>{value}</b> {more}</dd></div>"
    yield "</dl>\n</header>\n"


def _verdict(ranking: Ranking) -> str:
    """Return the verdict, the names of configs in it set as code."""
    found = ranking.comparison
    # The longest first: a name may begin as another does.
    names = sorted(found.names, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, names))})", found.verdict)
    return "".join(f"<code>{safe(part)}</code>" if i % 2 else safe(part) for i, part in enumerate(parts))


def _doubts(ranking: Ranking) -> Iterator[tuple[str, str]]:
    """Yield what a reader must know before he believes any number."""
    found, queries = ranking.comparison, ranking.evaluation.queries
    n_drafted = sum(query.is_synthetic for query in queries)
    if n_drafted:
        which = "All" if n_drafted == len(queries) else f"{n_drafted:,} of"
        yield (
            "Synthetic questions.",
            f"{which} {len(queries):,} questions were drafted by a machine from the texts, and not asked by people. "
            "Another config may be ahead on people's questions: confirm it with some of theirs.",
        )
    n_documents = len({query.evidence[0][0].document_id for query in queries})
    if found.n_groups < FEW:
        yield (
            "Few questions.",
            f"{found.n_questions:,} questions. Intervals are wide, and only large differences can show. "
            f"{FEW} questions or more tell more.",
        )
    elif n_documents < FEW:
        yield (
            "Few documents.",
            f"{len(queries):,} questions about {n_documents:,}. Intervals say what more questions about these would "
            "show, not what other documents would.",
        )


def _facts(ranking: Ranking) -> Iterator[tuple[str, str, str]]:
    evaluation, found = ranking.evaluation, ranking.comparison
    about = f"about {found.n_groups:,} documents" if found.n_groups < found.n_questions else ""
    yield "Questions", f"{found.n_questions:,}", about
    yield "Documents", f"{evaluation.corpus.n_documents:,}", f"{evaluation.corpus.n_characters:,} characters"
    yield "Budget", f"{evaluation.tokens:,}", f"tokens of {safe(evaluation.tokenizer)}"
    yield "Configs", f"{len(ranking.outcomes):,}", f"compared by {safe(evaluation.metric)}"
    yield "Encoder", safe(evaluation.encoder), ""


def _section(id: str, title: str, parts: Iterator[str]) -> Iterator[str]:
    yield f'<section id="{id}" aria-labelledby="{id}-h"><h2 id="{id}-h">{title}</h2>\n'
    yield from parts
    yield "</section>\n"


def _questions(questions: Questions) -> Iterator[str]:
    ranking = questions.ranking
    n = len(ranking.evaluation.queries)
    yield "<noscript><p>Evidence and hits are shown by a script, which does not run here.</p></noscript>\n"
    yield from (f'<p class="left-out">{safe(line)}</p>\n' for line in _left_out(questions))
    yield from _controls(ranking)
    metric = safe(ranking.evaluation.metric)
    yield f'<p class="legend"><span>Score in {metric} of config A, then a bar for each config, as in the table</span> '
    yield '<span>Evidence: <mark class="found">found</mark> <mark class="missed">missed</mark></span> '
    yield f'<output aria-live="polite">{n:,} question{"s" * (n != 1)}</output></p>\n<div id="list">\n'
    yield from questions.rows()
    yield '</div>\n<button id="more" type="button" hidden></button>\n'
    yield f'<script type="application/json" id="scores">{written(questions.data())}</script>\n'
    yield f'<script type="application/json" id="details">{written(details(questions))}</script>\n'


def _controls(ranking: Ranking) -> Iterator[str]:
    """Yield what to choose questions by; hidden until the script that heeds it runs."""
    configs = [(str(i), f"{i + 1}: {outcome.config.label}") for i, outcome in enumerate(ranking.outcomes)]
    causes = [(str(i), cause) for i, cause in enumerate(CAUSES)]
    which = ("all", "all"), ("missed", "missed by A, whole or in part"), ("differ", "where A and B differ")
    order = ("score", "lowest score of A"), ("gap", "A behind B, then A ahead"), ("file", "as in the file")
    yield '<form id="controls" hidden>\n'
    yield _select("a", "Config A", configs)
    yield _select("b", "Config B", [("", "none"), *configs])
    yield _select("which", "Questions", which)
    yield _select("cause", "Cause, of A", [("", "any"), *causes])
    yield _select("order", "Order", order)
    yield '<label>Words <input id="words" type="search" autocomplete="off"></label>\n</form>\n'


def _select(id: str, title: str, options: Sequence[tuple[str, str]]) -> str:
    told = "".join(f'<option value="{value}">{safe(name)}</option>' for value, name in options)
    return f'<label>{title} <select id="{id}">{told}</select></label>\n'


def _left_out(questions: Questions) -> Iterator[str]:
    """Yield what the file has no room for."""
    ranking = questions.ranking
    n, n_listed = len(ranking.evaluation.queries), len(questions.order)
    _, evidence, hits = questions.kept
    if n_listed < n:
        number = ranking.number(ranking.choice)
        yield f"Left out: {n - n_listed:,} of {n:,} questions; those are listed on which config {number} scores lowest."
    if len(evidence) < n_listed:
        yield f"Left out to keep the file small: evidence and hits of {n_listed - len(evidence):,} questions."
    of_config = [sum(config == i for config, _ in hits) for i in range(len(ranking.outcomes))]
    cut = [str(i + 1) for i, n_kept in enumerate(of_config) if n_kept < len(evidence)]
    if cut:
        yield f"Left out to keep the file small: hits of the configs {', '.join(cut)}, wholly or of some questions."


def _repeat(ranking: Ranking) -> Iterator[str]:
    evaluation, config = ranking.evaluation, ranking.choice.config
    if evaluation.repeat:
        yield f'<pre tabindex="0"><code>{safe(evaluation.repeat)}</code></pre>\n'
    chosen = ", ".join(f"{field.name}={getattr(config, field.name)!r}" for field in fields(config))
    facts = (
        ("chunkwise", evaluation.version),
        ("Corpus", evaluation.corpus.fingerprint),
        ("Encoder", evaluation.encoder),
        ("Tokens are those of", evaluation.tokenizer),
        ("Compared by", evaluation.metric),
        (f"Config {ranking.number(ranking.choice)} in full", chosen),
    )
    yield "<dl class='repeat'>"
    yield "".join(f"<dt>{term}</dt><dd><code>{safe(value)}</code></dd>" for term, value in facts if value)
    yield "</dl>\n"
