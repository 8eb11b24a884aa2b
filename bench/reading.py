"""What reading costs: each format beside the library that opens it, in turns, on the same files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import corpora
from chunkwise.core.types import Source
from chunkwise.readers import READERS

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
WORDS = [
    "pump",
    "valve",
    "pressure",
    "station",
    "weekly",
    "filter",
    "record",
    "gauge",
    "supply",
    "motor",
    "seal",
    "month",
]
ROUNDS = 5
PACKAGES = ("pypdfium2", "selectolax", "lxml", "python-calamine", "pyromark", "trafilatura", "python-docx")


class Task(NamedTuple):
    """Files of one format; `bare` is what the library that opens them needs for all their text, by name."""

    suffix: str
    about: str
    contents: Sequence[bytes]
    unit: str
    n_units: float
    bare: dict[str, Callable[[bytes], object]]


def page(*, quick: bool) -> Iterator[str]:
    """Yield the table of reading."""
    rounds = 2 if quick else ROUNDS
    yield "## Reading"
    yield ""
    yield (
        f"Medians of {rounds} rounds in one process, each file read in turn by Chunkwise and by what opens it: the "
        "library alone, for all the text and nothing else. "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        + "."
    )
    yield ""
    yield "| format | files | Chunkwise | alone | ratio |"
    yield "|---|---|---|---|---|"
    for task in tasks():
        ours, bare = measured(task, rounds)
        cells = ", ".join(f"{name} {_rate(task, seconds)}" for name, seconds in bare.items())
        ratios = ", ".join(f"{ours / seconds:.2f}" for seconds in bare.values())
        yield f"| `{task.suffix}` | {task.about} | {_rate(task, ours)} | {cells} | {ratios} |"
    yield ""
    if (SHARED / "html").exists():
        yield from _main_content()


def tasks() -> Iterator[Task]:
    """Yield what is measured; formats whose files are not here are left out."""
    if (SHARED / "pdf").exists():
        names = ("made2col", "interleaved", "naacl06", "tracemonkey", "i1040nr", "rtl01", "tables")
        contents = [(SHARED / "pdf" / f"{name}.pdf").read_bytes() for name in names]
        n_pages = sum(map(_n_pages, contents))
        yield Task(".pdf", f"{len(names)} files, {n_pages} pages", contents, "page", n_pages, {"pypdfium2": _pdfium})
    pages = html_pages()
    if pages:
        about = f"{len(pages)} web pages"
        yield Task(".html", about, [page for page, _ in pages], "page", len(pages), {"trafilatura, fast": _trafilatura})
    document = made_document()
    yield Task(".docx", "a report of 2,000 paragraphs", [document], "MB", 0, {"python-docx": _docx})
    yield Task(".xlsx", "20,000 rows of 8 cells", [made_sheet()], "row", 20_000, {"python-calamine": _calamine})
    table = made_table(10_000_000)
    yield Task(".csv", "10 MB of orders", [table], "MB", len(table) / 1e6, {"csv": _csv})
    text = (corpora.text_of("markdown") or "")[:5_000_000].encode()
    yield Task(".md", "5 MB of READMEs and manuals", [text], "MB", len(text) / 1e6, {"pyromark": _pyromark})


def measured(task: Task, rounds: int) -> tuple[float, dict[str, float]]:
    """Return the seconds for all files of a task, by Chunkwise and by each library alone."""
    format = READERS[task.suffix]

    def ours(content: bytes) -> object:
        return format.reader(Source(f"x{task.suffix}", content, "", format.media_type))

    runs = {"": ours, **task.bare}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        spent = dict.fromkeys(runs, 0.0)
        for content in task.contents:
            for name, run in runs.items():
                began = time.perf_counter()
                run(content)
                spent[name] += time.perf_counter() - began
        for name, taken in spent.items():
            seconds[name].append(taken)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    return medians.pop(""), medians


def html_pages() -> list[tuple[bytes, str]]:
    """Return web pages, each with its main text."""
    if not (SHARED / "html").exists():
        return []
    truth = json.loads((SHARED / "html" / "ground-truth.json").read_text("utf-8"))
    folder = SHARED / "html" / "pages"
    return [
        (gzip.decompress((folder / f"{stem}.html.gz").read_bytes()), entry["articleBody"])
        for stem, entry in sorted(truth.items())
        if (folder / f"{stem}.html.gz").exists()
    ]


def made_table(size: int) -> bytes:
    """Return a CSV of about so many bytes, with quoted fields and line breaks in them."""
    chance, out, lines = random.Random(7), io.StringIO(), 0
    writer = csv.writer(out)
    writer.writerow(["order", "date", "station", "part", "quantity", "price", "note"])
    while out.tell() < size:
        lines += 1
        note = " ".join(chance.choices(WORDS, k=chance.randrange(3, 20))) + ("\nsee above" if lines % 50 == 0 else "")
        price = f"{chance.random() * 900:.2f}"
        writer.writerow([lines, "2026-03-04", chance.choice(WORDS), chance.choice(WORDS), lines % 9, price, note])
    return out.getvalue().encode()


def made_sheet() -> bytes:
    """Return a workbook of one sheet of 20,000 rows and 8 columns."""
    import xlsxwriter

    chance, out = random.Random(7), io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Orders")
        sheet.write_row(0, 0, ["order", "date", "station", "part", "quantity", "price", "paid", "note"])
        for row in range(1, 20_001):
            cells = [row, "2026-03-04", *chance.choices(WORDS, k=2), row % 9, chance.random() * 900, row % 2 == 0]
            sheet.write_row(row, 0, [*cells, " ".join(chance.choices(WORDS, k=4))])
    return out.getvalue()


def made_document() -> bytes:
    """Return a Word document with headings, paragraphs, lists and tables."""
    import docx

    chance, document, out = random.Random(7), docx.Document(), io.BytesIO()
    for number in range(2000):
        words = " ".join(chance.choices(WORDS, k=40))
        if number % 40 == 0:
            document.add_heading(f"Station {number}", level=1 + number % 3)
        document.add_paragraph(words, style="List Number" if number % 7 == 0 else None)
        if number % 200 == 0:
            table = document.add_table(rows=10, cols=4)
            for cell in table._cells:
                cell.text = chance.choice(WORDS)
    document.save(out)
    return out.getvalue()


def _main_content() -> Iterator[str]:
    pages = html_pages()
    ours = statistics.mean(f1(_read_html(page), body) for page, body in pages)
    theirs = statistics.mean(f1(str(_trafilatura(page) or ""), body) for page, body in pages)
    yield (
        f"The main text of the web pages (4-grams of words, mean F1 of {len(pages)} pages): "
        f"Chunkwise {ours:.3f}, trafilatura in fast mode {theirs:.3f}."
    )
    yield ""


def f1(text: str, truth: str) -> float:
    """Return the F1 of the 4-grams of words of a text against those of the truth.

    Source: scrapinghub/article-extraction-benchmark, string_shingle_matching and its metrics; grams count as often as
    they occur.
    """
    grams = []
    for one in (text, truth):
        words = re.findall(r"\w+", one)
        grams.append(Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3))))
    both = sum((grams[0] & grams[1]).values())
    if not both:
        return 0.0
    precision, recall = both / sum(grams[0].values()), both / sum(grams[1].values())
    return 2 * precision * recall / (precision + recall)


def _rate(task: Task, seconds: float) -> str:
    size = task.n_units or sum(map(len, task.contents)) / 1e6
    if task.unit == "page":
        return f"{1000 * seconds / size:.1f} ms a page"
    if task.unit == "row":
        return f"{seconds:.2f} s"
    return f"{size / seconds:.1f} MB/s"


def _read_html(page: bytes) -> str:
    format = READERS[".html"]
    return format.reader(Source("x.html", page, "", format.media_type)).text


def _n_pages(content: bytes) -> int:
    import pypdfium2

    return len(pypdfium2.PdfDocument(content))


def _pdfium(content: bytes) -> object:
    import pypdfium2

    document = pypdfium2.PdfDocument(content)
    texts = []
    for page in document:
        text = page.get_textpage()
        texts.append(text.get_text_range())
        text.close()
        page.close()
    document.close()
    return texts


def _trafilatura(content: bytes) -> object:
    import trafilatura

    return trafilatura.extract(content, fast=True)


def _docx(content: bytes) -> object:
    import docx

    blocks = docx.Document(io.BytesIO(content)).iter_inner_content()
    return [[row.cells for row in block.rows] if hasattr(block, "rows") else block.text for block in blocks]


def _calamine(content: bytes) -> object:
    import python_calamine

    return python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()


def _csv(content: bytes) -> object:
    return sum(len(row) for row in csv.reader(io.StringIO(content.decode(), newline="")))


def _pyromark(content: bytes) -> object:
    import pyromark

    markdown = pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES)
    return sum(1 for _ in markdown.events_with_range(content.decode()))
