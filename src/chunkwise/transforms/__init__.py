"""Transforms: what may follow a strategy in a recipe."""

from chunkwise.transforms.context import Context
from chunkwise.transforms.overlap import Overlap

__all__ = ["Context", "Overlap"]
