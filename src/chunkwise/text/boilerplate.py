"""Lines that belong to a page or a site, not to the text on it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from chunkwise.core.types import Span

_LINE = re.compile(r"(?P<line>[^\r\n\f]+)(?:\r\n|\n|\r)?")
# A link in Markdown, a list's mark, arrows and bullets around the words.
_LINK = re.compile(r"\[(?P<words>[^\[\]]*)\]\([^()\s]*\)")
_AROUND = " \t\u00a0>*+-•·|→←↑↓⇧▲»«›‹^:.!…"

# In characters. A longer line is text, whatever it begins with.
_LONGEST = 400
# What a whole line of nothing else says, in lower case. No single word that may be a title or an answer of its own.
_SAID = frozenset(
    """
    skip to content|skip to main content|skip to the content|skip navigation|skip to navigation|skip to search
    jump to content|jump to navigation|jump to main content|jump to search|toggle navigation|toggle menu
    back to top|return to top|go to top|scroll to top|top of page|back to the top|print this page|email this page
    share this|share this page|share this article|share this post|share this story|share on facebook|share on twitter
    share on x|share on linkedin|share on whatsapp|share via email|tweet this|continue reading|read the full article
    click to share on facebook (opens in new window)|click to share on twitter (opens in new window)
    accept cookies|accept all cookies|cookie settings|cookie preferences|manage cookies|reject all cookies
    zum inhalt springen|zum hauptinhalt springen|direkt zum inhalt|zur navigation springen|navigation überspringen
    nach oben|zurück zum anfang|zum seitenanfang|artikel teilen|seite drucken|alle cookies akzeptieren
    aller au contenu|aller au contenu principal|passer au contenu|passer au contenu principal|haut de page
    retour en haut|retour en haut de page|partager cet article|imprimer cette page|tout accepter|accepter les cookies
    saltar al contenido|saltar al contenido principal|ir al contenido|ir al contenido principal|volver arriba
    compartir este artículo|imprimir esta página|aceptar cookies|aceptar todas las cookies
    vai al contenuto|vai al contenuto principale|salta al contenuto|torna su|torna all'inizio|condividi questo articolo
    pular para o conteúdo|ir para o conteúdo|saltar para o conteúdo|voltar ao topo|compartilhe este artigo
    naar de inhoud|ga naar de inhoud|naar hoofdinhoud|terug naar boven|deel dit artikel
    przejdź do treści|przejdź do głównej treści|powrót na górę|hoppa till innehåll|til toppen|gå til hovedindhold
    перейти к содержанию|перейти к содержимому|перейти к основному содержанию|наверх|вернуться наверх
    コンテンツへスキップ|本文へスキップ|メインコンテンツへスキップ|ページの先頭へ|ページトップへ|ページトップへ戻る
    跳到主要内容|跳至内容|跳转到内容|跳到內容|返回顶部|回到顶部|回到頂部|본문 바로가기|본문으로 건너뛰기|맨 위로
    """.replace("\n", "|")
    .replace("|    ", "|")
    .split("|")
) - {""}
_PAGE_COUNT = re.compile(
    r"(?:page|seite|página|pagina|pág\.?|strona|sida|side|страница|стр\.)\s{1,3}\d{1,5}\s{0,3}"
    r"(?:of|von|sur|de|di|van|z|av|af|из|/)\s{0,3}\d{1,5}"
    r"|第?\s?\d{1,5}\s?[页頁ページ]{1,3}\s?[/／(（,，共]{1,2}\s?\d{1,5}\s?[页頁ページ)）]{1,4}"
)
# A trail of links begins with the first page, and has an arrow between its parts.
_TRAIL = re.compile(
    r"(?:you are here:?\s|sie sind hier:?\s|vous êtes ici\s?:?\s)?\s{0,3}"
    r"(?:home|homepage|startseite|accueil|inicio|início|pagina iniziale|strona główna|главная|ホーム|首页|首頁|홈)"
    r"(?:\s{0,3}[>»›→]\s{0,3}[^>»›→]{1,80}){1,12}"
)
# Both that cookies are used and that the reader agrees: a text about cookies says the one or the other.
_COOKIES = re.compile(
    r"(?:(?:we|this (?:web)?site|our (?:web)?site) uses? cookies|wir (?:verwenden|nutzen|setzen) (?:\w+ )?cookies"
    r"|diese (?:web)?seite (?:verwendet|nutzt) cookies|nous utilisons des cookies|ce site utilise des cookies"
    r"|utilizamos cookies|este sitio (?:web )?(?:utiliza|usa) cookies|questo sito (?:utilizza|usa) (?:i )?cookie"
    r"|usamos cookies|deze (?:web)?site gebruikt cookies)\b.{0,300}?"
    r"(?:by (?:continuing|using|clicking|closing)|you (?:agree|consent|accept)|accept all|got it"
    r"|durch die (?:weitere )?nutzung|stimmen sie|einverstanden|en poursuivant|vous acceptez|al continuar|acepta"
    r"|continuando|accett|ao continuar|aceita|akkoord)"
)

# A line stands in this many documents at least, and in this share of them, before it belongs to all of them. Short
# ones ("Yes", "Total") and long ones are text.
_FEWEST_DOCUMENTS, _SHARE = 3, 0.5
_SHORTEST_REPEATED, _LONGEST_REPEATED = 8, 200
# How many different lines are counted. Above it, those in less than an eighth of the documents so far are forgotten, as
# in lossy counting (Manku & Motwani 2002, doi:10.1016/B978-155860869-6/50038-X): one may be missed, none is made up.
_MOST_COUNTED, _RARE = 1 << 20, 1 / 8


def navigation(text: str) -> list[Span]:
    r"""Return the lines, with their breaks, that lead about a site: to a page's top or text, trails, consent, counts.

    >>> navigation("Skip to content\nPumps\nPage 3 of 12")
    [Span(start=0, end=16), Span(start=22, end=34)]
    """
    return [span for line, span in _lines(text) if len(line) <= _LONGEST and _is_navigation(line)]


def repeated(texts: Iterable[tuple[str, Collection[str]]]) -> frozenset[str]:
    """Return the lines that stand in most of these texts; with each text come lines of it that do not count.

    A line is given without the blanks around it, and with one for each run inside.
    """
    counts: Counter[str] = Counter()
    n_texts = 0
    for text, apart in texts:
        n_texts += 1
        counts.update({line for line, _ in _lines(text) if _may_repeat(line)}.difference(apart))
        if len(counts) > _MOST_COUNTED:
            rare = max(1, _RARE * n_texts)
            counts = Counter({line: count for line, count in counts.items() if count > rare})
    fewest = max(_FEWEST_DOCUMENTS, _SHARE * n_texts)
    return frozenset(line for line, count in counts.items() if count >= fewest)


def standing(text: str, lines: Collection[str]) -> list[Span]:
    """Return where these lines stand in a text, with their breaks."""
    return [span for line, span in _lines(text) if line in lines]


def _lines(text: str) -> Iterator[tuple[str, Span]]:
    for match in _LINE.finditer(text):
        line = " ".join(match["line"].split())
        if line:
            yield line, Span(*match.span())


def _may_repeat(line: str) -> bool:
    return _SHORTEST_REPEATED <= len(line) <= _LONGEST_REPEATED and any(map(str.isalpha, line))


def _is_navigation(line: str) -> bool:
    words = _LINK.sub(r"\g<words>", line).strip(_AROUND).lower()
    if words in _SAID or _TRAIL.fullmatch(words):
        return True
    return _PAGE_COUNT.fullmatch(words) is not None or _COOKIES.match(words) is not None
