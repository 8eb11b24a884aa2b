"""Numbers and names of statements, in a form in which they compare."""

from __future__ import annotations

import pytest

from chunkwise.evaluate.details import Known, names, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It has 1,000 parts, 2.50 m", ["1000", "2.5"]),
        ("10 000 und 3,5", ["10", "0", "3.5"]),
        ("10\u00a0000 km", ["10000"]),
        ("\u0661\u0662 and \u096a", ["12", "4"]),  # Arabic-Indic, Devanagari
        ("在1936年", ["1936"]),
        ("و1936", ["1936"]),
        ("HCoV-OC43, COVID-19 and H5N1", []),
        ("the 3rd of 16, 5mg in 1990s", ["3", "16", "5", "1990"]),
        ("2003-2004", ["2003", "2004"]),
        ("four of Twenty-One, thirty", ["4", "21", "30"]),
        ("007 and 0.0", ["7", "0"]),
        ("1.2.3", ["1.2.3"]),
        ("fourteen tenants attend one of them", ["14"]),
    ],
)
def test_numbers_are_found_and_made_alike(text: str, found: list[str]) -> None:
    assert sorted(numbers(text)) == sorted(found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Yesterday Jared Allen met the WHO. He left.", ["Jared", "Allen", "WHO"]),
        ("The virus HCoV-OC43 and mRNA", ["HCoV-OC43", "mRNA"]),
        ("SARS is one.", ["SARS"]),
        ("Вчера Иван встретил Машу.", ["Иван", "Машу"]),
        ("Der Hund frisst das Brot der Frau mit der NATO und ist nicht am Tisch.", ["NATO"]),
        ("约什在 NFL 和 abc 打球", ["NFL"]),
        ("カロライナのチーム", ["カロライナ", "チーム"]),
        ("cats eat fish", []),
    ],
)
def test_names_are_found_as_each_script_writes_them(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_names_are_known_by_their_parts_their_hyphens_and_what_letters_stand_for() -> None:
    known = Known("The World Health Organization named HCoV\u2010HKU1. Sir Martin Luther came.")
    for name in ("WHO", "HCoV-HKU1", "HKU1-HCoV", "martin", "LUTHER"):
        assert not known.lacks_name(name), name
    for name in ("NATO", "HKU2", "Martinez", "Luth"):
        assert known.lacks_name(name), name


def test_a_number_is_known_in_any_way_to_write_it() -> None:
    known = Known("one, four hundred of 1,500 or \u0663")
    assert not any(map(known.lacks_number, numbers("1, 4, 1500 and 3")))
    assert known.lacks_number("15")
