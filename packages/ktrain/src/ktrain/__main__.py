"""`python -m ktrain` is the command `ktrain`."""

from ktrain.cli import main

main()
