"""Read web pages: which part is the content, and what it is made of."""
