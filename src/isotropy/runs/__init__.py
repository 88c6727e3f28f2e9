"""Run directories: what ran, in full, and what came of it."""

from isotropy.runs.facts import describe_data, machine, versions
from isotropy.runs.run import CONFIG, HOME, MODEL, RESULT, SCALING, Run
from isotropy.runs.text import read_toml, to_json, to_toml

__all__ = [
    "CONFIG",
    "HOME",
    "MODEL",
    "RESULT",
    "SCALING",
    "Run",
    "describe_data",
    "machine",
    "read_toml",
    "to_json",
    "to_toml",
    "versions",
]
