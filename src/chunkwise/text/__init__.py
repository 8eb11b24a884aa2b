"""Tokens, sentences, words and graphemes of a text."""
