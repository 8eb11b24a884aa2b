"""The documents that a set of queries is about, by id, and where evidence stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Document, Evidence, Span
from chunkwise.evaluate.gold import Cited, GoldError
from chunkwise.evaluate.locate import Places, is_short, nearest
from chunkwise.evaluate.passages import Passages, plain_words
from chunkwise.evaluate.query_files import LONG, QUOTED

# In characters: how far a short excerpt may stand from where it is said to. A byte order mark, which some tools count
# and a document does not have, is one; a heading that is put in front is more, and then the excerpt has to be longer.
_NEAR = 16

_NARROW = "give more of the sentence, or its document, or the sentence under `within`"


class Corpus:
    """Documents with ids of their own. Raises: ChunkwiseError if there are none, or two of one id."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents: dict[str, Document] = {}
        for document in documents:
            if (other := self._documents.get(document.id)) is not None:
                places = " and ".join(filter(None, (other.source, document.source)))
                raise ChunkwiseError(
                    f"two documents of one name, {document.id}{f' ({places})' if places else ''}; "
                    "give the folder above both, so that their paths tell them apart"
                )
            self._documents[document.id] = document
        if not self._documents:
            raise ChunkwiseError("there are no documents to look for evidence in; name files or a folder of them")
        self._places = {id: Places(document.text) for id, document in self._documents.items()}

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def documents(self) -> Sequence[Document]:
        """The documents, as they were given."""
        return list(self._documents.values())

    @property
    def texts(self) -> dict[str, str]:
        """The text of each document, by its id."""
        return {id: document.text for id, document in self._documents.items()}

    @cached_property
    def passages(self) -> Passages:
        """The sentences of the documents, found by their words as they are written."""
        return Passages(self.documents, words=plain_words)

    def quote(self, evidence: Evidence) -> str:
        """Return the text of a piece of evidence."""
        return evidence.span.slice(self._documents[evidence.document_id].text)

    def place(self, cited: Cited) -> tuple[list[Evidence], str]:
        """Return where a piece of evidence stands, as alternatives, and what a person should know of that, if anything.

        Raises: GoldError.
        """
        ids = [self._named(cited.document)] if cited.document else list(self._documents)
        if cited.span is not None:
            return self._spanned(cited, cited.span, ids[0])
        if cited.within:
            found = self._inside(cited, ids)
        else:
            found = [Evidence(id, span) for id in ids for span in self._places[id].of(cited.text)]
        if not found:
            where = f"in {cited.document}" if cited.document else "in any document"
            raise GoldError(f"the excerpt is not {where}: {brief(cited.text)}", lost=cited.within or cited.text)
        if len(found) > 1 and is_short(cited.text):
            raise GoldError(f"the excerpt stands in {len(found)} places: {brief(cited.text)}", _NARROW)
        if len(found) > 1:
            return found, f"{brief(cited.text)} stands in {len(found)} places, any of which counts"
        same = self.quote(found[0]) == cited.text
        return found, "" if same else f"{brief(cited.text)} is not verbatim, and was found all the same"

    def _spanned(self, cited: Cited, span: Span, id: str) -> tuple[list[Evidence], str]:
        """Return a span whose text is as it is cited, or where that stands nearest."""
        text = self._documents[id].text
        there = span.slice(text)
        if not cited.text:
            if span.end > len(text) or not there.strip():
                remedy = "count from 0 in the text that `chunkwise read` writes, or give the text there under `text`"
                raise GoldError(f"no text from {span.start} to {span.end} of {id}, which has {len(text):,}", remedy)
            return [Evidence(id, span)], f"the span at {span.start} of {id} has no `text` to verify it by"
        # Long evidence is quoted by its beginning.
        begins = span.length > LONG and QUOTED - _NEAR <= len(cited.text) <= QUOTED
        whole = there.strip() == cited.text
        if whole or (begins and span.end <= len(text) and there.lstrip().startswith(cited.text)):
            return [Evidence(id, span)], ""
        found = self._places[id].of(cited.text)
        if not found:
            raise GoldError(f"{brief(cited.text)} is not at {span.start} of {id}, nor elsewhere in it", lost=cited.text)
        moved = nearest(found, span.start)
        shift = moved.start - span.start
        if len(found) > 1 and is_short(cited.text) and abs(shift) > _NEAR:
            problem = f"{brief(cited.text)} is not at {span.start} of {id}, but in {len(found)} other places"
            raise GoldError(problem, _NARROW)
        end = min(len(text), moved.start + span.length) if begins else moved.end
        where = f"is {shift:+} characters from where it is said to be" if shift else "is not verbatim"
        return [Evidence(id, Span(moved.start, end))], f"{brief(cited.text)} {where}, and was found all the same"

    def _inside(self, cited: Cited, ids: Sequence[str]) -> list[Evidence]:
        """Return where an excerpt stands within a longer one."""
        found: list[Evidence] = []
        for id in ids:
            for around in self._places[id].of(cited.within):
                spans = self._places[id].of(cited.text)
                found += [Evidence(id, span) for span in spans if around.start <= span.start and span.end <= around.end]
        return list(dict.fromkeys(found))

    def _named(self, name: str) -> str:
        """Return the id of a document that is named by it, or by the end of its path.

        Raises: GoldError.
        """
        if name in self._documents:
            return name
        ending = [id for id in self._documents if id.endswith("/" + name.removeprefix("./"))]
        if len(ending) == 1:
            return ending[0]
        if ending:
            raise GoldError(f"two documents of one name, {ending[0]} and {ending[1]}", "write the path as it is here")
        close = get_close_matches(name, self._documents, 1)
        raise GoldError(
            f"no document {name!r}", f"did you mean {close[0]!r}?" if close else "leave out `document`, or check PATH"
        )


def brief(text: str) -> str:
    """Return the beginning of a text on one line, quoted."""
    line = " ".join(text.split())
    return f"{line[:80]!r}" + ("..." if len(line) > 80 else "")
