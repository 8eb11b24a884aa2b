"""Retrievers: a question in, hits out."""

from chunkwise.retrieve.search import Hybrid, Lexical, Vector, within

__all__ = ["Hybrid", "Lexical", "Vector", "within"]
