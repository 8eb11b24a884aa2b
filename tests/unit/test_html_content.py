"""What of a web page is its content: what is kept, and what is left out and said."""

from __future__ import annotations

import pytest

from unit.html_pages import ARTICLE, RUNNING, fragment, named, page


def test_what_stands_around_the_content_is_left_out_and_said() -> None:
    document = page(
        f"<nav><ul><li><a href=/>Home</a></ul></nav><div class=site><article><h1>Pump</h1>{ARTICLE}"
        "<div class='share-buttons'>Share this</div></article>"
        f"<div class='sidebarWidget related'><p>{RUNNING}</p></div></div>"
        "<footer>All rights</footer><div id=cookie-banner>We use cookies</div>"
    )
    assert document.text.startswith("Pump\n\nThe pump")
    assert not any(word in document.text for word in ("Home", "Share", "rights", "cookies"))
    assert document.text.count("The pump") == 6
    assert document.meta["left_out"] == [
        "navigation, 1 part, 4 characters",
        "buttons to share, 1 part, 10 characters",
        f"aside, 1 part, {len(RUNNING.strip())} characters",
        "footer, 1 part, 10 characters",
        "cookie notice, 1 part, 14 characters",
    ]


def test_sections_beside_a_long_one_are_kept() -> None:
    sections = f"<div class=section>{ARTICLE}</div><div class=section>B {RUNNING}</div>"
    document = page(f"<div class=menu>x</div><div class=body><h1>A</h1><p>{RUNNING}</p>{sections}</div>")
    assert document.text.count("The pump") == 8
    assert document.text.startswith("A\n\nThe pump")


def test_what_stands_beside_a_long_section_in_the_form_of_its_text_is_kept() -> None:
    paragraphs = "".join(f"<div class=para>{RUNNING} {number}</div>" for number in range(9))
    inner = f"<div class=section><h3>Inner</h3>{paragraphs}</div>"
    document = page(f"<div class=chapter><h2>Outer</h2><div class=para>Before. {RUNNING}</div>{inner}</div>")
    assert document.text.startswith("Outer\n\nBefore.")
    assert document.text.count("The pump") == 10


def test_what_stands_beside_a_long_list_in_main_is_kept() -> None:
    listed = "".join(f"<section><h3>Valve {number}</h3><div>{RUNNING}</div></section>" for number in range(9))
    intro = f"<h1>Valves</h1><div class=docblock><p>Before all. {RUNNING}</p></div><pre>use valves;</pre>"
    document = page(f"<main>{intro}<h2>List</h2><div id=list>{listed}</div></main>")
    assert document.text.startswith("Valves\n\nBefore all.")
    assert "use valves;" in document.text
    assert document.text.count("The pump") == 10


def test_a_short_section_beside_a_long_one_is_kept() -> None:
    short = "<section class=a><h2>Ports</h2><table><tr><td>http<td>8080</table></section>"
    long = f"<section class=b><h2>Pumps</h2>{ARTICLE}{ARTICLE}{ARTICLE}</section>"
    document = page(f"<main>{short}{long}<section class=c><ul><li>one<li>two</ul></section></main>")
    assert "http | 8080" in document.text
    assert document.text.endswith("- one\n- two")


def test_a_heading_that_is_a_button_is_kept_and_a_button_in_a_heading_is_not() -> None:
    answers = f"<h2><button>How do I reset it?</button></h2><div>{RUNNING}</div>"
    other = f"<h2>Seals <button>Copy link</button></h2><p>{RUNNING}</p>"
    headings = [block.label for block in page(answers + other).blocks if block.kind == "heading"]
    assert headings == ["How do I reset it?", "Seals"]


def test_two_listings_in_one_block_of_code_are_parted_and_the_colours_of_one_are_not() -> None:
    assert named(fragment("<pre><code>a = 1</code><code>b = 2</code></pre>"), "code") == [("", "a = 1\nb = 2\n")]
    assert named(fragment("<pre><code><b>a</b><i> = 1</i></code></pre>"), "code") == [("", "a = 1\n")]


def test_a_section_is_not_left_out_for_the_words_of_its_own_heading() -> None:
    sections = "".join(
        f"<section id={id}><h2>{title}</h2>{ARTICLE}</section>"
        for id, title in (("start", "Start"), ("related-parts", "Related parts"), ("cookies", "Cookies"))
    )
    assert page(f"<main><h1>A</h1>{sections}</main>").text.count("The pump") == 18


def test_notes_and_boxes_that_belong_to_the_text_are_kept() -> None:
    boxes = f"<aside class=admonition><p>Mind it.</p></aside><div class=sidebar><p>{RUNNING}</p></div>"
    text = page(f"<main>{ARTICLE}{boxes}</main>").text
    assert text.count("The pump") == 7
    assert "Mind it." in text


def test_the_title_before_the_content_is_kept_and_the_name_of_the_site_is_not() -> None:
    document = page(
        "<header><h1>The Site</h1></header><div><div class=head><h1>Pump</h1><p>By me</p></div>"
        f"<div class=body>{ARTICLE}</div></div>"
    )
    assert [label for label, _ in named(document, "heading")] == ["Pump"]


def test_a_page_without_running_text_is_read_whole_and_says_so() -> None:
    document = page("<nav>Home</nav><ul>" + "".join(f"<li><a href={i}>Entry {i}</a></li>" for i in range(60)) + "</ul>")
    assert document.text.startswith("- Entry 0\n- Entry 1\n")
    assert document.meta["warnings"] == ["no main content was found; the whole page was read"]


@pytest.mark.parametrize("html", ["<nav>a</nav><footer>b</footer>", f"<nav>a</nav>{ARTICLE}<footer>b</footer>"])
def test_a_fragment_is_read_whole(html: str) -> None:
    text = fragment(html).text
    assert (text[0], text[-1]) == ("a", "b")


def test_a_short_page_is_read_whole() -> None:
    assert page("<header>Acme</header><p>Closed on Monday.</p>").text == "Acme\n\nClosed on Monday."
