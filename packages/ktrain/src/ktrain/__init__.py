"""ktrain."""
