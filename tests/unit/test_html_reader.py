"""HTML: what a page says is what its text says, in its order, and hostile pages do no harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Limits, Source
from chunkwise.readers.html.read import read_html
from chunkwise.readers.read import read_text


def page(body: str, head: str = "") -> Document:
    return read_text(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", media_type="text/html")


def fragment(html: str) -> Document:
    return read_text(html, media_type="text/html")


def named(document: Document, *kinds: str) -> list[tuple[str, str]]:
    return [(b.label, b.span.slice(document.text)) for b in document.blocks if b.kind in kinds]


def links(document: Document) -> list[tuple[str, str]]:
    found = document.meta.get("links", [])
    assert isinstance(found, list)
    return [(document.text[link["start"] : link["end"]], link["url"]) for link in found]


RUNNING = "The pump is checked every week, and its seal is changed once a year by someone who knows how. "
ARTICLE = f"<p>{RUNNING * 2}</p><p>{RUNNING * 2}</p><p>{RUNNING * 2}</p>"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one\n  two\t<b> three</b> four</p>", "one two three four"),
        ("a<p>b</p>c<div>d<div>e</div>f</div>g", "a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng"),
        ("<p>10&nbsp;000 gal&shy;lons<wbr>es</p>", "10 000 gallonses"),
        ("<p>one<br>two<br>\n<br>three</p>", "one\ntwo\n\nthree"),
        ("<p>水が\n漏れ<b>る</b>\nand\nso</p>", "水が漏れる and so"),
        ("<p>say <q>no</q></p>", "say “no”"),
        ("<p>a</p><script>x()</script><style>y</style><template>z</template><noscript>n</noscript>", "a"),
        ("<p>a<span hidden>b</span><i style='color:red; display: none'>c</i><i aria-hidden=true>d</i></p>", "a"),
        ("<select><option>one</select><button>go</button><textarea>two</textarea><p>a</p>", "a"),
        ("<p>x<!-- <p>y</p> -->z</p>", "xz"),
        ("<pre>\n\n  a\n\tb\n\n</pre>c", "  a\n\tb\n\nc"),
        ("<pre>a<br>b<b>c</b></pre>", "a\nbc\n"),
        ("<h1>A<br>b</h1>", "A b"),
        ("\ufeff<p>a", "a"),
        ("<p>a</p>\0<p>b\0c</p>" + "d" * 200, "a\n\nbc\n\n" + "d" * 200),
        ("", ""),
        ("<!-- nothing --><script>x</script>", ""),
    ],
)
def test_text_is_what_a_browser_shows(html: str, text: str) -> None:
    assert fragment(html).text == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=0 type=a><li>a<li>b</ol>", "0. a\na. b"),
        ("<ol type=A start=27><li>a<li value=52>b<li>c</ol>", "AA. a\nAZ. b\nBA. c"),
        ("<ol type=i start=1999><li>a<li value=4000>b</ol>", "mcmxcix. a\n4000. b"),
        ("<ol reversed start=2><li>a<li>b<li>c</ol>", "2. a\n1. b\n0. c"),
        ("<ol start=x type=z><li value=-3>a</ol>", "-3. a"),
        ("<ul><li>a<ol><li>b<ul><li>c</ul></ol></ul>", "- a\n  1. b\n    - c"),
        ("<ul><ul><li>a</ul><li>b</ul>", "  - a\n- b"),
        ("<li>a</li><li>b</li>", "- a\n- b"),
        ("<ol><li><ul><li>a</ul><li>b</ol>", "  - a\n2. b"),
        ("<dt>a<dd>b", "a\n\nb"),
        ("<dl><div><dt>a</dt><dd>b</dd></div><div><dt>c</dt><dd>d</dd></div></dl>", "a\n  b\nc\n  d"),
        ("<ol><li><table><tr><th>a<th>b<tr><td>1<td>2</table><li>c</ol>", "1.\n\na | b\n1 | 2\n\n2. c"),
    ],
)
def test_items_are_numbered_as_a_browser_numbers_them(html: str, text: str) -> None:
    assert fragment(html).text == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3", "a | b\n1 | 2\n1 | 3\n"),
        ("<tr><th>a<th>b<th>c<tr><td colspan=2>1<td>2", "a | b | c\n1 |  | 2\n"),
        ("<tr><th>a<th>b<tr><td rowspan=2 colspan=2>1<tr><tr><td>2<td>3", "a | b\n1 |\n1 |\n2 | 3\n"),
        ("<tr><td>1<td rowspan=0>2<tr><td>3", "1 | 2\n3 | 2\n"),
        ("<tr><td>1<td rowspan=99 colspan=99>2", "1 | 2 |\n"),
        ("<tr><td>1<td rowspan=x colspan=-1>2", "1 | 2\n"),
        ("<thead><tr><td>h<td>i<tbody><tr><td>a<td>b<td>c", "h | i |\na | b | c\n"),
        ("<tfoot><tr><td>f<td>g</tfoot><tr><th>a<th>b<tr><td>1<td>2", "a | b\n1 | 2\nf | g\n"),
        ("<tr><td>a<p>b</p>c<td>d<br>e", "a b c | d e\n"),
        ("<tr><td><td>b<tr><td> <td><tr><td>c<td>", "| b\nc |\n"),
        ("<tr><td>a <ul> <li> b </li> <li>c</ul> d<td>e", "a; b; c d | e\n"),
        ("<tr><td>a<td><input value=x><img alt='a bolt' src=b.png>", "a | a bolt\n"),
    ],
)
def test_cells_stand_where_a_browser_shows_them(html: str, text: str) -> None:
    assert fragment(f"<table>{html}</table>").text == text


def test_header_rows_are_those_of_thead_or_of_th_alone() -> None:
    document = fragment("<table><tr><th>a<th>b<tr><th>c<th>d<tr><th>e<td>f</table>")
    assert named(document, "header") == [("", "a | b\nc | d\n")]
    assert named(document, "row") == [("", "e | f\n")]
    document = fragment("<table><tr><th>a<th>b<tr><th>c<th>d</table>")
    assert named(document, "header") == [("", "a | b\n")]


def test_a_long_value_that_spans_rows_is_not_repeated() -> None:
    text = fragment(f"<table><tr><td rowspan=3>{'x' * 900}<td>1<tr><td>2<tr><td>3</table>").text
    assert text.count("x") == 900
    assert text.endswith("| 2\n| 3\n")


def test_a_table_that_lays_out_a_page_is_read_cell_after_cell() -> None:
    document = fragment("<table><tr><td><h2>A</h2><p>one<td><table><tr><th>x<th>y<tr><td>1<td>2</table></table>")
    assert document.text == "A\n\none\n\nx | y\n1 | 2\n"
    assert [block.kind for block in document.blocks if block.parent < 0] == ["heading", "paragraph", "table"]


def test_a_note_in_a_table_beside_its_sign_is_no_table_of_data() -> None:
    html = "<table><tr><td rowspan=2><img alt='[Tip]' src=tip.png></td><th>Tip</th></tr><tr><td>Wait.</td></tr></table>"
    assert fragment(html).text == "[Tip]\n\nTip\n\nWait."


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre class='sourceCode python'>x</pre>", "python"),
        ("<pre><code class='hljs language-C++'>x</code></pre>", "c++"),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "shell"),
        ("<div class='highlight-default notranslate'><div class=highlight><pre>x</pre></div></div>", ""),
        ("<pre class='brush: js; toolbar: false'>x</pre>", "js"),
        ("<figure data-lang=go><div><pre>x</pre></div></figure>", "go"),
        ("<pre>x</pre>", ""),
    ],
)
def test_code_has_the_language_that_its_author_names(html: str, language: str) -> None:
    assert named(fragment(html), "code") == [(language, "x\n")]


def test_formulas_are_the_tex_that_they_were_made_from() -> None:
    wiki = (
        "<p>for <span><span style='display: none;'><math alttext='{\\displaystyle x^{2}}'><mi>x</mi></math></span>"
        "<img class='mwe-math-fallback-image-inline' aria-hidden=true alt='{\\displaystyle x^{2}}'></span> and "
        "<math><mi>y</mi><mo>+</mo><mn>1</mn></math></p><script type='math/tex; mode=display'>z</script>"
    )
    document = fragment(wiki)
    assert document.text == "for $x^{2}$ and $y + 1$\n\nz"
    assert named(document, "math") == [("", "z")]


def test_an_image_is_said_once_and_only_by_a_text_that_a_person_wrote() -> None:
    document = fragment(
        "<figure><img alt='A seal'><img alt='A seal'><figcaption>A seal, cut open</figcaption></figure>"
        "<p><img alt='IMG_20210304.jpg'><img alt='data:image/png;base64,AAAA'><img alt='a-b-c-d'><img alt=''></p>"
        "<p><img alt='The works'></p><p>Press <img alt='the button'> now</p>"
    )
    assert document.text == "A seal, cut open\n\nThe works\n\nPress the button now"
    assert named(document, "figure") == [("", "A seal, cut open"), ("", "The works")]


def test_links_have_the_spans_of_their_texts_wherever_they_stand() -> None:
    document = fragment(
        "<base href='https://x.org/d/'><p> <a href='a'> one <b>two</b> </a>, <a href='#here'>in</a> "
        "<a href='javascript:x()'>no</a> <a href='http://[x'>bad</a><a href='mailto:a@b.c'>mail</a></p>"
        "<ul><li>x<br><a href=/b>deep<br>er</a><ul><li><a href=c>c</a></ul></ul>"
        "<table><tr><td><td>y <a href='d'>d</a></table><h2><a href='e'>Head</a></h2><a href='f'><p>f</p><p>g</p></a>"
    )
    assert links(document) == [
        ("one two", "https://x.org/d/a"),
        ("mail", "mailto:a@b.c"),
        ("deep\n  er", "https://x.org/b"),
        ("c", "https://x.org/d/c"),
        ("d", "https://x.org/d/d"),
        ("Head", "https://x.org/d/e"),
        ("f", "https://x.org/d/f"),
        ("g", "https://x.org/d/f"),
    ]


def test_links_start_from_the_address_of_the_page() -> None:
    document = page(
        f"<main>{ARTICLE}<p>See <a href='../b?q=1'>b</a>.</p>", "<link rel=canonical href='https://x.org/a/c/'>"
    )
    assert links(document) == [("b", "https://x.org/a/b?q=1")]


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


@pytest.mark.parametrize(
    ("head", "meta"),
    [
        ("<title> A\n b </title><meta name=author content='Ada'>", {"title": "A b", "author": "Ada"}),
        ("<title>A - Site</title><meta property='og:title' content='A'>", {"title": "A"}),
        (
            "<meta property='article:published_time' content='2020-02-03T04:05:06.789Z'>",
            {"date": "2020-02-03T04:05:06Z"},
        ),
        ("<meta name=DC.date content='2020/02/03'>", {"date": "2020-02-03"}),
        ("<meta name=date content='3 February'>", {}),
        ("<meta name=date content='2020-13-03'>", {}),
        ('<script type=\'application/ld+json\'>{"datePublished": "2019-01-02"}</script>', {"date": "2019-01-02"}),
        ("<meta http-equiv=content-language content=de>", {"language": "de"}),
        ("<meta property=og:locale content=pt_BR>", {"language": "pt-BR"}),
        ("<meta name=description content='  On\n pumps '>", {"description": "On pumps"}),
        ("<link rel=canonical href='/a'><meta property=og:url content='https://x.org/a'>", {"url": "https://x.org/a"}),
        ("<meta name=author content='https://x.org/ada'>", {}),
    ],
)
def test_a_page_tells_of_itself(head: str, meta: dict[str, str]) -> None:
    assert page("<p>x", head).meta == meta


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        ("<meta charset=windows-1251><p>насос".encode("cp1251"), "насос", "cp1251"),
        (
            "<meta content='text/html; charset=EUC-JP' http-equiv=Content-Type><p>水漏れ".encode("euc_jp"),
            "水漏れ",
            "euc_jp",
        ),
        ("<meta charset=gb2312><p>水泵裏".encode("gb18030"), "水泵裏", "gb18030"),
        ("<meta charset=iso-8859-1><p>“é”".encode("cp1252"), "“é”", "cp1252"),
        ("<meta charset=iso-2022-jp><p>水漏れ".encode("iso2022_jp"), "水漏れ", "iso2022_jp"),
        ("<meta charset=iso-8859-1><p>“水”".encode(), "“水”", "utf-8"),
        ("<meta charset=utf-16><p>é".encode(), "é", "utf-8"),
        ("\ufeff<meta charset=cp1251><p>é".encode("utf-16"), "é", "utf-16"),
        ("<?xml version='1.0' encoding='iso-8859-2'?><html><body><p>łódź".encode("iso8859_2"), "łódź", "iso8859-2"),
        ("<meta charset=unicode_escape><p>Größe und Maße der Körper über der Straße".encode("cp1252"), "", "cp1252"),
    ],
)
def test_the_charset_is_what_the_bytes_bear_out(content: bytes, text: str, encoding: str) -> None:
    document = read_html(Source("x", content, media_type="text/html"))
    assert text in document.text
    assert document.meta["encoding"] == encoding


def test_a_closed_tag_of_xhtml_does_not_swallow_the_page() -> None:
    xhtml = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><script src='x'/><title/></head>"
    text = read_text(f"{xhtml}<body><h1><a id='a'/>A</h1><p>b<br/>c</p></body></html>", media_type="text/html").text
    assert text == "A\n\nb\nc"


BOMBS = {
    "div": "<div>" * 10_000,
    "tables": "<table><tr><td>a<td>" * 10_000,
    "lists": "<ul><li>" * 10_000,
    "terms": "<dl><dt>a<dd>" * 2_000,
    "bold": "<b>" * 10_000,
    "quotes": "<blockquote>" * 10_000,
    "headings": "<div><h1>" * 2_000,
    "spans of cells": "<table>" + ("<tr>" + "<td rowspan=65534 colspan=1000>x" * 50) * 500,
    "entities": "<!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><p>&b;",
    "attribute": f"<p class='{'a-' * 500_000}' id={'b' * 500_000}>",
    "opened": "<" * 100_000,
    "blanks": "<p>a" + " \n\t" * 100_000,
    "line": "<p>" + "word " * 500_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_page_is_read_in_bounded_space(name: str) -> None:
    document = page(f"{BOMBS[name]}<p>{RUNNING}</p>")
    assert RUNNING.strip() in document.text
    assert len(document.text) < 5 * len(BOMBS[name]) + 2_000_000


def test_blocks_deeper_than_the_limit_are_written_without() -> None:
    html = "<ul><li>a" * 40 + "<p>b"
    document = read_html(Source("x", html.encode(), media_type="text/html", limits=Limits(nesting=10)))
    assert len(document.blocks) == 10
    assert document.text.count("- a") == 40
    assert document.text.endswith("b")


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<div>" * 30_000, "more than 20000 elements inside each other"),
        ("".join(f"<p><font c={i}>" for i in range(3_000)), "3000 elements of formatting are never closed"),
        ("<p " + " ".join(f"a{i}=1" for i in range(20_000)) + ">", "more than 10000 attributes"),
    ],
)
def test_a_page_that_no_parser_would_end_with_is_refused(html: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        fragment(html)


TAGS = """
    a article aside b blockquote br caption code dd div dl dt figcaption figure footer form h1 h2 header hr img li main
    math nav ol p pre q section span table tbody td tfoot th thead tr ul
"""
_TAG = re.compile(r"</?[a-z0-9]+(?: [a-z]+=(?:'[^']*'|[^ >]*))?>")
PIECES = st.one_of(
    st.sampled_from(TAGS.split()).map(lambda tag: f"<{tag}>"),
    st.sampled_from(TAGS.split()).map(lambda tag: f"</{tag}>"),
    st.sampled_from(
        ["word ", " ", "\n", "&nbsp;", "<a href=x>", "<td rowspan=3>", "<th colspan=2>", "<img alt='x y'>"]
    ),
    st.text(max_size=5),
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_whatever_tags_follow_each_other_blocks_nest_and_links_lie_in_the_text(html: str) -> None:
    document = fragment(html)
    text = document.text
    for index, block in enumerate(document.blocks):
        assert block.parent < index
        assert 0 <= block.span.start < block.span.end <= len(text)
        if block.parent >= 0:
            outer = document.blocks[block.parent].span
            assert outer.start <= block.span.start <= block.span.end <= outer.end
    assert all(word and word == word.strip() for word, _ in links(document))
    stray = "<" in _TAG.sub("", html)  # which begins a tag that nobody meant
    parted = any(tag in html for tag in ("<table", "<caption", "<a"))
    assert stray or parted or text.count("word") == html.count("word")
