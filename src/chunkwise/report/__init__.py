"""Chunks drawn for people to look at."""
