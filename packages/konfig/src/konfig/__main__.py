"""`python -m konfig`: the command."""

import sys

from konfig.cli import command

if __name__ == "__main__":
    sys.exit(command())
