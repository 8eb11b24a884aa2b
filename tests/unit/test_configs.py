"""`chunkwise.toml`: what is written is read again, and what is wrong is told by its line."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.chunkers import splitters
from chunkwise.configs import check_config, format_config, read_config, servers, write_config
from chunkwise.core.config import EVIDENCE, Config
from chunkwise.core.errors import ConfigError, RecipeError
from chunkwise.cutting import chunker

PLAIN = [
    "structural(size=200) | context(headings=True)",
    "nest(200, base=structural(), sentences=True)",
    r"recursive(size=60, separators=[r'\s*[;:]\s+', '\n\n', '\x7f', '\"'], regex=True, keep='none')",
    "fixed(size=30, tokenizer='cl100k_base') | overlap(tokens=5)",
    "structural(size=90) | context(llm='http://127.0.0.1:9/v1#\N{LATIN SMALL LETTER O WITH DIAERESIS}')",
]
ROUTES = [
    "route()",
    "route(prose=structural(size=120), table=rows(40)) | context(headings=True)",
    "route(code=route(prose=fixed(size=70)), legal=sentences(size=50) | overlap(sentences=1))",
]
notes = st.lists(st.text(st.characters(), max_size=200), max_size=4)  # half surrogate pairs, too


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chunkwise.toml"


def configs(recipes: Sequence[str]) -> st.SearchStrategy[Config]:
    return st.builds(
        Config,
        recipe=st.sampled_from(recipes),
        retrieval=st.sampled_from(["hybrid()", "lexical() | fold()", "hybrid(fusion='rrf') | mmr() | edges()"]),
        evidence=st.sampled_from(EVIDENCE),
        tokens=st.integers(1, 10**9),
        encoder=st.sampled_from(["", "static", "all-MiniLM-L6-v2", "https://models.example/v1#a \"b\" \\ 'c'"]),
        late=st.booleans(),
        summaries=st.booleans(),
        clean=st.sampled_from(["", "none", "blobs, spaces"]),
    )


def read_text(text: str, path: Path) -> Config:
    path.write_text(text, "utf-8", newline="")
    return read_config(path)


@given(config=configs(PLAIN), notes=notes)
def test_what_is_written_is_read_again(
    config: Config, notes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "chunkwise.toml"
    write_config(config, path, notes=notes)
    assert read_config(path) == config
    assert [entry.name for entry in path.parent.glob("*chunkwise.toml*")] == [path.name]


@given(config=configs(ROUTES), notes=notes)
def test_a_route_is_a_table_and_comes_back_as_the_same_route(
    config: Config, notes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "chunkwise.toml"
    text = format_config(config, notes=notes)
    assert set(tomllib.loads(text)["routes"]) == {"prose", "code", "table", "json", "log", "transcript", "legal"}
    found = read_text(text, path)
    assert chunker(found.recipe) == chunker(config.recipe)
    assert format_config(found, notes=notes) == text


@given(note=st.text(st.characters()))
def test_no_note_can_pass_for_a_line_of_the_config(note: str) -> None:
    config = Config("fixed(size=60)")
    assert tomllib.loads(format_config(config, notes=[note])) == tomllib.loads(format_config(config))


@given(text=st.text(), key=st.sampled_from(["recipe", "retrieval", "encoder", "clean", "evidence"]))
def test_any_string_for_a_value_gives_a_config_or_one_kind_of_error(
    text: str, key: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    table = {"recipe": "fixed(size=60)", key: text}
    quoted = "".join(f"\\U{ord(character):08x}" for character in text)
    lines = [f'{name} = "{quoted if name == key else value}"' for name, value in table.items()]
    try:
        told = getattr(read_text("\n".join(lines), path), key)
    except ConfigError as err:
        told = str(err)
    assert told == text or told.startswith(f"{path}, line {len(lines)}: {key}: ")


@given(content=st.binary(max_size=60))
def test_any_file_gives_a_config_or_one_kind_of_error(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"bytes\.toml"):
        read_config(path)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('recpe = "fixed()"', 1, "recpe: no such key; did you mean 'recipe'?"),
        ('# a\n\nrecipe = "structual()"', 3, "did you mean 'structural'?"),
        ('recipe = "fixed(size=2)"', 1, "recipe: size=2 leaves no room for text"),
        ('recipe = "fixed()"\nretrieval = "hybird()"', 2, "retrieval: no finder 'hybird'; did you mean 'hybrid'?"),
        ('recipe = "fixed()"\n"retrieval" = "edges()"', 2, "no finder 'edges' (it comes after a finder"),
        ('recipe = "fixed()"\nevidence = "asemble"', 2, "did you mean 'assemble'?"),
        ('recipe = "fixed()"\ntokens = 0', 2, "tokens=0 must be a whole number of at least 1; try tokens=800"),
        ('recipe = "fixed()"\ntokens = true', 2, "True must be a whole number, as in tokens = 800"),
        ('recipe = "fixed()"\ntokens = "800"', 2, "'800' must be a whole number"),
        ('recipe = "fixed()"\nlate = "yes"', 2, "late: 'yes' must be true or false"),
        ('recipe = ["fixed()"]', 1, "recipe: ['fixed()'] must be a string, as in recipe ="),
        ('recipe = "fixed()"\nencoder = "all-minilm-l6-v2"', 2, "did you mean 'all-MiniLM-L6-v2'?"),
        ('recipe = "fixed()"\nclean = "blob"', 2, "no step 'blob'; known: controls"),
        ('routes = "fixed()"', 1, "routes: 'fixed()' must be a table"),
        ('recipe = "fixed()"\n[routes]\nprose = "fixed()"', 2, "a recipe is given, too"),
        ("tokens = 5\n[ routes ]", 2, "routes: it is empty; known kinds: prose, code"),
        ('[routes]\nprose = "fixed()"\ntabel = "rows()"', 3, "did you mean 'table'?"),
        ('[routes]\nprose = "fixed()"\ntable = "row()"', 3, "table: no strategy 'row'; did you mean 'rows'?"),
        ("[routes]\nprose = 5", 2, "prose: 5 must be a string, as in prose ="),
        ('[routes]\nprose = "fixed()), code=fixed("', 2, "prose: can't read the recipe"),
        ('[routes]\nprose = "nest(200, 100)"', 1, "routes: route: prose=nest(sizes=(200, 100)) has levels"),
        ("version = 2\nwhatever = 1", 1, "this version of Chunkwise reads 1; run: pip install --upgrade chunkwise"),
        ('version = 0\nrecipe = "fixed()"', 1, "version: 0 must be 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_what_may_be_meant(
    text: str, line: int, words: str, path: Path
) -> None:
    with pytest.raises(ConfigError) as told:
        read_text(text, path)
    assert str(told.value).startswith(f"{path}, line {line}: ")
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "recipe: not there; write recipe ="),
        (b"recipe = structural()", r"is no TOML: .*\(at line 1, column 10\); strings stand in quotes"),
        (b'recipe = "fixed()"\nrecipe = "fixed()"', r"is no TOML: .*\(at "),
        (b"recipe = " + b"[" * 100_000, "is no TOML"),
        (b'recipe = "fixed()"\ntokens = ' + b"9" * 5_000, "is no TOML"),
        (b"#" * 300_000, "has more than 256 KB, which no config has"),
        ("recipe = 'fixed()'".encode("utf-16"), "is not in UTF-8"),
        (b"recipe = 'fixed()'\nreci\\pe = 1", "is no TOML"),
    ],
)
def test_a_hostile_file_is_told_in_a_line(content: bytes, words: str, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        read_config(path)


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere.toml"):
        with pytest.raises(ConfigError, match=r"can't be read: .*; name the file that you mean"):
            read_config(place)


def test_a_file_of_another_editor_is_read(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + b'recipe = "fixed(size=60)"\r\nevidence = "chunks"\r\n')
    assert read_config(path) == Config("fixed(size=60)")


def test_a_config_imports_nothing(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strangers.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for text in (
        "recipe = \"external('strangers:cut')\"",
        "[routes]\nprose = \"external('strangers:cut')\"",
        "recipe = \"nest(200, base=structural()) | external('strangers:cut')\"",
    ):
        with pytest.raises(ConfigError):
            read_text(text, path)
    assert "strangers" not in sys.modules
    with pytest.raises(ConfigError, match=r"line 1: recipe: nothing is imported .* 'os:system'.*--load os"):
        read_text("recipe = \"external('os:system')\"", path)
    assert "os:system" not in splitters._known


def test_a_splitter_that_is_known_may_be_named(path: Path) -> None:
    splitters.custom_splitter("of the house", str.splitlines)
    assert read_text("recipe = \"external('of the house')\"", path).recipe == "external('of the house')"


def test_a_config_that_could_not_be_read_is_not_written(path: Path) -> None:
    path.write_text("what was there")
    for config in (Config("structual()"), Config("fixed()", retrieval="hybird()"), Config("fixed()", clean="\udc80")):
        with pytest.raises(chunkwise.ChunkwiseError):
            write_config(config, path)
    assert path.read_text() == "what was there"


def test_servers_are_found_however_they_are_written() -> None:
    def named(recipe: str = "fixed()", retrieval: str = "hybrid()", encoder: str = "") -> list[str]:
        config = Config(recipe, retrieval, encoder=encoder)
        check_config(config)
        return servers(config)

    assert named() == named(encoder="static") == named(encoder="http://localhost:8080/v1#m") == []
    assert named(encoder="HTTPS://Models.example/v1#m") == ["HTTPS://Models.example/v1"]
    assert named(r"structural() | context(llm='\x68ttps://a.example/v1#m')") == ["https://a.example/v1"]
    assert named("scored(encoder='ht' 'tp://b.example/v1#m')") == ["http://b.example/v1"]
    assert named(retrieval="hybrid() | rerank('llm:http://c.example/v1#m')") == ["http://c.example/v1"]
    assert named("route(json=scored(encoder='http://localhost.d.example/v1#m'))") == ["http://localhost.d.example/v1"]


def test_a_config_refuses_a_budget_that_is_none() -> None:
    for tokens in (0, -1, True, 1.5, "800", None):
        with pytest.raises(RecipeError, match=r"must be a whole number of at least 1; try tokens=800"):
            Config("fixed()", tokens=tokens)  # type: ignore[arg-type]


def test_a_label_tells_what_is_not_as_usual() -> None:
    assert Config("fixed()").label == "fixed()"
    assert Config("fixed()", evidence="assemble-fine", retrieval="lexical()").label == "fixed() -> assemble fine"
    whole = Config("fixed()", "lexical()", encoder="static", late=True, clean="none")
    assert whole.label == "fixed() -> lexical() -> static -> late -> clean=none"
    assert (whole.asked, Config("fixed()", evidence="assemble").asked) == (
        "lexical(), 800 tokens",
        "assemble, 800 tokens",
    )
