"""`isotropy search`: which group every layer should be tied under, by evolution or by mixtures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from isotropy.cli.flags import unwrapped
from isotropy.cli.model import build
from isotropy.cli.result import Result
from isotropy.cli.search_flags import (
    Evolving,
    Learning,
    Mixture,
    SearchModel,
    Working,
    divided,
    listed,
    tied_flags,
)
from isotropy.cli.search_mix import mix, mixed
from isotropy.cli.search_result import frame, keep
from isotropy.cli.shared import (
    Context,
    DataFlags,
    Kept,
    Seeded,
    Source,
    Speaking,
    add,
    load_data,
    start_run,
)
from isotropy.data.parts import Parts

if TYPE_CHECKING:
    from isotropy.data import Splits
    from isotropy.runs import Run
    from isotropy.search import Comparison, Evolution, Generation, Guide
    from isotropy.search.compare import Finished

HELP = """Find out in which layers which symmetry pays off, while the network is trained.

Example: isotropy search evolve digits --model cnn --generations 3 --epochs 2 --no-baselines
"""
FREE = ("workers", "backend", "address", "gpus", "no_baselines")
"""Options that may differ when a run is resumed: the search's result does not depend on them."""

INTERRUPTED = 130


def evolve(
    context: Context,
    source: Source,
    model: SearchModel,
    evolving: Evolving,
    learning: Learning,
    parts: Parts,
    data: DataFlags,
    seeded: Seeded,
    kept: Kept,
    working: Working,
    speaking: Speaking,
) -> Result:
    """Give symmetry up layer by layer, by evolution, while networks are trained.

    Example: isotropy search evolve digits --model cnn --generations 3 --epochs 2 --no-baselines

    Layers begin tied under one group and are relaxed to smaller ones; networks with few numbers
    and a small validation error live on. The run's folder gets every network with a study of all
    of them (optuna-dashboard reads it), the best as model.safetensors, result.json and
    report.html. Baselines are trained as long and tested once, as the best network is.
    """
    begun = time.monotonic()
    loaded = load_data(source, data, speaking, seeded.seed)
    own = divided(loaded, parts, seeded.seed)
    run = start_run(context, loaded, kept, FREE)
    speaking.say(f"{run.folder}: {len(own.train):,} samples to train on")
    seeds = range(seeded.seed, seeded.seed + evolving.repeats)
    try:
        with run.unless_refused():
            searches = [
                _search(run, own, seed, model, evolving, learning, working, kept, speaking)
                for seed in seeds
            ]
        compared = _compared(searches, own, working, speaking)
    except KeyboardInterrupt:
        words = f"interrupted; go on with --resume --out {run.folder}"
        return Result({"run": str(run.folder), "stopped": "interrupted"}, words, INTERRUPTED)
    best = min(searches, key=lambda found: found.best.val_error)
    return _finish_evolve(run, own, model.model, best, compared, time.monotonic() - begun)


def _search(
    run: Run,
    own: Splits,
    seed: int,
    model: SearchModel,
    evolving: Evolving,
    learning: Learning,
    working: Working,
    kept: Kept,
    speaking: Speaking,
) -> Evolution:
    """One search, with one seed."""
    import isotropy as iso

    assert own.validation is not None, "a source is divided into parts before"
    return iso.search.evolve(
        build(model.model, tied_flags(model, evolving.group), own.train, seed),
        own.train,
        groups=listed(evolving.groups),
        generations=evolving.generations,
        parents=evolving.parents,
        epochs=evolving.epochs,
        settings=learning.settings,
        validation=own.validation,
        guide=_guide(run, own, seed, model, evolving, learning, kept, speaking),
        halvings=evolving.halvings,
        budget=evolving.budget,
        workers=working.workers,
        backend=working.backend,
        address=working.address,
        gpus=working.gpus,
        seed=seed,
        out=run.path(f"seed-{seed}"),
        resume=kept.resume,
        storage=working.storage,
        watch=_told(speaking),
    )


def _guide(
    run: Run,
    own: Splits,
    seed: int,
    model: SearchModel,
    evolving: Evolving,
    learning: Learning,
    kept: Kept,
    speaking: Speaking,
) -> Guide | None:
    """What a mixture says of every layer, if it is asked."""
    import isotropy as iso

    if not evolving.guide:
        return None
    groups = [str(g) for g in iso.search.allowed_groups(iso.group(evolving.group))]
    speaking.say(f"asking a mixture of {', '.join(groups)} first, {evolving.guide} epochs")
    flags = Mixture(groups=",".join(groups), epochs=evolving.guide, batch_size=learning.batch_size)
    found = mixed(own, seed, model, flags, kept, speaking, run.path(f"seed-{seed}-guide"))
    if found.stopped == "interrupted":  # half of a mixture guides nobody
        raise KeyboardInterrupt
    return found.final


def _told(speaking: Speaking) -> Callable[[Generation], None]:
    """Who tells how a search goes, generation by generation, with the time that is left."""
    from isotropy.training import clock

    begun = time.monotonic()

    def tell(generation: Generation) -> None:
        best = generation.best
        left = (time.monotonic() - begun) * (generation.of - generation.number) / generation.number
        speaking.say(
            f"generation {generation.number:>{len(str(generation.of))}}/{generation.of}  "
            f"{generation.tried} trained  {len(generation.population)} live on  "
            f"validation error {best.val_error:.4f}  {best.parameters:,} numbers  "
            f"{'-'.join(best.groups.values())}  {clock(left)} left"
        )

    return tell


def _compared(
    searches: Sequence[Evolution], own: Splits, working: Working, speaking: Speaking
) -> Comparison | None:
    """The baselines, and all test errors; None without test data."""
    import isotropy as iso
    from isotropy.search.rivals import KINDS

    if own.test is None:
        return None
    return iso.search.compare(
        searches,
        own.test,
        kinds=() if working.no_baselines else KINDS,
        workers=working.workers,
        backend=working.backend,
        address=working.address,
        watch=_told_of_baselines(speaking),
    )


def _told_of_baselines(speaking: Speaking) -> Callable[[Finished], None]:
    """Who tells how the baselines go, with the time that is left."""
    from isotropy.training import clock

    begun, trained = time.monotonic(), 0

    def tell(one: Finished) -> None:
        nonlocal trained
        trained += 1
        left = (time.monotonic() - begun) / trained * (one.of - one.number)
        speaking.say(
            f"baseline {one.number:>{len(str(one.of))}}/{one.of}  "
            f"validation error {one.finish.val_error:.4f}  {one.name}  {clock(left)} left"
        )

    return tell


def _finish_evolve(
    run: Run,
    own: Splits,
    name: str,
    best: Evolution,
    compared: Comparison | None,
    seconds: float,
) -> Result:
    told: dict[str, Any] = {} if compared is None else compared.to_json()
    found = best.to_json()
    if compared is not None:
        found["found"] |= {k: told.pop(k) for k in ("test_error", "individuals")}
    result = {
        **found,
        **told,
        **frame(run, own, name, best.model),
        "seconds": best.seconds,
        "wall_seconds": seconds,
    }
    run.save_scaling(best.train)
    return keep(run, result, best.model, _evolve_words(run, best, compared))


def _evolve_words(run: Run, best: Evolution, compared: Comparison | None) -> str:
    one = best.best
    groups = "  ".join(f"{layer} {group}" for layer, group in one.groups.items())
    lines = [
        f"{run.folder}: {len(best.population) - 1} networks, at most "
        f"{best.max_morphism_error:.1e} from their parents at birth",
        f"best: {one.parameters:,} numbers, validation error {one.val_error:.4f}",
        f"      {groups}",
    ]
    if compared is not None:
        from isotropy.search.compare import table

        unit = " in percent" if compared.metric == "error" else f" ({compared.metric})"
        lines += [f"test error{unit}", table(compared), _verdict(compared)]
    return "\n".join(line for line in lines if line)


def _verdict(compared: Comparison) -> str:
    """Whether the search helped, only ever with its interval."""
    from isotropy.search.compare import number

    helped = compared.helped
    if helped is None:
        if not compared.baselines:
            return ""
        return (
            f"of the baselines {compared.strongest} had the smallest validation error; "
            "one search cannot tell whether searching helps: see --repeats"
        )
    gain, over = helped["gain"], helped["over"]
    middle, low, high = (number(gain[k], compared.metric, "+") for k in ("mean", "low", "high"))
    unit = " points" if compared.metric == "error" else ""
    words = f"{middle}{unit} ({low} to {high}, {gain['runs']} seeds) over {over}"
    if gain["low"] > 0:
        return f"the search helped: {words}"
    if gain["high"] < 0:
        return f"the search did not help: {words}"
    return f"whether the search helped cannot be told: {words}"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    own = typer.Typer(name="search", help=unwrapped(HELP), rich_markup_mode="rich")
    add(own, evolve)
    add(own, mix)
    app.add_typer(own, name="search")
