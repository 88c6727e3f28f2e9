# %% [markdown]
# # Tie a CNN
# Scikit-learn's digits, each turned by a random quarter turn. A plain CNN has to learn every
# orientation from examples; the same CNN tied under C4 cannot tell them apart, by construction.
# Both have the same number of free parameters.

# %%
from __future__ import annotations

import time

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

import isotropy as iso

EPOCHS = 20
PLAIN_WIDTH = 24
SEEDS = (0, 1, 2)


# %%
def turned_digits() -> tuple[Tensor, Tensor]:
    """The 1,797 digits of 8×8 pixels, each turned by 0 to 3 quarter turns."""
    digits = load_digits()
    images = torch.from_numpy(digits.images).float()[:, None] / 16
    turns = np.random.default_rng(0).integers(4, size=len(images))
    turned = [image.rot90(int(k), (1, 2)) for image, k in zip(images, turns, strict=True)]
    return torch.stack(turned), torch.from_numpy(digits.target)


def small_cnn(width: int) -> nn.Module:
    """An ordinary network: nothing in it knows of groups."""
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, 10),
    )


def train(model: nn.Module, x: Tensor, y: Tensor) -> nn.Module:
    """Adam, a fixed number of epochs, the rate falling along a cosine."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Share of right answers."""
    return float((model(x).argmax(1) == y).float().mean())


# %%
def main() -> None:
    """Train both networks on three splits and print what came out."""
    x, y = turned_digits()
    width = iso.matching_width(small_cnn, PLAIN_WIDTH, "C4", x[:2])
    rows: dict[str, list[tuple[float, int, float]]] = {"plain CNN": [], "tied under C4": []}
    start = time.perf_counter()
    for seed in SEEDS:
        torch.manual_seed(seed)
        order = torch.randperm(len(x))
        learn, judge = order[:1200], order[1200:]
        models = {
            "plain CNN": small_cnn(PLAIN_WIDTH),
            "tied under C4": iso.equivariant(small_cnn(width), "C4", x[:2]),
        }
        for name, model in models.items():
            train(model, x[learn], y[learn])
            free = sum(p.numel() for p in model.parameters())
            error = iso.equivariance_error(model, x[judge][:64], "C4", "invariant")
            rows[name].append((accuracy(model, x[judge], y[judge]), free, error))
    print(f"Digits turned by quarter turns, {len(SEEDS)} splits of 1,200 / 597 images\n")
    print(f"{'':<14} {'accuracy':>15} {'free parameters':>16} {'equivariance error':>19}")
    for name, found in rows.items():
        scores, counts, errors = (np.array(column) for column in zip(*found, strict=True))
        spread = f"{scores.mean():.3f} ± {scores.std(ddof=1):.3f}"
        print(f"{name:<14} {spread:>15} {counts[0]:>16,} {errors.max():>19.1e}")
    plain = iso.fold(models["tied under C4"])
    gap = (plain(x) - models["tied under C4"](x)).abs().max()
    print(f"\nFolded to torch.nn layers alone, the tied network's outputs differ by {gap:.1e}.")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
