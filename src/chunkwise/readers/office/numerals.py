"""Write a number the way a list counts: 3, iii, C, 三."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.text.numerals import roman

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"  # without the letters that Word leaves out of its lists
_HAN = "〇一二三四五六七八九"
# Word repeats a letter to count beyond the alphabet (aa, bb, ...). Nobody reads more of them than that.
_MOST_LETTERS = 5


def numeral(number: int, form: str) -> str:
    """Return a number in one of the forms of ECMA-376 (17.18.59, ST_NumberFormat); as a decimal in any other.

    What a form can't count, such as Roman zero, is a decimal, too.
    """
    if form not in _FORMS or number < 1:
        return f"{number:02d}" if form == "decimalZero" else str(number)
    return _FORMS[form](number) or str(number)


def _letters(alphabet: str) -> Callable[[int], str]:
    def form(number: int) -> str:
        times, index = divmod(number - 1, len(alphabet))
        return alphabet[index] * (times + 1) if times < _MOST_LETTERS else ""

    return form


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def _han(number: int) -> str:
    """Count in Chinese up to 99, as lists do."""
    tens, ones = divmod(number, 10)
    if tens > 9:
        return ""
    return ("" if tens < 2 else _HAN[tens]) + ("十" if tens else "") + (_HAN[ones] if ones else "")


def _circled(number: int) -> str:
    return chr(ord("①") + number - 1) if number <= 20 else ""


_FORMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02d}",
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "lowerLetter": _letters(_LATIN),
    "upperLetter": _letters(_LATIN.upper()),
    "russianLower": _letters(_RUSSIAN),
    "russianUpper": _letters(_RUSSIAN.upper()),
    "ordinal": _ordinal,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "chineseCounting": _han,
    "chineseCountingThousand": _han,
    "ideographDigital": lambda number: "".join(_HAN[int(digit)] for digit in str(number)),
    "japaneseCounting": _han,
    "koreanCounting": _han,
    "taiwaneseCounting": _han,
    "taiwaneseCountingThousand": _han,
}
