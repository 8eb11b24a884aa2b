"""Bring an index up to date: what a run has seen, cut and not yet stored, and what it says of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from chunkwise.chunkers.external import faults
from chunkwise.chunkers.nest import Nest
from chunkwise.core.errors import EncodeError
from chunkwise.core.leaves import leaves
from chunkwise.core.parsing import capped
from chunkwise.core.protocols import Chunker, Encoder, Entry, Floats2d, Tokenizer
from chunkwise.core.recipes import numbered
from chunkwise.core.types import FAULTS, Chunk, Document
from chunkwise.embed import takes
from chunkwise.embed.cache import Keeping, cached_if_possible
from chunkwise.embed.late import late as late_chunking
from chunkwise.noting import located, with_gaps, with_units
from chunkwise.readers.read import NOTES, Skip, doubts
from chunkwise.text.huggingface import HuggingFace, unknown_share
from chunkwise.transforms.summaries import summaries

# In characters: what is looked at to tell whether an encoder knows a script; and the share of it that it may not know.
# Of xquad's articles all-MiniLM-L6-v2 does not know 0 of English and Arabic, .16 of Hindi in the median (.27 at most)
# and .57 of Chinese (.39 at least). Of a text in Thai, Lao, Khmer or Amharic it knows nothing.
_JUDGED_BY, _MOST_UNKNOWN = 1000, 0.33

Embed = Callable[[Sequence[tuple[Document, Sequence[Chunk]]]], Floats2d]
"""Return the vectors of the chunks of some documents, one after the other."""


@dataclass(frozen=True, slots=True)
class Added:
    """What `Index.add` did: ids of documents, and files passed over with the reason."""

    added: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: tuple[Skip, ...]
    n_chunks: int
    notes: tuple[str, ...]


class Update:
    """What one run of `add` has seen so far, and the documents that wait to be stored."""

    def __init__(
        self,
        stored: Mapping[str, tuple[str, str]],
        cut: Keeping,
        *,
        encoder: Encoder,
        embed: Embed,
        summaries: bool = False,
    ) -> None:
        self._stored = stored
        self._cut = cut
        self._encoder = encoder
        self._embed = embed
        self._summaries = summaries
        self._seen: dict[str, str] = {}
        self._waiting: list[tuple[Document, str, tuple[Chunk, ...]]] = []
        self._added: list[str] = []
        self._unchanged: list[str] = []
        self._skipped: list[Skip] = []
        self._notes: list[str] = []
        self._unread: list[str] = []
        self.emptied: list[str] = []
        self.n_waiting = 0
        self._n_chunks = 0

    def take(self, result: Document | Skip) -> None:
        """Cut a document, if it is new or changed, and let it wait."""
        if isinstance(result, Skip):
            self._skipped.append(result)
            if result.location and self._stored.get(result.id, ("", ""))[1] == result.location:
                self.emptied.append(result.id)  # what it held is no longer there
            return
        if (rival := self._rival(result)) is not None:
            reason = f"its id is already that of {rival}; index a folder above both"
            self._skipped.append(Skip(result.id, reason))
            return
        self._seen[result.id] = result.source
        fingerprint = _fingerprint(result)
        before, source = self._stored.get(result.id, ("", ""))
        moved = source != result.source and not os.path.exists(source)  # where it is now must be known
        if before == fingerprint and not moved:
            self._unchanged.append(result.id)
            return
        self._notes += doubts(result)
        self._unread += [result.id] if _is_unknown(result, self._encoder) else []
        cut = tuple(self._cut(result))
        chunks = with_gaps(with_summaries(cut, result, self._cut.chunker) if self._summaries else cut, result)
        chunks = located(with_units(chunks, self._cut.chunker.outlined(result)), result)
        _check_fits(_leaves(chunks), self._encoder, counted_by=self._cut.chunker.budget.tokenizer)
        self._notes += _failures(result.id, chunks) + _faults(result.id, chunks, self._encoder)
        self._waiting.append((result, fingerprint, chunks))
        self.n_waiting += len(chunks)

    @property
    def waiting(self) -> Iterator[Chunk]:
        """The chunks of the documents that wait."""
        return (chunk for _, _, chunks in self._waiting for chunk in chunks)

    def entries(self) -> list[Entry]:
        """Embed what waits, and hand it over."""
        embedded = [(document, _leaves(chunks)) for document, _, chunks in self._waiting]
        parts = iter(np.split(self._embed(embedded), np.cumsum([len(own) for _, own in embedded])))
        entries = []
        for document, fingerprint, chunks in self._waiting:
            vectors = pooled(chunks, next(parts))
            self._n_chunks += len(chunks)
            told = {name: value for name, value in document.meta.items() if name not in NOTES}
            meta = {"media_type": document.media_type, **told}
            entries.append(Entry(document.id, fingerprint, document.source, chunks, vectors, meta))
            self._added.append(document.id)
        self._waiting, self.n_waiting = [], 0
        return entries

    def report(self, gone: Sequence[str], notes: tuple[str, ...]) -> Added:
        """Say what was done."""
        return Added(
            added=tuple(self._added),
            unchanged=tuple(self._unchanged),
            removed=tuple(gone),
            skipped=tuple(self._skipped),
            n_chunks=self._n_chunks,
            notes=(*notes, *self._notes, *_unread_note(self._unread, self._encoder)),
        )

    def _rival(self, document: Document) -> str | None:
        """Return another file that has the same id, if there is one."""
        for source in (self._seen.get(document.id), self._stored.get(document.id, ("", ""))[1]):
            if source and source != document.source and os.path.exists(source):
                return source
        return None


def fitted(cut: Chunker, encoder: Encoder) -> tuple[Chunker, tuple[str, ...]]:
    """Lower a recipe's size to what the encoder takes, and say so."""
    size = cut.leaf_budget.size
    if cut.budget.tokenizer.name != encoder.tokenizer.name or size <= encoder.max_tokens:
        return cut, ()
    lower = capped(cut, encoder.max_tokens)
    return lower, (f"size={size} is more than {encoder.name} takes, which is {encoder.max_tokens}; cut by {lower!r}",)


def description(
    cut: Chunker, encoder: Encoder, *, dim: int, late: bool = False, summaries: bool = False
) -> dict[str, Any]:
    """Return what an index remembers of how it was made."""
    return {
        "recipe": repr(cut),
        "encoder": encoder.name,
        "fingerprint": encoder.fingerprint,
        "dim": dim,
        "late": late,
        "summaries": summaries,
        "levels": n_levels(cut) + summaries,
        "level": searched_level(cut),
        "tokenizer": cut.budget.tokenizer.name,
    }


def embedding(
    encoder: Encoder, cache: str | os.PathLike[str] | None, *, late: bool = False
) -> tuple[Embed, tuple[str, ...]]:
    """Return what embeds the chunks of documents, and what there is to say about it."""
    keeping, doubt = cached_if_possible(encoder, cache)
    return late_chunking(keeping).each if late else partial(embedded, keeping), doubt


def embedded(encoder: Encoder, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> Floats2d:
    """Embed each chunk by itself; of one by a splitter of others that is too long, the beginning."""
    return encoder([_taken(encoder, chunk) for _, chunks in documents for chunk in chunks], role="passage")


def n_levels(cut: Chunker) -> int:
    """Return how many levels of chunks a recipe makes."""
    return len(cut.sizes) + cut.sentences if isinstance(cut, Nest) else 1


def with_summaries(chunks: Sequence[Chunk], document: Document, cut: Chunker) -> tuple[Chunk, ...]:
    """Add summaries of a document's sections, as a level of their own behind those of the cut."""
    own = [chunk if "level" in chunk.meta else replace(chunk, meta={**chunk.meta, "level": 0}) for chunk in chunks]
    found = summaries(document, budget=cut.leaf_budget)
    coarse = [replace(chunk, meta={**chunk.meta, "level": n_levels(cut)}) for chunk in found]
    return tuple(numbered([*own, *coarse]))  # a short section is its own summary


def searched_level(cut: Chunker) -> int:
    """Return the level that a plain search ranks: the smallest chunks, or those around the sentences of a ladder."""
    return len(cut.sizes) - 1 if isinstance(cut, Nest) else 0


def pooled(chunks: Sequence[Chunk], leaf_vectors: Floats2d) -> Floats2d:
    """Return the vectors of all chunks of a hierarchy, [n_chunks, dim], given those of the chunks without children.

    A parent's is the mean of its children's, each as often as it has tokens, at unit length. Parents come first.
    """
    of_leaf = {position: row for row, position in enumerate(leaves(chunks))}
    if len(of_leaf) == len(chunks):
        return leaf_vectors
    place = {chunk.id: row for row, chunk in enumerate(chunks)}
    sums = np.zeros((len(chunks), leaf_vectors.shape[1]), np.float64)
    for row in range(len(chunks) - 1, -1, -1):
        chunk = chunks[row]
        if row in of_leaf:
            sums[row] = chunk.token_count * leaf_vectors[of_leaf[row]].astype(np.float64)
        if chunk.parent in place and not chunk.is_derived:
            sums[place[chunk.parent]] += sums[row]
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    vectors = (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    vectors[list(of_leaf)] = leaf_vectors  # as the encoder gave them, to the last bit
    return vectors


def _leaves(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks that no other is cut from; of a hierarchy, only these are embedded."""
    return tuple(chunks[i] for i in leaves(chunks))


def _failures(document_id: str, chunks: Sequence[Chunk]) -> list[str]:
    """Say how many chunks a language model was asked about in vain, and why the first."""
    failed = [str(chunk.meta["context_failed"]) for chunk in chunks if "context_failed" in chunk.meta]
    if not failed:
        return []
    return [f"{document_id}: no context of the language model for {len(failed)} of {len(chunks)} chunks: {failed[0]}"]


def _faults(document_id: str, chunks: Sequence[Chunk], encoder: Encoder) -> list[str]:
    """Say what is wrong with the chunks of a splitter of others."""
    told = [f"{kind} {number}" for kind, number in sorted(faults(chunks).items())]
    n_cut = sum(FAULTS in chunk.meta and not takes(encoder, chunk.embed_text) for chunk in chunks)
    told += [f"longer than {encoder.name} takes, so that the vector is of the beginning, {n_cut}"] if n_cut else []
    return [f"{document_id}: faults of the splitter, in chunks of {len(chunks)}: {'; '.join(told)}"] if told else []


def _taken(encoder: Encoder, chunk: Chunk) -> str:
    """Return what an encoder is given of a chunk. Only those of others may be too long: they are not ours to cut."""
    text = chunk.embed_text
    if FAULTS not in chunk.meta or takes(encoder, text):
        return text
    end = encoder.tokenizer.measure(text).fit(0, encoder.max_tokens - encoder.tokenizer.n_special)
    while not takes(encoder, text[:end]):  # a look-up may err by a few tokens
        end -= 1
    return text[:end]


def _is_unknown(document: Document, encoder: Encoder) -> bool:
    """Tell whether the encoder has no tokens for much of a text, judged by its beginning."""
    counter = encoder.tokenizer
    beginning = document.text[:_JUDGED_BY]
    return isinstance(counter, HuggingFace) and unknown_share(counter.name, beginning) > _MOST_UNKNOWN


def _unread_note(ids: Sequence[str], encoder: Encoder) -> list[str]:
    """Say which documents are in a script that the encoder does not know."""
    if not ids:
        return []
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return [
        f"{ids[0]}{more}: much of the text is in words that {encoder.name} does not know; its vectors tell little of "
        "them, and each counts as one token, however long. Take an encoder for the language, or search by words alone"
    ]


def _check_fits(chunks: Sequence[Chunk], encoder: Encoder, *, counted_by: Tokenizer) -> None:
    """Refuse chunks that the encoder would truncate, before anything is embedded. Its own counts are believed."""
    alike = counted_by.name == encoder.tokenizer.name
    for i, chunk in enumerate(chunks):
        fits = FAULTS in chunk.meta or (alike and chunk.token_count <= encoder.max_tokens)
        if not fits and not takes(encoder, chunk.embed_text):
            count = encoder.tokenizer.count(chunk.embed_text)
            raise EncodeError(
                f"{chunk.document_id}, chunk {i}: {count} tokens of {encoder.name}, which takes {encoder.max_tokens}; "
                f"let the recipe count with tokenizer={encoder.tokenizer.name!r}, or lower its size"
            )


def _fingerprint(document: Document) -> str:
    """Hash all that a chunk of the document depends on."""
    content = repr((document.text, document.blocks, document.media_type, sorted(document.meta.items())))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
