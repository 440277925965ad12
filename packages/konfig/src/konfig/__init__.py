"""konfig."""
