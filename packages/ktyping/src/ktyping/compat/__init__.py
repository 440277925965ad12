"""Shims for other packages; importing ktyping applies none of them."""
