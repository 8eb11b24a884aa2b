"""Let `python -m chunkwise` be the command line."""

from chunkwise.cli import main

if __name__ == "__main__":
    main()
