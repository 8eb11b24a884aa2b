"""Code is cut along its syntax, in every language that has a grammar, and never where it would have fitted."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_right
from pathlib import Path

import pytest

import chunkwise
from chunkwise.core.errors import MissingExtraError
from chunkwise.core.types import Block, Chunk, Document, Span
from chunkwise.pipeline import chunk, chunker
from chunkwise.readers import LANGUAGES
from chunkwise.readers.read import read, read_text
from chunkwise.testing import check_chunker
from chunkwise.text import syntax
from chunkwise.text.words import line_spans

SHOP = (Path(__file__).parents[1] / "golden" / "files" / "till.py").read_text("utf-8")


def cut(text: str, recipe: str, media_type: str = "text/x-python") -> list[Chunk]:
    return check_chunker(chunker(recipe, tokenizer="words"), read_text(text, id="x", media_type=media_type))


def test_functions_stay_whole_with_their_comments_and_decorators() -> None:
    texts = [c.text for c in cut(SHOP, "code(size=16)")]
    assert any(text.startswith("# Open the shop.\n# Twice a day.\n@cached\ndef open_shop") for text in texts)
    assert sum("return hours" in text for text in texts) == 1
    assert any("# Bring more of it.\n    @property\n    def buy" in text for text in texts)


def test_methods_carry_the_signature_of_their_class_and_its_name() -> None:
    chunks = cut(SHOP, "code(size=32)")
    bought = next(c for c in chunks if "def buy" in c.text)
    assert bought.text.startswith("class Shop(Base):\n    # Bring more of it.")
    assert bought.headings == ("Shop", "buy")
    closing = next(c for c in cut(SHOP, "code(size=20)") if "def close" in c.text)
    assert closing.text.startswith("    class Till:\n        def close")  # the outer signature found no room
    assert closing.headings == ("Shop", "Till", "close")


def test_signatures_can_be_left_out() -> None:
    assert all(len(c.spans) == 1 for c in cut(SHOP, "code(size=24, signatures=False)"))


def test_imports_stay_together() -> None:
    assert any("import os\nimport sys\nfrom pathlib import Path" in c.text for c in cut(SHOP, "code(size=12)"))


def test_a_head_is_not_parted_from_what_is_under_it() -> None:
    for size in range(24, 60):
        for c in cut(SHOP, f"code(size={size}, signatures=False)"):
            last = c.text.rstrip().splitlines()[-1]
            assert not last.lstrip().startswith(("def ", "class ", "@")), (size, c.text)


def test_broken_code_loses_nothing_and_says_how_it_was_cut() -> None:
    broken = "def f(:\n    x = = 1\n\n\n" + "]]] ((( what is this\n" * 12 + "\nclass {\n" + SHOP
    assert any(c.meta.get("syntax") == "by indents" for c in cut("]) = ( $ ? ?\n" * 30, "code(size=20)"))
    assert "def sell" in "".join(c.text for c in cut(broken, "code(size=20)"))


def test_an_unknown_language_is_cut_by_indents_and_blank_lines() -> None:
    text = "proc one {\n  first a\n  second b\n}\n\nproc two {\n  third c\n  fourth d\n}\n"
    chunks = chunk(read_text(text, id="x", media_type="text/plain"), "code(size=11, language='tcl')", tokenizer="words")
    assert [c.text.split("\n")[0] for c in chunks] == ["proc one {", "proc two {"]
    assert all(c.meta == {"syntax": "by indents"} for c in chunks)


def test_a_language_can_be_named_for_plain_text() -> None:
    chunks = chunk(read_text(SHOP, id="x", media_type="text/plain"), "code(size=24, language='py')", tokenizer="words")
    assert ("Shop", "buy") in {c.headings for c in chunks}


def test_fences_of_markdown_are_cut_by_their_own_language_and_the_prose_around_by_sentences() -> None:
    text = f"# Guide\n\nRead this first. It matters.\n\n```py\n{SHOP}```\n\nThe end is near. Or not.\n"
    chunks = cut(text, "code(size=34)", "text/markdown")
    assert chunks[0].text.startswith("# Guide\n\nRead this first.")
    inside = next(c for c in chunks if "def buy" in c.text)
    assert inside.text.startswith("```py\nclass Shop(Base):\n    # Bring")
    assert inside.headings == ("Guide", "Shop", "buy")
    assert chunks[-1].text.endswith("The end is near. Or not.")


def test_code_on_one_endless_line_is_cut_between_its_statements() -> None:
    text = "var a=1;" + "".join(f"function f{i}(x){{return x+{i};}}" for i in range(60))
    chunks = chunk(read_text(text, id="x", media_type="text/x-javascript"), "code(size=120)", tokenizer="characters")
    check_chunker(
        chunker("code(size=120)", tokenizer="characters"), read_text(text, id="x", media_type="text/x-javascript")
    )
    assert all(c.text.startswith(("var", "function")) and c.text.endswith("}") for c in chunks)


def test_nesting_without_end_is_no_trouble() -> None:
    for text in ("(" * 20_000, "[" * 9_000 + "]" * 9_000, "x = " + "a + " * 20_000 + "a", "if a:\n" * 500):
        cut(text, "code(size=50)")


def test_what_fits_only_without_its_indent_is_opened() -> None:
    inner = "            widths[i] = max(widths.get(i, 0), term_len(col))\n"
    loop = f"    for row in rows:\n        for i, col in enumerate(row):\n{inner}"
    check_chunker(chunker("code(size=32)", tokenizer="cl100k_base"), read_text(loop, media_type="text/x-python"))
    head, lines = (
        "        def second(self, user, passwd):\n",
        "            self.user = user\n            return passwd\n",
    )
    method, first = head + lines, "        def first(self):\n            pass\n"
    text = f"def outer():\n    prepare(this)\n    class Inner(Base):\n{first}{method}    run(Inner)\n"
    for size in range(25, 70):
        cutter = chunker(f"code(size={size}, signatures=False)", tokenizer="cl100k_base")
        chunks = check_chunker(cutter, read_text(text, media_type="text/x-python"))
        if cutter.budget.tokenizer.count(method.rstrip()) <= size:
            assert any(method.rstrip() in c.text for c in chunks), size


def test_lines_of_one_comment_are_cut_between_them() -> None:
    text = "# Option c, no argument\n# Option c, argument 'more'\n# Option b, argument ' very long '\n"
    check_chunker(
        chunker("code(size=8) | overlap(sentences=1)", tokenizer="cl100k_base"),
        read_text(text, media_type="text/x-bash"),
    )


def test_a_line_after_one_that_is_too_long_is_whole() -> None:
    text = (
        "func (c *Client) connect() (one net.Conn, other net.Conn, err error) {\n\tuconn, err = DefaultSocket.Dial()\n"
    )
    cutter = chunker("code(size=40)", tokenizer="characters")
    chunks = check_chunker(cutter, read_text(text, media_type="text/x-go"))
    assert chunks[-1].text == "\tuconn, err = DefaultSocket.Dial()"
    assert {c.headings for c in chunks} == {("connect",)}  # also where a chunk begins inside the head


SAMPLES = {
    "bash": "one() {\n  echo first word\n  echo second\n}\n\ntwo() {\n  echo third word\n  echo fourth\n}\n",
    "c": "int one(int a) {\n  int b = a;\n  return b;\n}\n\nint *two(int a) {\n  int c = a;\n  return &c;\n}\n",
    "cpp": "class one {\n  int a = 1;\n  int b = 2;\n};\n\nclass two {\n  int c = 3;\n  int d = 4;\n};\n",
    "c_sharp": "class one {\n  int a = 1;\n  int b = 2;\n}\n\nclass two {\n  int c = 3;\n  int d = 4;\n}\n",
    "go": "func one(a int) int {\n\tb := a\n\treturn b\n}\n\nfunc two(a int) int {\n\tc := a\n\treturn c\n}\n",
    "java": "class one {\n  int a = 1;\n  int b = 2;\n}\n\nclass two {\n  int c = 3;\n  int d = 4;\n}\n",
    "javascript": "function one(a) {\n  let b = a;\n  return b;\n}\n\n"
    "function two(a) {\n  let c = a;\n  return c;\n}\n",
    "kotlin": "fun one(a: Int): Int {\n  val b = a\n  return b\n}\n\n"
    "fun two(a: Int): Int {\n  val c = a\n  return c\n}\n",
    "lua": "function one(a)\n  local b = a\n  return b\nend\n\nfunction two(a)\n  local c = a\n  return c\nend\n",
    "php": "<?php\nfunction one($a) {\n  $b = $a;\n  return $b;\n}\n\n"
    "function two($a) {\n  $c = $a;\n  return $c;\n}\n",
    "python": "def one(a):\n    b = a\n    return b + a\n\n\ndef two(a):\n    c = a\n    return c + a\n",
    "ruby": "def one(a)\n  b = a\n  b + 1 + 2\nend\n\ndef two(a)\n  c = a\n  c + 1 + 2\nend\n",
    "rust": "fn one(a: u8) -> u8 {\n  let b = a;\n  b\n}\n\nfn two(a: u8) -> u8 {\n  let c = a;\n  c\n}\n",
    "scala": "class one {\n  val a = 1\n  val b = 2\n}\n\nclass two {\n  val c = 3\n  val d = 4\n}\n",
    "swift": "func one(a: Int) -> Int {\n  let b = a\n  return b\n}\n\n"
    "func two(a: Int) -> Int {\n  let c = a\n  return c\n}\n",
    "tsx": "function one(a: number) {\n  let b = a;\n  return <p/>;\n}\n\n"
    "function two(a: number) {\n  return <b/>;\n}\n",
    "typescript": "interface one {\n  a: number;\n  b: string;\n}\n\ninterface two {\n  c: number;\n  d: string;\n}\n",
}
STRUCTURED = {
    "css": ".one {\n  color: red;\n  width: 1px;\n}\n\n.two {\n  color: blue;\n  width: 2px;\n}\n",
    "html": "<div id='one'>\n  <p>first word</p>\n</div>\n<div id='two'>\n  <p>other word</p>\n</div>\n",
    "json": '{\n  "one": {\n    "a": 1, "b": 2\n  },\n  "two": {\n    "c": 3, "d": 4\n  }\n}\n',
    "sql": "CREATE TABLE one (\n  a INT,\n  b INT\n);\n\nCREATE TABLE two (\n  c INT,\n  d INT\n);\n",
    "toml": "[one]\na = 1\nb = 2\nc = 3\n\n[two]\na = 1\nb = 2\nc = 3\n",
    "yaml": "one:\n  a: 1\n  b: 2\n  c: 3\ntwo:\n  a: 1\n  b: 2\n  c: 3\n",
}


@pytest.mark.parametrize("language", [*SAMPLES, *STRUCTURED])
def test_every_language_is_cut_between_what_it_defines(language: str) -> None:
    text = (SAMPLES | STRUCTURED)[language]
    size = len(text.split()) - 3
    document = Document("x", text, (Block("code", Span(0, len(text)), label=language),))
    chunks = check_chunker(chunker(f"code(size={size})", tokenizer="words"), document)
    second = next(i for i, c in enumerate(chunks) if "two" in c.body.slice(text))
    assert second > 0
    assert "two" in chunks[second].body.slice(text).strip().splitlines()[0]
    assert not any(c.meta for c in chunks), "the grammar took it for broken"
    if language in SAMPLES:
        assert chunks[second].headings == ("two",)


def test_every_language_of_the_readers_has_a_grammar_and_a_sample() -> None:
    assert set(LANGUAGES.values()) == {*SAMPLES, *STRUCTURED} - {"html"}


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    syntax._parser.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_python", None)
    with pytest.raises(MissingExtraError, match=r"chunkwise\[code\]"):
        chunk(read_text(SHOP, media_type="text/x-python"), "code")
    syntax._parser.cache_clear()


def test_no_definition_of_our_own_source_is_cut_that_would_have_fitted() -> None:
    cutter, n_definitions = chunker("code(size=200)", tokenizer="cl100k_base"), 0
    for path in sorted(Path(chunkwise.__file__).parent.rglob("*.py")):
        document = read(path)
        lines, edges = line_spans(document.text), [e for c in check_chunker(cutter, document) for e in c.body]
        cuts = sorted(set(edges))
        for node in ast.walk(ast.parse(document.text)):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            n_definitions += 1
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            text = document.text[lines[first].start : lines[(node.end_lineno or 0) - 1].end].rstrip()
            start = lines[first].start + len(text) - len(text.lstrip())
            following = cuts[bisect_right(cuts, start)] if bisect_right(cuts, start) < len(cuts) else len(document.text)
            is_cut = following < lines[first].start + len(text)
            assert not is_cut or cutter.budget.tokenizer.count(text) > 200, (path.name, node.name)
    assert n_definitions > 500
