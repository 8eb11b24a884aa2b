"""Judge chunks: by themselves, against their document, and by what is found with them."""
