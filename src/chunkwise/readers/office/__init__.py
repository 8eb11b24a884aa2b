"""Read Word and PowerPoint: the package, what Word and PowerPoint share, and a reader for each."""
