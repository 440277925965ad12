"""kontext."""
