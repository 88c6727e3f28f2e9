# %% [markdown]
# # Relax a trained network, and fine-tune it
# A network that was trained with all the symmetry of D4 meets new data that have less of it:
# first digits in any orientation, then upright ones, where 6 and 9 differ. A tied network cannot
# tell a digit from its turned self. Relaxing a layer takes that away and changes nothing else:
# the relaxed network begins with the very same function, and learns the rest from a few new
# images (paper 001, Sections 4.1 and 7).

# %%
from __future__ import annotations

import time

import numpy as np
import torch
from torch import nn

import isotropy as iso
from isotropy.data import DataSet
from isotropy.training import Settings

SEEDS = (0, 1, 2)
FIRST = Settings(epochs=20, batch_size=32, lr=1e-2, keep="last")
THEN = Settings(epochs=10, batch_size=32, lr=3e-3, keep="last")
NEW_IMAGES = 150


# %%
def turned_and_upright(seed: int) -> tuple[DataSet, DataSet, DataSet]:
    """Digits in any of eight orientations; a few upright ones; and some to test on."""
    digits = iso.data.load("digits").train
    old, new, test = iso.data.split(digits, (0.6, NEW_IMAGES / len(digits), 0.3), seed=seed)
    draws = np.random.default_rng(seed)
    x, y = old.batch(range(len(old)))
    moved = [
        (image.flip(2) if mirror else image).rot90(int(quarters), (1, 2))
        for image, quarters, mirror in zip(
            x, draws.integers(4, size=len(x)), draws.integers(2, size=len(x)), strict=True
        )
    ]
    return iso.data.from_arrays(torch.stack(moved).numpy(), y.numpy()), new, test


def accuracy(model: nn.Module, data: DataSet, like: DataSet) -> float:
    """The share of right answers on data that are scaled like others."""
    return iso.training.evaluate(model, data.scaled_like(like))["accuracy"]


def relaxed(model: nn.Module, layer: str) -> nn.Module:
    """The same network without any symmetry from a layer on."""
    return iso.relax(model, layer, "C1")


# %%
def main() -> None:
    """Train, relax, fine-tune, and print what came out."""
    start = time.perf_counter()
    rows: dict[str, list[tuple[float, float, int]]] = {}
    for seed in SEEDS:
        torch.manual_seed(seed)
        turned, new, test = turned_and_upright(seed)
        network = iso.models.make("cnn", (1, 8, 8), 10, width=16)
        tied = iso.equivariant(network, "D4", turned.batch([0, 1])[0])
        turned = iso.training.standardised(turned, tied)
        iso.training.fit(tied, turned, settings=FIRST, seed=seed)
        layers = list(iso.groups_of(tied))
        starts = {
            "D4 in all layers": tied,
            "last layer relaxed": relaxed(tied, layers[-1]),
            "second half relaxed": relaxed(tied, layers[len(layers) // 2]),
            "all layers relaxed": relaxed(tied, layers[0]),
            "new, no symmetry": network,
        }
        for name, model in starts.items():
            before = accuracy(model, test, turned)
            iso.training.fit(model, new.scaled_like(turned), settings=THEN, seed=seed)
            free = sum(p.numel() for p in model.parameters())
            rows.setdefault(name, []).append((before, accuracy(model, test, turned), free))
    print(f"Upright digits, after fine-tuning on {NEW_IMAGES} of them; {len(SEEDS)} seeds\n")
    print(f"{'':<22} {'before':>7} {'after':>15} {'free parameters':>16}")
    for name, found in rows.items():
        before, after, counts = (np.array(column) for column in zip(*found, strict=True))
        spread = f"{after.mean():.3f} ± {after.std(ddof=1):.3f}"
        print(f"{name:<22} {before.mean():>7.3f} {spread:>15} {counts[0]:>16,}")
    print("\nRelaxing changes no answer: all tied networks are equally good before fine-tuning.")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
