"""Retrieval: finders and steps, a question in and hits out. Importing this registers them."""

from chunkwise.retrieve.choose import Fold, Mmr, TwoStage
from chunkwise.retrieve.expand import AutoMerge, Edges, Parent, Window
from chunkwise.retrieve.rerank import Rerank
from chunkwise.retrieve.rerankers import custom_reranker, reranker
from chunkwise.retrieve.search import Hybrid, Lexical, Vector, spend, within

__all__ = [
    "AutoMerge",
    "Edges",
    "Fold",
    "Hybrid",
    "Lexical",
    "Mmr",
    "Parent",
    "Rerank",
    "TwoStage",
    "Vector",
    "Window",
    "custom_reranker",
    "reranker",
    "spend",
    "within",
]
