"""ktyping."""
