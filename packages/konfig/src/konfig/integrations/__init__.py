"""What other libraries are told about the types of konfig."""
