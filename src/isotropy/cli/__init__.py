"""The command line: `isotropy COMMAND ...`, a thin layer over the public functions."""

from isotropy.cli.app import main

__all__ = ["main"]
