"""Does `isotropy discover` find a symmetry that was planted, and no other?

The 1,797 digits of scikit-learn and 2,000 images of MNIST are moved at random by a group, once and
for all, or left as they are; with labels, a mirror or a half turn exchanges pairs of classes. Every
run sees all usual candidates of pictures and the defaults; MNIST runs have a budget of 90 seconds.
A run is right if it recommends exactly the planted group with exactly the planted exchange. Signals
and vectors are made of noise and waves with labels that the planted symmetry leaves alone. On
Fashion-MNIST (the early release), which may have a mirror of its own, a run is right if the
recommended group contains the planted one and its test accuracy is within the margin of that of the
candidate with the best validation score: on 10,000 images, means over four networks each. Noise
labels are drawn anew for digits that are turned by quarter turns: right is
not to recommend anything for its labels' sake.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import isotropy as iso
from isotropy.data import DataSet, from_arrays, load, split, symmetrised
from isotropy.discovery.last import network_for
from isotropy.discovery.plan import Plan
from isotropy.discovery.study import Study
from isotropy.evidence import candidates_for
from isotropy.evidence.probe import Probe
from isotropy.training.seeds import torch_seed

TITLE = "Discover: planted symmetries"

MIRROR = [0, 1, 5, 7, 4, 2, 6, 3, 8, 9]  # 2 with 5, 3 with 7
HALF_TURN = [0, 1, 2, 3, 5, 4, 9, 7, 8, 6]  # 6 with 9, 4 with 5
PLANTED: dict[str, tuple[str, dict[str, list[int]] | None]] = {
    "none": ("", None),
    "C2": ("C2", None),
    "C4": ("C4", None),
    "D1": ("D1", None),
    "D4": ("D4", None),
    "D1 exchanging": ("D1", {"s": MIRROR}),
    "C2 exchanging": ("C2", {"r2": HALF_TURN}),
}
NONE = "C1"
NETWORKS = 4  # of each of two candidates, whose test accuracies are compared
SIGNALS = ("none", "reversal", "sign", "shift")
VECTORS = ("none", "x0~x1", "sign")

TASKS: dict[str, tuple[str, str, int]] = {
    **{f"digits/{p}/{s}": ("digits", p, s) for p in PLANTED for s in range(5)},
    **{f"mnist/{p}/{s}": ("mnist", p, s) for p in PLANTED for s in range(3)},
    **{
        f"fashion/{p}/{s}": ("fashion_mnist_early", p, s)
        for p in ("C2", "C4", "D4")
        for s in (0, 1)
    },
    **{f"signals/{p}/{s}": ("signals", p, s) for p in SIGNALS for s in range(5)},
    **{f"vectors/{p}/{s}": ("vectors", p, s) for p in VECTORS for s in range(5)},
    **{f"noise/C4/{s}": ("noise", "C4", s) for s in range(20)},
}


def run(task: tuple[str, str, int]) -> dict[str, Any]:
    """One discovery, and whether it was right."""
    source, planted, seed = task
    data = {"signals": signals, "vectors": vectors}.get(source, pictures)(source, planted, seed)
    budget = "90s" if source == "mnist" else None
    found = iso.discover(data, seed=seed, budget=budget, workers=1)
    chosen = found.to_json()["recommended"]
    more: dict[str, Any] = {}
    if source == "fashion_mnist_early":
        more = beside_best(found, data, garments_for_testing(planted, seed), seed)
        right = _contains(found, planted) and more["behind_best"] <= found.to_json()["margin"]
    else:
        right = _is_right(source, planted, found)
    return {
        **more,
        "recommended": chosen["candidate"],
        "right": bool(right),
        "verdicts": found.verdicts,
        "gain": next(
            (
                r.get("gain")
                for r in found.to_json()["candidates"]
                if r["name"] == chosen["candidate"]
            ),
            None,
        ),
        "test": chosen["test"],
        "networks": found.to_json()["time"]["networks"],
    }


def _is_right(source: str, planted: str, found: iso.Discovery) -> bool:
    result = found.to_json()
    if source == "noise":
        return result["recommended"].get("verdict") not in ("build_in", "build_in_permuted")
    group, labels = PLANTED.get(planted, (planted, None))
    if str(found.recommended) != (group if group != "none" and group else "C1"):
        return False
    wanted = labels or {}
    return found.label_permutations == wanted


def _contains(found: iso.Discovery, planted: str) -> bool:
    return iso.group(planted).is_subgroup_of(found.recommended)


def beside_best(found: iso.Discovery, data: DataSet, test: DataSet, seed: int) -> dict[str, Any]:
    """How far the recommended candidate's test accuracy is behind the best-scoring one's."""
    result = found.to_json()
    scores = {row["name"]: row["score"] for row in result["candidates"] if "score" in row}
    scores[NONE] = result["baseline"]["score"]
    best = max(scores, key=lambda name: scores[name])
    chosen = result["recommended"]["candidate"]
    accuracy = {name: test_accuracy(name, data, test, seed) for name in {best, chosen}}
    return {
        "best": best,
        "test_accuracy": accuracy,
        "behind_best": accuracy[best] - accuracy[chosen],
    }


def test_accuracy(name: str, data: DataSet, test: DataSet, seed: int) -> float:
    """Of networks with a symmetry built in, trained as in a discovery; a mean over weights."""
    probe = Probe(data.shape, data.outputs)
    symmetry = None if name == NONE else candidates_for(data, [name])[0]
    width = probe.matched_width(symmetry) if symmetry else 0
    with TemporaryDirectory() as folder:
        found = []
        for number in range(NETWORKS):
            weights = torch_seed(seed, "test", number)
            study = Study(Path(folder), data.task, data.classes, probe, Plan(), weights)
            network = network_for(study, data, symmetry, width)
            found.append(iso.training.evaluate(network, test)["accuracy"])
    return float(np.mean(found))


# -- data -----------------------------------------------------------------------------------------


def pictures(source: str, planted: str, seed: int) -> DataSet:
    """Digits or garments, moved."""
    whole = load("digits" if source == "noise" else source).train
    if len(whole) > 2000:
        whole = split(whole, (2000 / len(whole),), seed)[0]
    group, labels = PLANTED[planted]
    data = symmetrised(whole, group, labels=labels, seed=seed) if group else whole
    if source != "noise":
        return data
    drawn = np.random.default_rng(seed).permutation(data.targets)
    return from_arrays(_array(data), drawn)


def _array(data: DataSet) -> NDArray[np.float32]:
    return data.samples.take(np.arange(len(data))).numpy()


def garments_for_testing(planted: str, seed: int) -> DataSet:
    """Garments that nothing has learned from, moved by the planted group."""
    rest = load("fashion_mnist_early")
    assert rest.test is not None
    return symmetrised(rest.test, PLANTED[planted][0], seed=seed + 1000)


def signals(_: str, planted: str, seed: int) -> DataSet:
    """Two kinds of decaying waves in noise, near the beginning of the signal.

    They begin suddenly and are mostly positive, so neither reversal nor a change of sign nor a
    shift leaves signals alike before it is planted.
    """
    draw = np.random.default_rng(seed)
    count, length = 1200, 64
    t = np.arange(length)
    kind = draw.integers(2, size=count)
    start = draw.integers(4, 14, size=count)
    since = np.maximum(t - start[:, None], 0)
    wave = np.sin(2 * np.pi * since / np.where(kind, 8.0, 11.0)[:, None])
    x = (1.2 + wave) * np.exp(-since / 18.0) * (t >= start[:, None])
    x += 0.7 * draw.normal(size=x.shape)
    moved = draw.integers(2, size=count).astype(bool)
    if planted == "reversal":
        x[moved] = x[moved, ::-1]
    elif planted == "sign":
        x[moved] = -x[moved]
    elif planted == "shift":
        x = np.stack(
            [np.roll(row, k) for row, k in zip(x, draw.integers(length, size=count), strict=True)]
        )
    return from_arrays(x.astype(np.float32)[:, None], kind, layout="ncl", name="signals")


def vectors(_: str, planted: str, seed: int) -> DataSet:
    """Six columns of numbers and a label that depends on them."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(1500, 6)) * [1, 1, 1.8, 2.5, 3.3, 4.2] + [1, 1, -1, 0.5, 2, -2]
    if planted == "sign":
        x -= x.mean(0)
        score = np.abs(x[:, 0] * x[:, 2]) + np.abs(x[:, 3]) - 2.5
    elif planted == "x0~x1":
        score = np.abs(x[:, 0] - x[:, 1]) * 2 + x[:, 2] * 0.5 - 1.5
    else:
        score = x[:, 0] * 2 - x[:, 1] + 0.5 * x[:, 2] * x[:, 3]
    score = score - np.median(score) + 0.3 * draw.normal(size=len(x))
    return from_arrays(x.astype(np.float32), (score > 0).astype(int), name="vectors")


# -- tables ---------------------------------------------------------------------------------------


def tables(outcomes: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """How often each kind of data and plant was right, and what was recommended otherwise."""
    rows = []
    for kind in dict.fromkeys(name.split("/")[0] for name in TASKS):
        for planted in dict.fromkeys(n.split("/")[1] for n in TASKS if n.startswith(f"{kind}/")):
            own = [v for k, v in outcomes.items() if k.startswith(f"{kind}/{planted}/")]
            if own:
                right = sum(bool(o["right"]) for o in own)
                others = sorted({o["recommended"] for o in own if not o["right"]})
                seconds = float(np.median([o["seconds"] for o in own]))
                rows.append(
                    [kind, planted, f"{right} of {len(own)}", ", ".join(others), f"{seconds:.0f}"]
                )
    return [(["data", "planted", "right", "otherwise", "seconds on one core"], rows)]
