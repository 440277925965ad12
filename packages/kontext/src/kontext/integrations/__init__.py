"""What kontext does for other libraries, each behind its own import."""
