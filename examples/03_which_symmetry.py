# %% [markdown]
# # Which symmetry do data have?
# Scikit-learn's digits as they are, and the same digits each turned by a random quarter turn.
# Nobody tells isotropy which is which. Upright digits have an up; turned ones do not, and a network
# that has quarter turns built in is better there.

# %%
from __future__ import annotations

import sys
from pathlib import Path

import isotropy as iso
from isotropy.data import DataSet
from isotropy.discovery import Bar, Lines, Progress

FOLDER = Path("runs/which-symmetry")


# %%
def questions() -> dict[str, DataSet]:
    """The same digits twice, by what was done to them."""
    digits = iso.data.load("digits").train
    return {"upright": digits, "turned": iso.data.symmetrised(digits, "C4", seed=0)}


def telling() -> Progress:
    """A bar with the time left on a terminal, lines elsewhere."""
    return Bar() if sys.stderr.isatty() else Lines()


# %%
def main() -> None:
    """Ask of both, and print what came out and where the pages are."""
    for name, data in questions().items():
        folder = FOLDER / name
        # with resume a second call shows what the first has found
        found = iso.discover(data, out=folder, resume=True, progress=telling())
        print(f"Digits, {name}. {found}\n\nThe page: {folder / 'report.html'}\n")


if __name__ == "__main__":
    main()
