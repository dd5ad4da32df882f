"""What is to be hidden, from whom and how well: beliefs, pairs, and what there is to say about the data."""
