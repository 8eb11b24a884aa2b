"""Numbers as lists write them, in Roman numerals or letters, and as powers are written."""

from __future__ import annotations

from chunkwise.core.cells import column_name

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
# Roman numerals end there.
_MOST_ROMAN = 3999

_RAISED = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_UNRAISED = frozenset(chr(code) for code in _RAISED)


def raised(text: str) -> str:
    """Return a text as it is written above the line, so that a power is no digit more; as it is if it has no such form.

    >>> "10" + raised("6"), "m" + raised("-2"), "4" + raised("th")
    ('10⁶', 'm⁻²', '4th')
    """
    return text.translate(_RAISED) if _UNRAISED.issuperset(text) else text


def roman(number: int) -> str:
    """Return a number in lower-case Roman numerals; empty where they can't write it.

    >>> roman(14), roman(4000)
    ('xiv', '')
    """
    if not 0 < number <= _MOST_ROMAN:
        return ""
    written = ""
    for worth, sign in _ROMAN:
        count, number = divmod(number, worth)
        written += sign * count
    return written


def letters(number: int) -> str:
    """Return a number from 1 in lower-case letters, as the columns of a sheet are counted; empty for a smaller one.

    >>> letters(2), letters(28)
    ('b', 'ab')
    """
    return column_name(number - 1).lower() if number > 0 else ""
