"""What was run, on what, and how long; and how to use the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isotropy.report.numbers import count, duration, significant, times
from isotropy.report.read import Result, items, number, part, texts, words

Facts = list[tuple[str, str]]

_USES = {
    "python": "In Python",
    "onnx": "Without isotropy, by ONNX Runtime",
    "command": "On the command line",
    "torch": "As a plain PyTorch model",
}


@dataclass(frozen=True)
class Code:
    """Lines to copy, and what they are for."""

    title: str
    text: str


def data_facts(result: Result) -> Facts:
    """What the data was."""
    data = part(result, "data")
    shape = " × ".join(words(v) for v in items(data, "shape"))
    names = ("train", "validation", "test")
    split = [(count(number(data.get(f"n_{n}"))), n) for n in names if number(data.get(f"n_{n}"))]
    classes = texts(data, "classes")
    return known(
        ("data", words(data.get("name"))),
        ("samples", count(number(data.get("n"))) if number(data.get("n")) else ""),
        ("split", ", ".join(f"{number_} for {_SPLIT[name]}" for number_, name in split)),
        ("shape", shape),
        ("task", words(data.get("task"))),
        ("classes", f"{len(classes)}: {_listed(classes)}" if classes else ""),
        ("fingerprint", words(data.get("fingerprint"))),
        *[("note", note) for note in texts(data, "notes")],
    )


_SPLIT = {"train": "training", "validation": "choosing", "test": "the test at the end"}


def _listed(names: list[str], most: int = 12) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def run_facts(result: Result) -> Facts:
    """What was run, where and when."""
    run = part(result, "run")
    resumed = run.get("resume")
    return known(
        ("command", words(run.get("command"))),
        ("seed", words(run.get("seed"))),
        ("started", words(run.get("started"))),
        ("machine", _joined(run.get("machine"))),
        ("versions", _joined(run.get("versions"))),
        ("resumed", "yes" if resumed is True else words(resumed)),
    )


def time_facts(result: Result) -> Facts:
    """How long it took, and whether a budget was kept."""
    time = part(result, "time")
    seconds, budget = number(time.get("seconds")), number(time.get("budget"))
    networks, planned = number(time.get("networks")), number(time.get("planned"))
    trained = ""
    if networks is not None:
        trained = times(int(networks), "network")
        if planned is not None and planned != networks:
            trained += f" of {count(planned)} planned"
    each = number(time.get("per_network"))
    kept = ""
    if isinstance(time.get("kept"), bool):
        kept = " (kept)" if time["kept"] else " (not kept)"
    return known(
        ("time", duration(seconds) if seconds is not None else ""),
        ("budget", duration(budget) + kept if budget is not None else ""),
        ("trained", trained),
        ("each network", duration(each) if each is not None else ""),
    )


def repeat_words(result: Result) -> str:
    """Whether the same seed gives the same result."""
    deterministic = part(result, "run").get("deterministic")
    if deterministic is True:
        return "Run again with the same seed, this gives the same result."
    if deterministic is False or number(part(result, "time").get("budget")) is not None:
        return (
            "A time budget makes the result depend on how fast the machine is: run again, it may "
            "differ. Without a budget the same seed gives the same result."
        )
    return ""


def codes(result: Result) -> list[Code]:
    """How to use the model, in lines to copy."""
    usage = part(part(result, "model"), "usage")
    ordered = [*[k for k in _USES if k in usage], *[k for k in usage if k not in _USES]]
    return [Code(_USES.get(k, k), words(usage[k])) for k in ordered if words(usage[k])]


def model_files(result: Result) -> list[str]:
    """The files that the run left."""
    files = part(result, "model").get("files")
    if isinstance(files, Mapping):
        return [f"{words(path)} ({name})" for name, path in files.items() if words(path)]
    return texts(part(result, "model"), "files")


def _joined(value: Any) -> str:
    """A text, or the parts of a mapping in a line."""
    if isinstance(value, Mapping):
        told = [(str(k).replace("_", " "), plain(v)) for k, v in value.items()]
        return ", ".join(f"{name} {said}" for name, said in told if said)
    return words(value)


def plain(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return significant(value) if isinstance(value, float) else words(value)


def known(*pairs: tuple[str, str]) -> Facts:
    """Those facts that are."""
    return [(name, value) for name, value in pairs if value]
