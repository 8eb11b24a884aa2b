"""Strategies: each file one, found by name in a recipe."""

from chunkwise.chunkers.code import Code
from chunkwise.chunkers.density import Density
from chunkwise.chunkers.fixed import Fixed
from chunkwise.chunkers.nest import Nest
from chunkwise.chunkers.paragraphs import Paragraphs
from chunkwise.chunkers.recursive import Recursive
from chunkwise.chunkers.sentences import Sentences
from chunkwise.chunkers.structural import Structural

__all__ = ["Code", "Density", "Fixed", "Nest", "Paragraphs", "Recursive", "Sentences", "Structural"]
