"""Let `python -m chunkwise` be the command line."""

from chunkwise.cli import main

main()
