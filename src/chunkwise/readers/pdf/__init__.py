"""Read PDF; see read.py, whose order of steps is that of the other files: words, lines, order, pieces, text."""
