"""The report of an evaluation in a browser: what a reader can do in it, and that nothing leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import chromium
from browser.chromium import Chromium
from chunkwise.report.evaluation import drawn
from chunkwise.report.html import shown
from chunkwise.report.ranking import Ranking
from unit.evaluations import METRIC, TEXTS, evaluation, hostile

EVALUATION = evaluation()
RANKING = Ranking.of(EVALUATION)

# The text of a page whose contrast with its ground is too low, with that contrast. Source: WCAG 2.2, 1.4.3 and the
# relative luminance that it defines; large text may have less.
_FAINT = """
(() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (css) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = css;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = rgba(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility() || node.closest("script, style, option")) continue;
    const style = getComputedStyle(node);
    const ink = rgba(node.closest("svg") ? style.fill : style.color);
    const [high, low] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) faint.push([texts.currentNode.data, contrast]);
  }
  return faint;
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    found = chromium.path()
    if found is None:
        pytest.skip(f"needs a browser: {' or '.join(chromium.NAMES)}, or its path in $CHUNKWISE_BROWSER")
    with chromium.started(found, tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("report") / "report.html"
    written.write_text(drawn(EVALUATION, TEXTS), "utf-8")
    return written


@pytest.fixture
def page(browser: Chromium, file: Path) -> Chromium:
    browser.open(file)
    browser.run("document.getElementById('more').click()")
    return browser


def choose(page: Chromium, control: str, value: str) -> None:
    page.run(
        f"{{ const at = document.getElementById({control!r}); at.value = {value!r};"
        " at.dispatchEvent(new Event('input', {bubbles: true})); }"
    )


def listed(page: Chromium) -> list[int]:
    """The numbers of the questions that are shown, in order."""
    found: list[int] = page.run(
        "[...document.querySelectorAll('.question')].filter(q => !q.hidden).map(q => +q.dataset.i)"
    )
    return found


def opened(page: Chromium, i: int) -> None:
    page.run(f"document.querySelector('[data-i=\"{i}\"] summary').click()")
    page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def texts(page: Chromium, selector: str) -> list[str]:
    found: list[str] = page.run(f"[...document.querySelectorAll({selector!r})].map(one => one.textContent)")
    return found


def test_nothing_is_asked_for_but_the_file_and_nothing_goes_wrong(page: Chromium, file: Path) -> None:
    opened(page, 0)
    assert page.requested == [file.as_uri()]
    assert page.wrongs == []


def test_hostile_text_does_nothing_in_any_place(browser: Chromium, tmp_path: Path) -> None:
    of, documents = hostile()
    (tmp_path / "hostile.html").write_text(drawn(of, documents), "utf-8")
    browser.open(tmp_path / "hostile.html")
    choose(browser, "b", "1")
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.run("new Promise(done => setTimeout(done, 200))")
    assert browser.run("document.querySelectorAll('.answers').length") == 30
    assert browser.run("document.querySelectorAll('img, iframe, [onerror], [onfocus]').length") == 0
    assert browser.run("typeof pwned") == "undefined"
    assert browser.wrongs == []


@pytest.mark.parametrize("i", [0, 2, 7, 26])
def test_an_opened_question_shows_what_was_found_and_what_was_missed(page: Chromium, i: int) -> None:
    choose(page, "a", "2")
    opened(page, i)
    asked, done = EVALUATION.queries[i], RANKING.outcomes[2]
    gold = asked.evidence[0][0]
    text, share = TEXTS[gold.document_id], done.scores[METRIC][i]
    cut = gold.span.start + round(share * gold.span.length)
    assert "".join(texts(page, ".evidence .found")) == shown(text[gold.span.start : cut])
    assert "".join(texts(page, ".evidence .missed")) == shown(text[cut : gold.span.end])
    assert f"{round(100 * share)} % found" in texts(page, ".evidence .place")[0]
    hits = [shown(hit.spans[0].slice(text)) for hit in done.found[i]]
    assert texts(page, ".hit .text") == hits
    assert "".join(texts(page, ".hit mark")) == shown(text[gold.span.start : cut])
    misses = [miss for miss in done.blame.misses if miss.query_id == asked.id] if done.blame else []
    assert [told.endswith(f"): {miss.proof}.") for told, miss in zip(texts(page, ".reason"), misses, strict=True)] == [
        True for _ in misses
    ]


def test_two_configs_stand_side_by_side_and_others_are_a_click_away(page: Chromium) -> None:
    choose(page, "a", "0")
    choose(page, "b", "1")
    opened(page, 1)
    assert texts(page, "article h3 code") == list(EVALUATION.comparison.names[:2])
    page.run("document.querySelectorAll('.chips button')[2].click()")
    assert texts(page, "article h3 code") == [EVALUATION.comparison.names[2], EVALUATION.comparison.names[1]]
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_questions_are_listed_by_what_was_missed_and_by_where_two_differ(page: Chromium) -> None:
    rows = [outcome.scores[METRIC] for outcome in RANKING.outcomes]
    everything = sorted(range(60), key=lambda i: rows[0][i])
    assert listed(page) == everything
    choose(page, "which", "missed")
    assert listed(page) == [i for i in everything if rows[0][i] < 1]
    choose(page, "which", "differ")
    choose(page, "b", "2")
    choose(page, "order", "gap")
    apart = [i for i in range(60) if rows[0][i] != rows[2][i]]
    assert listed(page) == sorted(apart, key=lambda i: (rows[0][i] - rows[2][i], i))
    assert page.run("document.querySelector('output').value") == f"{len(apart)} of 60 questions"
    choose(page, "which", "all")
    choose(page, "order", "file")
    choose(page, "words", "D20.md, 23")
    assert listed(page) == [23]


def test_many_questions_are_shown_when_they_are_asked_for(browser: Chromium, file: Path) -> None:
    browser.open(file)
    assert len(listed(browser)) == 50
    assert browser.run("document.querySelector('output').value") == "60 of 60 questions"
    last = listed(browser)[-1]
    browser.run("document.getElementById('more').click()")
    assert len(listed(browser)) == 60
    assert browser.run("document.activeElement.closest('.question').previousElementSibling.dataset.i") == str(last)
    assert browser.run("document.getElementById('more').hidden")


def test_questions_are_listed_by_the_cause_of_what_was_missed(page: Chromium) -> None:
    choose(page, "a", "1")
    choose(page, "cause", "1")
    blame = RANKING.outcomes[1].blame
    assert blame is not None
    diluted = {miss.query_id for miss in blame.misses if miss.cause == "diluted"}
    assert {EVALUATION.queries[i].id for i in listed(page)} == diluted
    assert all("diluted" in tags for tags in texts(page, ".question:not([hidden]) .tags"))


def test_tables_are_sorted_by_any_column_in_both_directions(page: Chromium) -> None:
    head = "document.querySelectorAll('#configs [aria-label=\"How far apart configs are\"] th button')"
    page.run(f"[...{head}].find(one => one.textContent == 'Vectors').click()")
    assert texts(page, "[aria-label='How far apart configs are'] tbody td:nth-child(8)") == ["300", "200", "100"]
    page.run(f"[...{head}].find(one => one.textContent == 'Vectors').click()")
    assert texts(page, "[aria-label='How far apart configs are'] tbody td:nth-child(8)") == ["100", "200", "300"]
    assert texts(page, "[aria-sort]") == ["Vectors"]
    page.run("[...document.querySelectorAll('[aria-label=\"All metrics\"] th button')].at(-2).click()")
    recalls = [float(one) for one in texts(page, "[aria-label='All metrics'] tbody td:nth-child(4)")]
    assert recalls == sorted(recalls, reverse=True)


def test_a_question_opens_by_keyboard(page: Chromium) -> None:
    page.run("document.querySelector('.question summary').focus()")
    page.press("Enter", 13)
    assert (
        page.run("new Promise(done => setTimeout(() => done(document.querySelectorAll('.answers').length), 100))") == 1
    )


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_only_tables_scroll_sideways(browser: Chromium, file: Path, width: int) -> None:
    browser.open(file, width=width)
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert browser.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(browser: Chromium, file: Path, scheme: str) -> None:
    browser.open(file, scheme=scheme)
    browser.run("for (const one of [...document.querySelectorAll('details')].slice(0, 30)) one.open = true")
    browser.run("new Promise(done => setTimeout(done, 200))")
    assert browser.run(_FAINT) == []


def test_without_scripts_all_but_evidence_and_hits_is_there(browser: Chromium, file: Path) -> None:
    browser("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(file)
        assert browser.run("document.getElementById('controls').checkVisibility()") is False
        assert browser.run("document.querySelector('noscript').checkVisibility()") is True
        assert len(listed(browser)) == 60
        assert browser.run("document.querySelectorAll('th button').length") == 0
    finally:
        browser("Emulation.setScriptExecutionDisabled", value=False)
