"""Read PDF. The steps of `read_pdf` are a file each: words, lines, order, repeated, pieces, headings, write."""

from __future__ import annotations

from chunkwise.readers.pdf.read import read_pdf

__all__ = ["read_pdf"]
