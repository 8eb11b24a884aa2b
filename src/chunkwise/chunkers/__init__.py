"""Strategies: each file one, found by name in a recipe."""

from chunkwise.chunkers.auto import Auto
from chunkwise.chunkers.clauses import Clauses
from chunkwise.chunkers.code import Code
from chunkwise.chunkers.density import Density
from chunkwise.chunkers.external import External, external
from chunkwise.chunkers.fixed import Fixed
from chunkwise.chunkers.json import Json
from chunkwise.chunkers.nest import Nest
from chunkwise.chunkers.pages import Pages
from chunkwise.chunkers.paragraphs import Paragraphs
from chunkwise.chunkers.random import Random
from chunkwise.chunkers.recursive import Recursive
from chunkwise.chunkers.route import Route
from chunkwise.chunkers.rows import Rows
from chunkwise.chunkers.scored import Scored
from chunkwise.chunkers.sentences import Sentences
from chunkwise.chunkers.splitters import custom_splitter
from chunkwise.chunkers.structural import Structural
from chunkwise.chunkers.turns import Turns

__all__ = [
    "Auto",
    "Clauses",
    "Code",
    "Density",
    "External",
    "Fixed",
    "Json",
    "Nest",
    "Pages",
    "Paragraphs",
    "Random",
    "Recursive",
    "Route",
    "Rows",
    "Scored",
    "Sentences",
    "Structural",
    "Turns",
    "custom_splitter",
    "external",
]
