"""Strategies: each file one, found by name in a recipe."""

from chunkwise.chunkers.clauses import Clauses
from chunkwise.chunkers.fixed import Fixed
from chunkwise.chunkers.json import Json
from chunkwise.chunkers.pages import Pages
from chunkwise.chunkers.paragraphs import Paragraphs
from chunkwise.chunkers.random import Random
from chunkwise.chunkers.recursive import Recursive
from chunkwise.chunkers.rows import Rows
from chunkwise.chunkers.sentences import Sentences
from chunkwise.chunkers.structural import Structural
from chunkwise.chunkers.turns import Turns

__all__ = [
    "Clauses",
    "Fixed",
    "Json",
    "Pages",
    "Paragraphs",
    "Random",
    "Recursive",
    "Rows",
    "Sentences",
    "Structural",
    "Turns",
]
