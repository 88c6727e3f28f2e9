"""Results as runs leave them, of every kind of data, complete and with parts missing or hostile."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from isotropy.groups import group
from isotropy.groups.named import D4_SUBGROUPS, MEANINGS

Json = dict[str, Any]
Images = dict[str, Any]

SCRIPT = "<script>alert(1)</script>"
DIGITS = [str(digit) for digit in range(10)]

RUN = {
    "command": "isotropy discover digits --seed 0",
    "seed": 0,
    "started": "2026-05-02 14:03",
    "machine": {"system": "Linux", "processor": "x86_64", "cores": 2, "threads": 1},
    "versions": {"isotropy": "0.1.0", "python": "3.11.8", "torch": "2.13.0"},
    "deterministic": True,
}


def gain(mean: float, half: float, pairs: int = 5) -> Json:
    """A gain with an interval and single differences about it."""
    spread = np.linspace(-0.7, 0.7, pairs) * half
    return {
        "mean": mean,
        "low": mean - half,
        "high": mean + half,
        "pairs": pairs,
        "differences": (mean + spread).tolist(),
    }


def candidate(name: str, verdict: str, mean: float, half: float = 0.008, **more: Any) -> Json:
    """A subgroup of D4 as a candidate, with all that is measured of one."""
    tied = 0.93 + mean
    elements = D4_SUBGROUPS[name]
    return {
        "name": name,
        "group": name,
        "order": len(elements),
        "meaning": MEANINGS[name],
        "elements": list(elements),
        "verdict": verdict,
        "reason": "Better in every pair, by more than chance explains.",
        "parameters": 5210 - 37 * len(elements),
        "score": tied,
        "interval": [tied - half, tied + half],
        "gain": gain(mean, half),
        "gain_width": {**gain(mean - 0.021, half), "parameters": 5200 // len(elements) + 90},
        "gain_augmented": gain(mean / 2, half),
        "augmented": {
            "score": 0.93 + mean / 2,
            "interval": [0.92 + mean / 2, 0.94 + mean / 2],
            "parameters": 5210,
        },
    } | more


def moved_inputs() -> list[Json]:
    """The test of the inputs for the elements of D4."""
    told = {
        "r": ("a quarter turn", 0.507, 0.61),
        "r2": ("a half turn", 0.494, 0.83),
        "s": ("mirror left-right", 0.842, 0.0001),
        "sr2": ("mirror up-down", 0.851, 0.0001),
        "sr": ("mirror along the other diagonal", 0.846, 0.0001),
        "sr3": ("mirror along the main diagonal", 0.839, 0.0001),
    }
    found = [
        {
            "name": element,
            "words": said,
            "statistic": statistic,
            "p": p,
            "p_holm": min(1.0, 6 * p),
            "n": 1437,
            "rejected": p < 0.01,
        }
        for element, (said, statistic, p) in told.items()
    ]
    small = {"name": "turn10", "words": "a turn by up to 10°", "statistic": 0.53, "p": 0.04}
    return [*found, {**small, "p_holm": 0.04, "n": 1437, "rejected": False, "reported_only": True}]


def image_result() -> Json:
    """Digits turned by quarter turns: C4 is to be built in, mirrors hurt, one is undecided."""
    candidates = [
        candidate("C1", "harmless", 0.0, 0.001, reason="No symmetry at all: what gains are over."),
        candidate("C2", "harmless", 0.012, reason="Part of quarter turns, which gain more."),
        candidate("C4", "build_in", 0.0412, 0.0061),
        candidate("D1", "hurts", -0.034, reason="Worse in every pair.", dropped_after=3),
        candidate("D1v", "hurts", -0.0288, reason="Worse in every pair.", dropped_after=3),
        candidate(
            "D2",
            "cannot_tell",
            -0.004,
            0.021,
            reason="Better in two pairs, worse in three.",
            needed="about 12 more pairs, or three times as many samples",
        ),
        candidate("D4", "hurts", -0.019, reason="Worse in four pairs of five."),
    ]
    return {
        "format": "isotropy-discovery-1",
        "version": "0.1.0",
        "metric": "accuracy",
        "alpha": 0.05,
        "margin": 0.01,
        "data": {
            "name": "digits-turned",
            "kind": "image",
            "task": "classification",
            "n": 1797,
            "n_train": 1150,
            "n_validation": 378,
            "n_test": 269,
            "shape": [1, 8, 8],
            "classes": DIGITS,
            "fingerprint": "5f0c2a9be1d4",
            "notes": ["Every picture was turned by a random number of quarter turns."],
        },
        "recommended": {
            "candidate": "C4",
            "group": "C4",
            "order": 4,
            "meaning": "quarter turns",
            "verdict": "build_in",
            "words": [
                "Networks that know quarter turns were better in all 5 pairs, and moved samples "
                "cannot be told from the others.",
            ],
            "test": {
                "score": 0.9703,
                "interval": [0.952, 0.983],
                "n": 269,
                "baseline_score": 0.9331,
            },
        },
        "candidates": candidates,
        "baseline": {"score": 0.93, "interval": [0.921, 0.939], "parameters": 5234},
        "inputs": moved_inputs(),
        "audit": [
            {"layer": "conv1", "kind": "Conv2d", "free": 72, "total": 288, "error": 2.1e-7},
            {"layer": "norm1", "kind": "BatchNorm", "free": 16, "total": 64, "error": 1.4e-7},
            {
                "layer": "conv2",
                "kind": "Conv2d",
                "free": 2304,
                "total": 9216,
                "error": 3.2e-2,
                "note": "stride 2 leaves one pixel over at size 8",
            },
            {"layer": "head", "kind": "Linear", "free": 170, "total": 650, "error": 3.0e-7},
        ],
        "samples": [
            {
                "label": digit,
                "turned": [
                    {"element": "r", "words": "a quarter turn"},
                    {"element": "r2", "words": "a half turn"},
                    {"element": "r3", "words": "three quarter turns"},
                    {"element": "s", "words": "mirror left-right"},
                ],
            }
            for digit in range(4)
        ],
        "undecided": ["Mirrors left-right and up-down together: the interval holds zero."],
        "time": {"seconds": 41.2, "networks": 63, "planned": 70, "per_network": 0.65},
        "run": RUN,
        "model": {
            "usage": {
                "python": "import isotropy as iso\n\nmodel = iso.load('runs/discover-digits-1/"
                "model.safetensors')\nscores = model(images)  # (batch, 1, 8, 8)",
                "onnx": "import onnxruntime\nsession = onnxruntime.InferenceSession('model.onnx')",
                "command": "isotropy predict runs/discover-digits-1 new.npz --out answers.csv",
            },
            "files": ["model.safetensors", "model.onnx", "result.json", "report.html"],
        },
    }


def images(samples: int = 4, size: int = 8, channels: int = 1) -> Images:
    """Pictures, and the same moved by elements of D4."""
    draws = np.random.default_rng(0)
    originals = draws.random((samples, channels, size, size)).astype(np.float32)
    originals[:, :, size // 2 :, : size // 2] = 0.1
    turned = {f"r{k}" if k > 1 else "r": np.rot90(originals, k, (2, 3)) for k in (1, 2, 3)}
    return {"samples": originals, "turned": {**turned, "s": originals[..., ::-1]}}


def exchange_result() -> Json:
    """A mirror that makes 6 of 9, and three labels of each other by a quarter turn."""
    found = copy.deepcopy(image_result())
    half = [0, 1, 2, 3, 4, 5, 9, 7, 8, 6]
    chosen = candidate(
        "C2", "build_in_permuted", 0.05, labels={"r2": half}, reason="Better in every pair."
    )
    chosen["name"] = "C2 [r2: (6 9)]"
    found["candidates"] = [chosen, *found["candidates"][3:5]]
    found["recommended"] |= {
        "candidate": chosen["name"],
        "group": "C2",
        "meaning": "half turns",
        "order": 2,
        "verdict": "build_in_permuted",
        "words": ["A half turn makes a nine of a six, and a six of a nine."],
    }
    return found


def signal_result() -> Json:
    """Signals whose reversal changes nothing."""
    found = image_result()
    found["data"] |= {
        "name": "pulses",
        "kind": "signal",
        "shape": [2, 64],
        "classes": ["rising", "falling", "flat"],
    }
    moves = ("reversal", "sign change", "cyclic shift")
    found["inputs"] = [
        {"name": f"g{i}", "words": words, "statistic": 0.5 + 0.1 * i, "p": 0.3 / (1 + 90 * i)}
        for i, words in enumerate(moves)
    ]
    found["candidates"] = [
        candidate("C1", "build_in", 0.03)
        | {"name": "reversal", "group": "C2", "meaning": "reversal", "elements": ["e", "g0"]},
        candidate("C1", "hurts", -0.08)
        | {"name": "sign", "group": "C2", "meaning": "sign change", "elements": ["e", "g1"]},
    ]
    found["recommended"] |= {"candidate": "reversal", "group": "C2", "meaning": "reversal"}
    found["samples"] = [
        {"label": label, "turned": [{"element": "g0", "words": "reversal"}]} for label in range(3)
    ]
    del found["audit"]
    return found


def signals() -> Images:
    """Signals of two channels and their reversals."""
    time = np.linspace(0, 6, 64)
    originals = np.stack([[np.sin(time + k), np.cos(2 * time) * k] for k in range(3)])
    return {"samples": originals, "turned": {"g0": originals[..., ::-1]}}


def regression_result() -> Json:
    """Columns and a number to predict; a budget that ended before all was decided."""
    found = image_result()
    found |= {"metric": "mse", "margin": 0.002}
    found["data"] |= {
        "name": "concentrations.npz",
        "kind": "vector",
        "task": "regression",
        "shape": [12],
        "classes": [],
    }
    found["candidates"] = [
        candidate("C1", "build_in", 0.0042, 0.001)
        | {"name": "swap pairs", "group": "S2", "meaning": "swapping the two sensors"},
        candidate("C1", "cannot_tell", 0.0002, 0.003)
        | {"name": "any order", "group": "S6", "meaning": "any order of columns 0–5"},
    ]
    found["recommended"] |= {
        "candidate": "swap pairs",
        "group": "S2",
        "meaning": "swapping the two sensors",
        "test": {"score": 0.0123, "interval": [0.011, 0.0137], "n": 269, "baseline_score": 0.0171},
    }
    found["inputs"] = [{"name": "g", "words": "the sensors swapped", "p": 0.2, "rejected": False}]
    found["time"] |= {"budget": 120, "kept": True, "seconds": 118.4}
    found["run"] = {**RUN, "deterministic": False}
    del found["samples"]
    return found


def nothing_result() -> Json:
    """Noise labels: nothing to build in."""
    found = image_result()
    found["recommended"] = {"group": "C1", "words": ["No candidate gained beyond its interval."]}
    found["candidates"] = [c for c in found["candidates"] if c["verdict"] != "build_in"]
    return found


def hostile_result() -> Json:
    """Classes, layers and notes that are markup, or far too long."""
    found = exchange_result()
    long = "a_class_with_a_very_long_name_without_any_blank_in_it_" * 4
    evil = f"\"'><img src=x onerror=alert(2)>{SCRIPT}&amp;"
    classes = [SCRIPT, long, evil, "日本語のとても長いクラス名" * 4, *DIGITS[4:]]
    found["data"] |= {"name": evil, "classes": classes, "notes": [evil, long]}
    found["candidates"][0]["labels"] = {"r2": [1, 0, 3, 2, 4, 5, 9, 7, 8, 6]}
    found["candidates"][1] |= {"name": evil, "meaning": long, "reason": evil, "needed": long}
    found["candidates"][2] |= {"name": long, "meaning": SCRIPT}
    found["audit"][0] |= {"layer": long, "note": evil}
    found["recommended"]["words"] = [evil]
    found["undecided"] = [SCRIPT, "\x00\x08\x85 \ud800"]
    found["layers"] = {
        "order": [evil, long],
        "weights": {evil: {SCRIPT: 0.5, "C4": 0.5}, long: {"C1": 1.0}},
        "words": evil,
    }
    found["model"]["usage"]["python"] = f"print('{SCRIPT}')"
    return found


def many_result() -> Json:
    """Two hundred classes, and every subgroup of D4 with an exchange of all labels."""
    found = image_result()
    verdicts = ["harmless", "cannot_tell", "build_in", "hurts"]
    found["data"] |= {"classes": [f"species {label}" for label in range(200)]}
    found["candidates"] = [
        candidate(name, verdicts[place % 4], 0.02 - 0.01 * abs(place - 2))
        for place, name in enumerate(D4_SUBGROUPS)
    ]
    found["candidates"][1] |= {
        "verdict": "build_in_permuted",
        "labels": {"r2": [label ^ 1 for label in range(200)]},
    }
    found["layers"] = layers_part()
    return found


def layers_part() -> Json:
    """What a mixture says of six layers."""
    names = ("C1", "D1", "C2", "D2", "C4", "D4")
    weights = {
        f"features.{i}.conv": dict(
            zip(names, np.random.default_rng(i).dirichlet(np.full(6, 0.8)).tolist(), strict=True)
        )
        for i in range(6)
    }
    return {
        "order": list(weights),
        "weights": weights,
        "words": "Early layers use quarter turns, late ones hardly any symmetry.",
    }


def search_data() -> Json:
    """The data of a search."""
    return image_result()["data"] | {"name": "rotmnist", "shape": [1, 28, 28], "n": 12000}


LAYERS = [f"conv{i}" for i in range(8)]


def errors(mean: float, half: float, runs: int = 3) -> Json:
    """Errors over seeds."""
    single = (mean + np.linspace(-1, 1, runs) * half / 2).tolist()
    return {"mean": mean, "low": mean - half, "high": mean + half, "runs": runs, "single": single}


def evolve_result(generations: int = 12, parents: int = 6) -> Json:
    """A search by evolution, as Algorithm 1 goes: parents before children."""
    draws = np.random.default_rng(3)
    population = [_individual(0, None, 0, dict.fromkeys(LAYERS, "D4"), 0.4, True)]
    alive = [population[0]]
    down = {"D4": "C4", "C4": "C2", "C2": "C1", "C1": "C1"}
    for generation in range(1, generations + 1):
        children = []
        for parent in alive:
            for change in (False, True, True):
                groups = dict(parent["groups"])
                if change:
                    layer = LAYERS[int(draws.integers(len(LAYERS) - min(generation, 8), 8))]
                    for after in LAYERS[LAYERS.index(layer) :]:
                        groups[after] = down[groups[after]]
                error = parent["val_error"] * (0.78 + 0.15 * draws.random()) + 0.003
                born = len(population) + len(children)
                children.append(_individual(born, parent["id"], generation, groups, error, False))
        children.sort(key=lambda child: child["val_error"])
        for child in children[:parents]:
            child["selected"] = True
        alive = children[:parents]
        population += sorted(children, key=lambda child: child["id"])
    best = min(alive, key=lambda one: one["val_error"])
    return {
        "format": "isotropy-search-1",
        "version": "0.1.0",
        "method": "evolve",
        "data": search_data(),
        "model": {
            "name": "equinas",
            "layers": LAYERS,
            "usage": {"python": "import isotropy as iso\n\nmodel = iso.load('model.safetensors')"},
            "files": ["model.safetensors", "study.db"],
        },
        "group": "D4",
        "groups": ["C1", "D1", "C2", "D2", "C4", "D4"],
        "settings": {"generations": generations, "parents": parents, "epochs": 0.5, "workers": 2},
        "population": population,
        "front": pareto_ids(alive),
        "best": best["id"],
        "max_morphism_error": 3.1e-7,
        "found": {
            "groups": best["groups"],
            "parameters": best["parameters"],
            "val_error": best["val_error"],
            "test_error": errors(0.0171, 0.0022),
            "individuals": errors(0.0183, 0.0011, 5),
        },
        "baselines": baselines(),
        "helped": {"over": "C4", "gain": errors(0.0021, 0.0034)},
        "seconds": 412.0,
        "baseline_seconds": 655.0,
        "trials": len(population),
        "run": {**RUN, "command": "isotropy search evolve rotmnist --seed 0"},
    }


def pareto_ids(alive: list[Json]) -> list[int]:
    """The ids that none betters in both respects."""

    def betters(a: Json, b: Json) -> bool:
        pair_a, pair_b = ((x["val_error"], x["parameters"]) for x in (a, b))
        return pair_a != pair_b and all(u <= v for u, v in zip(pair_a, pair_b, strict=True))

    return [b["id"] for b in alive if not any(betters(a, b) for a in alive)]


def _individual(
    id_: int, parent: int | None, generation: int, groups: Json, error: float, selected: bool
) -> Json:
    size = sum(40_000 // group(name).order for name in groups.values())
    return {
        "id": id_,
        "parent": parent,
        "generation": generation,
        "groups": groups,
        "val_error": error,
        "parameters": size,
        "seconds": 4.5,
        "selected": selected,
    }


def baselines() -> list[Json]:
    """The methods that run beside a search."""
    table = {
        "C1": (0.0312, 0.003, 320_000),
        "D1": (0.0335, 0.002, 160_000),
        "C2": (0.0247, 0.002, 160_000),
        "D2": (0.0281, 0.003, 80_000),
        "C4": (0.0192, 0.002, 80_000),
        "D4": (0.0224, 0.002, 40_000),
        "C4, relaxed from D4 untrained": (0.0214, 0.004, 80_000),
        "residual pathways": (0.0233, 0.003, 360_000),
        "random relaxations": (0.0229, 0.005, 97_000),
        "plain, turned training data": (0.0266, 0.002, 320_000),
    }
    return [
        {"name": name, "test_error": errors(mean, half), "parameters": size}
        for name, (mean, half, size) in table.items()
    ]


def mix_result(epochs: int = 20) -> Json:
    """A search by mixture: weights that drift from equal shares."""
    names = ["C1", "D1", "C2", "D2", "C4", "D4"]
    found = evolve_result()
    for key in ("population", "front", "best", "max_morphism_error"):
        del found[key]
    weights: Json = {}
    for place, layer in enumerate(LAYERS):
        pull = np.random.default_rng(place).normal(size=6)
        logits = np.linspace(0, 1, epochs + 1)[:, None] * pull * 2
        shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        weights[layer] = {name: shares[:, i].tolist() for i, name in enumerate(names)}
    found |= {"method": "mix", "times": list(range(epochs + 1)), "weights": weights}
    del found["found"]["groups"], found["found"]["individuals"]
    found["settings"] = {"epochs": epochs, "gradients": "two", "lr": 0.01, "alpha_lr": 0.01}
    found["trials"] = 1
    return found


def hostile_search_result() -> Json:
    """A search whose names are markup or far too long, and whose networks failed in part."""
    found = evolve_result(6)
    long = "a_layer_with_a_very_long_name_without_any_blank_in_it_" * 3
    found["data"] |= {"name": SCRIPT}
    found["found"]["groups"] = {SCRIPT: "D4", long: SCRIPT}
    found["baselines"] += [{"name": SCRIPT * 3, "test_error": errors(0.03, 0.01)}]
    found["helped"]["over"] = SCRIPT
    found["settings"] |= {long: SCRIPT, "momentum": float("nan"), "nested": {"a": [1]}}
    for row in found["population"][3::5]:
        row |= {"val_error": None, "failed": True, "groups": {long: SCRIPT}}
    found["model"]["usage"][SCRIPT] = SCRIPT
    found |= {
        "times": [0, 1, 2],
        "weights": {long: {SCRIPT: [0.5, 0.4, 0.1], "C4": [0.5, 0.6, 0.9]}},
    }
    return found
