"""Translate the letters of the fonts Symbol and Wingdings, which are no Unicode."""

from __future__ import annotations

# Adobe's Symbol encoding from 0x20 and from 0xA1 on. Source: Unicode's mapping ADOBE/symbol.txt.
_SYMBOL_LOW = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\u203eαβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOL_HIGH = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\u23d0\u23af↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
# The signs of Wingdings that documents use in running text.
_WINGDINGS = {
    **dict.fromkeys((0x6C, 0x9F, 0xB7), "•"),
    **dict.fromkeys((0x6E, 0xA7), "▪"),
    **dict.fromkeys((0x6F, 0xA8), "☐"),
    **dict.fromkeys((0xE0, 0xE8), "→"),
    **dict(zip((0x4A, 0x4C, 0xD8, 0xDF, 0xE1, 0xE2, 0xFB, 0xFC, 0xFD, 0xFE), "☺☹➢←↑↓✗✓☒☑", strict=True)),
}


def symbol(code: int, font: str) -> str:
    """Return the Unicode of a letter of a font; empty where it has none."""
    own = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if font.lower().startswith("wingdings"):
        return _WINGDINGS.get(own, "")
    if font.lower() == "symbol":
        low, high = own - 0x20, own - 0xA1
        if 0 <= low < len(_SYMBOL_LOW):
            return _SYMBOL_LOW[low]
        return _SYMBOL_HIGH[high] if 0 <= high < len(_SYMBOL_HIGH) else ""
    return chr(code) if 0x20 <= code < 0xD800 else ""
