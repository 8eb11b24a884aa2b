"""HTML: what a page says is what its text says, in its order, and hostile pages do no harm."""

from __future__ import annotations

import pytest

from chunkwise.core.types import Source
from chunkwise.readers.html.read import read_html
from chunkwise.readers.read import read_text
from unit.html_pages import ARTICLE, fragment, links, named, page


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


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>10<sup>6</sup> m<sup>-2</sup> H<sub>2</sub>O", "10⁶ m⁻² H2O"),
        ("<p>the 4<sup>th</sup> of May", "the 4th of May"),
        ("<p>E=mc<sup>2</sup><sup><a href='#n1'>1</a></sup>", "E=mc²[1]"),
        ("<h2>Area in m<sup>2</sup></h2><p>x", "Area in m²\n\nx"),
        ("<table><tr><th>m<sup>3</sup></th></tr><tr><td>10<sup>9</sup></td></tr></table>", "m³\n10⁹\n"),
    ],
)
def test_what_is_raised_runs_into_no_number_before_it(html: str, text: str) -> None:
    assert fragment(html).text == text


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
