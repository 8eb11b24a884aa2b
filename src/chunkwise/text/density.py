"""How much of a text carries information: the share of its words that are numbers, names or long.

Lexical density is the share of words with a meaning of their own (Ure 1971). Without a lexicon, in any
language, a word's length tells most: length grows with how much a word says (Piantadosi, Tily and
Gibson 2011, doi:10.1073/pnas.1012551108). Numbers and names are short and say much, so they count, too.
"""

from __future__ import annotations

import regex

from chunkwise.text.words import UNSPACED

# Of so many characters a word is long: about one in five of running English is.
_LONG = 8
# After one of these a capital is that of a sentence, not of a name.
_STOPS = (".", "!", "?", ":", "\u2026")

_UNSPACED = regex.compile(rf"[{UNSPACED}]")
_DIGIT = regex.compile(r"\d")


def density(text: str, start: int, end: int) -> float:
    """Return the share of the words of `text[start:end]` that tell something, from 0 to 1; 0 without words.

    In scripts without spaces every character is a word, so that numbers and foreign words alone count.
    Cost: about 100 microseconds for 1,000 characters.

    >>> density("It was so. In 1969 Armstrong came to it.", 0, 40)
    0.2222222222222222
    """
    n_words = n_telling = 0
    opens = True
    for word in text[start:end].split():
        unspaced = 0 if word.isascii() else len(_UNSPACED.findall(word))
        n_words += max(unspaced, 1)
        bare = word.lstrip("\"'([*_\u201c\u00ab")
        named = bare[:1].isupper() and not opens
        numbered = not word.isalpha() and _DIGIT.search(word) is not None
        n_telling += named or numbered or (not unspaced and len(word) >= _LONG)
        opens = word.endswith(_STOPS)
    return n_telling / n_words if n_words else 0.0
