"""From a folder to an index to hits: read, chunk, embed, store, search."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, get_args

import chunkwise.retrieve  # registers finders, steps and rerankers
from chunkwise.chunkers.splitters import stored
from chunkwise.configs import CONFIG_FILE, check_config, read_config
from chunkwise.core.config import Config
from chunkwise.core.errors import ChunkwiseError, RecipeError, StoreError
from chunkwise.core.parsing import parse, retriever, with_tokenizer
from chunkwise.core.protocols import Chunker, Encoder, Filter, Tokenizer
from chunkwise.core.retrievals import Finder, Retrieval, Scope
from chunkwise.core.types import Chunk, Document, Hit
from chunkwise.cutting import DEFAULT_RECIPE, chunk, chunker, stream
from chunkwise.embed import encoder as find_encoder
from chunkwise.embed.cache import USER_CACHE, Keeping
from chunkwise.embed.late import late as late_chunking
from chunkwise.readers.batch import OnError, read_files
from chunkwise.readers.clean import DEFAULT
from chunkwise.readers.read import DEFAULT_READING, Reading, find_files
from chunkwise.retrieve import spend
from chunkwise.retrieve.assemble import LADDERS, Ladder, Question, assemble
from chunkwise.retrieve.search import n_tokens, scope_of
from chunkwise.retrieve.sentences import Sentences
from chunkwise.stores import open_store
from chunkwise.text.huggingface import MINILM
from chunkwise.text.terms import terms
from chunkwise.text.tokens import tokenizer as find_tokenizer
from chunkwise.updating import Added, Embed, Update, description, embedding, fitted

__all__ = ["DEFAULT_RECIPE", "Added", "Index", "Mode", "chunk", "chunker", "parse", "retriever", "stream"]

Mode = Literal["hybrid", "vector", "lexical"]

Progress = Callable[[int, int, str], None]
"""Called with the number of files done, the number of files, and the id of the one just done."""

# Chunks are embedded and stored in groups: enough to sort by length, little enough to lose when stopped.
_GROUP = 256

# An index with more chunks is not read into memory to assemble evidence: a gigabyte. Of how many chunks the documents
# are read then: on covidqa, 54 papers, those of the 20 best hold 97 % of the evidence.
_IN_MEMORY, _DOCUMENTS = 400_000, 20

# What an index remembers of a config beside how it is made: how it is asked.
_ASKED = ("retrieval", "evidence", "tokens", "tokenizer")


class Index:
    """Chunks and vectors of documents, kept in a folder (or in memory, with "memory:"), and searched.

    An index is made with one recipe and one encoder, which it remembers; opening it needs neither.
    `cache` is a file that keeps the vectors of passages for other indexes, None for none. By default it is in the
    user's cache folder, and serves encoders that are named: what an encoder object says of itself is not vouched for.
    With `late` chunks are embedded as parts of their document: see chunkwise.embed.late. With `summaries` every section
    also has its key sentences as an entry of its own, which no search finds but `two_stage(by="summary")`, or one
    `where` they are asked for. Both are remembered, too, and so is what a config says of how an index is asked.
    Raises: StoreError if the folder holds something else, or was made with another encoder, or in the other way;
    EncodeError if an encoder can't embed late.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] = "index",
        *,
        encoder: str | Encoder | None = None,
        cache: str | os.PathLike[str] | None = USER_CACHE,
        late: bool | None = None,
        summaries: bool | None = None,
    ) -> None:
        self.url = str(url)
        self._store = open_store(self.url)
        made_with = self._store.info
        if made_with and not {"recipe", "encoder", "fingerprint"} <= set(made_with):
            raise StoreError(f"{self.url} does not say what it was made with; move it away and index again")
        wanted = encoder if encoder is not None else made_with.get("encoder_spec", MINILM)
        self.encoder: Encoder = find_encoder(wanted) if isinstance(wanted, str) else wanted
        self._read: tuple[Hashable, Sentences] | None = None
        self._config: Config | None = None
        self._spec = wanted if isinstance(wanted, str) else wanted.name
        self._cache = None if cache == USER_CACHE and not isinstance(wanted, str) else cache
        if made_with and made_with["encoder"] != self.encoder.name:
            raise StoreError(
                f"{self.url} was made with the encoder {made_with['encoder']}, not {self.encoder.name}; "
                "open it without naming an encoder, or index into another folder"
            )
        if made_with and made_with["fingerprint"] != self.encoder.fingerprint:
            raise StoreError(
                f"{self.url} was made with another version of {self.encoder.name}, whose vectors differ; "
                "index into another folder"
            )
        self.late = self._remembered("late", late)
        self.summaries = self._remembered("summaries", summaries)
        if self.late:
            late_chunking(self.encoder)  # what can't be done is told at once

    @classmethod
    def from_config(
        cls,
        config: str | os.PathLike[str] | Config = CONFIG_FILE,
        *,
        url: str | os.PathLike[str] = "index",
        cache: str | os.PathLike[str] | None = USER_CACHE,
    ) -> Index:
        """Open an index, or make a new one, that is cut, embedded and asked by a config, or by the file of one.

        The index remembers it with the next `add`; opened without, it is asked alike.
        Raises: ConfigError for a file that can't be used; RecipeError; StoreError if the index was made otherwise.
        """
        chosen = config if isinstance(config, Config) else read_config(config)
        check_config(chosen)
        encoder = chosen.encoder or MINILM
        index = cls(url, encoder=encoder, cache=cache, late=chosen.late, summaries=chosen.summaries)
        index._config = chosen
        index._chunker(None)  # another recipe than that of the index is told at once
        return index

    def _remembered(self, name: str, wanted: bool | None) -> bool:
        """Return how the index was made, or is to be; refuse another way."""
        made_with = self._store.info
        found = bool(made_with.get(name, False) if made_with else wanted)
        if wanted is not None and wanted != found:
            raise StoreError(
                f"{self.url} was made with {name}={found}, which stays; open it without saying, or index into another "
                "folder"
            )
        return found

    @property
    def recipe(self) -> str:
        """The recipe that the index was made with; empty for a new one."""
        return str(self._store.info.get("recipe", ""))

    @property
    def clean(self) -> str:
        """What is taken out of files before they are cut, unless `Reading` says otherwise."""
        return str(self._store.info.get("clean", DEFAULT)) if self._config is None else self._config.clean or DEFAULT

    @property
    def config(self) -> Config | None:
        """How it is made and asked, if it was ever told to go by a config."""
        asked = self._asked()
        if asked is None:
            return None
        return Config(
            self.recipe or self._wished(),
            encoder="" if self._spec == MINILM else self._spec,
            late=self.late,
            summaries=self.summaries,
            clean="" if self.clean == DEFAULT else self.clean,
            **asked,
        )

    def __len__(self) -> int:
        return self._store.count()

    def documents(self) -> list[str]:
        """Return the ids of all documents, sorted."""
        return sorted(self._store.documents())

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order."""
        return list(self._store.chunks(document_id))

    def delete(self, *document_ids: str) -> None:
        """Remove documents."""
        self._store.delete(document_ids)
        self._store.finish()  # else what was deleted still counts in the statistics of words

    def add(
        self,
        *paths: str | os.PathLike[str],
        recipe: str | Chunker | None = None,
        globs: Sequence[str] = (),
        reading: Reading = DEFAULT_READING,
        on_error: OnError = "skip",
        progress: Progress | None = None,
    ) -> Added:
        """Bring the index up to date with files and folders.

        How files are cleaned is remembered, too. A document whose text did not change is left as it is; one whose file
        is gone from a folder that is given is removed. Stopped at any moment, the index holds what it held before and
        some whole documents more; running it again ends where an undisturbed run ends.
        Raises: ReadError for a path that does not exist, RecipeError, EncodeError, StoreError.
        """
        files = [(Path(path), list(find_files(path, globs=globs))) for path in paths]
        found = [file for _, group in files for file in group]
        (cut, notes), (embed, doubt) = self._chunker(recipe), self.embedding()
        self._remember()
        update = self._update(cut, embed)
        reading = replace(reading, clean=reading.clean or self.clean)
        for i, result in enumerate(read_files(found, reading=reading, on_error=on_error), 1):
            update.take(result)
            if update.n_waiting >= _GROUP or i == len(found):
                self._write(update, cut, clean=reading.clean)
            if progress is not None:
                progress(i, len(found), result.id)
        gone = [*update.emptied, *(id for path, _ in files if path.is_dir() for id in self._gone(path))]
        self._store.delete(gone)
        self._store.finish()
        return update.report(gone, notes + doubt)

    def add_documents(self, documents: Iterable[Document], *, recipe: str | Chunker | None = None) -> Added:
        """Bring the index up to date with documents that were read elsewhere."""
        (cut, notes), (embed, doubt) = self._chunker(recipe), self.embedding()
        self._remember()
        update = self._update(cut, embed)
        for document in documents:
            update.take(document)
            if update.n_waiting >= _GROUP:
                self._write(update, cut)
        self._write(update, cut)
        self._store.finish()
        return update.report((), notes + doubt)

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        tokens: int | None = None,
        tokenizer: str | Tokenizer | None = None,
        mode: Mode | None = None,
        retrieval: str | Finder | Retrieval | None = None,
        where: Filter | None = None,
    ) -> list[Hit]:
        """Return the best `k` hits, or with `tokens` the best ones that together stay within that many.

        Tokens are those of `tokenizer`; by default that of the index's config, else as its recipe counts.
        `retrieval` says how: "hybrid(alpha=0.4) | mmr() | auto_merge()"; by default that of the index's config, else
        "hybrid()". `mode` is short for one of the finders alone.
        Steps that widen hits get `k` of them, and join those that become one. `where` names metadata that a hit must
        carry; of an index by `nest(...)` the smallest chunks are searched, unless it names a `level`.
        Raises: ChunkwiseError for an empty question, RecipeError, StoreError for an empty index, EncodeError.
        """
        if mode is not None and mode not in get_args(Mode):
            raise ChunkwiseError(f"mode={mode!r} is not one of {', '.join(get_args(Mode))}")
        if mode is not None and retrieval is not None:
            raise RecipeError(f"mode={mode!r} is short for a retrieval, which is given as well; leave one of them out")
        if k < 1:
            raise ChunkwiseError(f"k={k} must be at least 1; try k=5")
        usual = self._as_asked().retrieval if mode is None else f"{mode}()"
        how = retriever(retrieval if retrieval is not None else usual)
        self._check(query, tokens)
        scope = self.scope(how, where or {})
        if tokens is None:
            return how.over(scope)(query, k)
        counter = _counter(tokenizer or self._as_asked().tokenizer or None)
        cost = n_tokens if counter is None else lambda chunk: counter.count(chunk.text) - counter.n_special
        return spend(how, query, scope=scope, tokens=tokens, cost=cost)

    def assemble(
        self,
        query: str,
        *,
        tokens: int | None = None,
        ladder: str | Ladder | None = None,
        tokenizer: str | Tokenizer | None = None,
        where: Filter | None = None,
    ) -> list[Hit]:
        """Return the evidence for a question that `tokens` pay for: exact passages, in reading order.

        Sentences are scored at several scales, by themselves and in the stretches of text around them, and bought one
        by one; see chunkwise.retrieve.assemble. It works on every index, best on one of sentences, as of the recipe
        `nest(200, base=structural(), sentences=True)`. `ladder` is "default", "fine" for single facts, or "coarse" for
        questions whose answer is long. It and `tokens` are by default those of the index's config, or "default", 800.
        Tokens are those of `tokenizer`, which should be your model's; by default that of the config, else the
        encoder's; no special ones.
        Cost: the first call after a change reads the index into memory, 2 s for every 20,000 sentences; of one with
        more than 400,000 chunks, every call reads the documents that hold the 20 best.
        Raises: ChunkwiseError for an empty question, StoreError for an empty index, EncodeError.
        """
        asked = self._as_asked()
        ladder = (asked.ladder or "default") if ladder is None else ladder
        tokens = asked.tokens if tokens is None else tokens
        if isinstance(ladder, str) and ladder not in LADDERS:
            raise ChunkwiseError(f"ladder={ladder!r} is not one of {', '.join(LADDERS)}; or give a Ladder")
        self._check(query, tokens)
        counter = _counter(tokenizer or asked.tokenizer or None) or self.encoder.tokenizer
        return assemble(
            self._sentences(query, where),
            Question(terms(query), self.encoder([query], role="query")[0]),
            tokens=tokens,
            count=lambda text: counter.count(text) - counter.n_special,
            ladder=LADDERS[ladder] if isinstance(ladder, str) else ladder,
            where=where,
        )

    def retrieve(self, query: str, *, tokens: int | None = None, where: Filter | None = None) -> list[Hit]:
        """Return what the index's config answers a question with: chunks or assembled evidence, of so many `tokens`.

        Without a config these are the best chunks of 800 tokens.
        Raises: as `search` and `assemble`.
        """
        asked = self._as_asked()
        if asked.ladder is not None:
            return self.assemble(query, tokens=tokens, where=where)
        return self.search(query, tokens=asked.tokens if tokens is None else tokens, where=where)

    def scope(self, how: Retrieval, where: Filter) -> Scope:
        """Return what is searched: of several levels, the one that a plain search ranks."""
        return scope_of(self._store, self.encoder, how, where)

    def embedding(self) -> tuple[Embed, tuple[str, ...]]:
        """Return what embeds chunks, and what there is to say about it."""
        return embedding(self.encoder, self._cache, late=self.late)

    def _sentences(self, query: str, where: Filter | None) -> Sentences:
        """Return the sentences of the index, read anew where something changed; of a large one, those in question."""
        n_special = self.encoder.tokenizer.n_special
        if self._store.count() > _IN_MEMORY:
            hits = self.search(query, k=_DOCUMENTS, mode="hybrid", where=where)
            return Sentences(self._store.entries(sorted({hit.chunk.document_id for hit in hits})), n_special)
        revision = self._store.revision
        if self._read is None or self._read[0] != revision:
            self._read = (revision, Sentences(self._store.entries(), n_special))
        return self._read[1]

    def _check(self, query: str, tokens: int | None) -> None:
        if not query.strip():
            raise ChunkwiseError("the question is empty; ask something")
        if tokens is not None and tokens < 1:
            raise ChunkwiseError(f"tokens={tokens} must be at least 1; try tokens=800")
        if not self._store.count():
            raise StoreError(f"{self.url} holds no chunks; run: chunkwise index PATH --index {self.url}")

    def _chunker(self, recipe: str | Chunker | None) -> tuple[Chunker, tuple[str, ...]]:
        """Return the chunker to index with; refuse a recipe that is not the index's own, if it holds anything."""
        with stored() if recipe is None else nullcontext():
            wanted = chunker(recipe if recipe is not None else self._wished())
        cut, notes = fitted(with_tokenizer(wanted, self.encoder.tokenizer), self.encoder)
        if self.recipe and repr(cut) != self.recipe and self._store.documents():
            raise StoreError(
                f"{self.url} was made with the recipe {self.recipe}, not {cut!r}; leave the recipe out, or index "
                "into another folder"
            )
        return cut, notes

    def _wished(self) -> str:
        """Return the recipe to cut by, unless another is given."""
        return self._config.recipe if self._config is not None else self.recipe or DEFAULT_RECIPE

    def _asked(self) -> dict[str, Any] | None:
        """Return how the index is asked: as its config says, else as is written down; None if nothing is."""
        noted = self._store.info.get("config") if self._config is None else asdict(self._config)
        return {name: noted[name] for name in _ASKED if name in noted} if isinstance(noted, dict) else None

    def _as_asked(self) -> Config:
        return self.config or Config(self._wished())

    def _remember(self) -> None:
        """Write down how an index that there is already is asked from now on."""
        info, asked = self._store.info, self._asked()
        if info and info.get("config") != asked:
            self._store.describe({**info, "config": asked})

    def _write(self, update: Update, cut: Chunker, *, clean: str | None = None) -> None:
        """Embed and store what waits; a new index is described only now, when nothing can be wrong with the recipe."""
        entries = update.entries()
        if not entries:
            return
        if (self.recipe, self._store.info.get("clean", DEFAULT)) != (repr(cut), clean or self.clean):
            dim = entries[0].vectors.shape[1]  # to ask the encoder could take a request
            made_with = description(cut, self.encoder, dim=dim, late=self.late, summaries=self.summaries)
            told = {"encoder_spec": self._spec, "clean": clean or self.clean, "chunkwise": chunkwise.__version__}
            self._store.describe({**made_with, **told, "config": self._asked()})
        self._store.replace(entries)

    def _update(self, cut: Chunker, embed: Embed) -> Update:
        return Update(
            self._store.documents(),
            Keeping(cut, self._cache),
            encoder=self.encoder,
            embed=embed,
            summaries=self.summaries,
        )

    def _gone(self, folder: Path) -> Iterator[str]:
        """Yield the documents that came from this folder and whose file is no more."""
        root = str(folder.resolve()) + os.sep
        for id, (_, source) in self._store.documents().items():
            if source.startswith(root) and not os.path.exists(source):
                yield id


def _counter(tokenizer: str | Tokenizer | None) -> Tokenizer | None:
    """Return what counts, found by its name where it is one."""
    return find_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
