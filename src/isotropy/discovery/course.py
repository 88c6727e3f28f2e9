"""The course of a discovery: inputs first, then the race, then the last look."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from isotropy._replacing import write_text
from isotropy.data import DataSet
from isotropy.data.parts import Parts, divide, without
from isotropy.discovery.asked import Asked
from isotropy.discovery.clock import Clock
from isotropy.discovery.contender import Contender, units
from isotropy.discovery.discovered import Discovery
from isotropy.discovery.ending import Ending, Lessons
from isotropy.discovery.inputs import (
    InputTest,
    Move,
    enough_samples,
    judged,
    moves_of,
    permutations_for,
    run_move,
)
from isotropy.discovery.last import Shipped, open_model, train_last
from isotropy.discovery.layers import layers_used
from isotropy.discovery.ledger import Ledger
from isotropy.discovery.plan import Plan
from isotropy.discovery.progress import Progress
from isotropy.discovery.race import Race
from isotropy.discovery.result import Findings, chosen_of, has_learned, to_json
from isotropy.discovery.samples import keep_samples
from isotropy.discovery.settle import Prices, compared, pace
from isotropy.discovery.study import Study, is_unbalanced
from isotropy.discovery.trial import TIED
from isotropy.discovery.use import keep_model, keep_page, layer_rows
from isotropy.discovery.verdict import Rules
from isotropy.errors import InputError, IsotropyError
from isotropy.evidence.symmetry import Symmetry
from isotropy.search.workers import Failed, Workers


class Course:
    """One discovery from beginning to end.

    Args:
        asked: what to find out.
        folder: where everything is kept as it is found.
        workers: how many networks are trained at once.
        progress: is told how it goes.
        command: what was called, for the report.
        began: when what the budget is for began, by `time.monotonic`; now, unless given.
    """

    def __init__(
        self,
        asked: Asked,
        folder: Path,
        workers: int | None = None,
        progress: Progress | None = None,
        command: str = "",
        began: float | None = None,
    ) -> None:
        self.asked, self.folder = asked, folder
        self.progress = progress or Progress()
        self.workers, self.command = workers, command
        self.began = time.monotonic() if began is None else began
        self.started = time.time() - (time.monotonic() - self.began)

    def run(self, keep: bool = True) -> Discovery:
        """All of it; what is found stays in the folder if it is to be kept."""
        with Workers(self.workers) as pool:
            self.clock = Clock(self.asked.budget, pool.count, self.began)
            self.progress.start(self.clock)
            try:
                return self._through(pool, keep)
            finally:
                self.progress.end()

    def _through(self, pool: Workers, keep: bool) -> Discovery:
        comparing, test = self._set_apart()
        prices = None if self.asked.budget is None else self._prices(comparing, pool.count)
        if prices is not None:
            prices.plan(self.asked.plan, self.clock.left)  # refuses now what could not be done
        study = self._study(comparing, self.asked.plan)
        moves = tuple(moves_of(self.asked.candidates, comparing.kind, comparing.shape))
        tests = self._test_inputs(pool, study, moves)
        rejected = _rejected(self.asked.candidates, tests)
        if prices is not None:
            study = self._study(comparing, self._settled(prices))
        ledger = Ledger(self.folder / "trials.jsonl")
        ending = self._ending(study, comparing)
        race = Race(
            study,
            self.asked.candidates,
            rejected,
            ledger,
            pool,
            self.clock,
            self.progress,
            ending.reserve,
        )
        race.run()
        plan = study.plan
        learned = has_learned(race, study.data, plan)
        rules = Rules(plan.margin, plan.tolerated, learned)
        chosen = chosen_of(race, rules)
        lessons = ending.lessons(race, chosen)
        shipped = self._last_look(pool, study, comparing, test, chosen, lessons)
        model = open_model(shipped["recommended"])
        example, _ = test.batch(np.arange(min(len(test), 8)))
        seen, _ = _in_view(test, study).batch(np.arange(len(example)))
        found = Findings(
            race,
            tests,
            moves,
            self.asked.data,
            comparing,
            plan,
            rules,
            chosen,
            shipped,
            lessons.words,
            self.started,
            {"budget": self.asked.budget, "seed": self.asked.seed, "command": self.command},
            layer_rows(model, seen, chosen),
            self._layers(study, chosen),
        )
        files = keep_model(self.folder, model, example) if keep else []
        result = to_json(found)  # with the time that all of this took
        images = keep_samples(test, chosen, self.asked.candidates, result)
        if keep:
            result = keep_page(self.folder, files, result, images)
        return Discovery(result, model, chosen.symmetry if chosen else None, images)

    # -- the parts --------------------------------------------------------------------------

    def _set_apart(self) -> tuple[DataSet, DataSet]:
        """Samples to compare and train on, and those that are looked at once, in the end."""
        whole, plan = self.asked.data, self.asked.plan
        parts = divide(whole, Parts(plan.validation, plan.test), self.asked.seed)
        assert parts.test is not None
        if whole.test is not None:
            return whole.train, whole.test
        return without(whole.train, parts.test), parts.test

    def _study(self, comparing: DataSet, plan: Plan) -> Study:
        asked, probe = self.asked, self.asked.probe
        data = compared(comparing, plan.samples, asked.seed)
        study = Study(
            self.folder / "data",
            data.task,
            data.classes,
            probe,
            plan,
            asked.seed,
            is_unbalanced(data),
        )
        study.write(data)
        return study

    def _prices(self, comparing: DataSet, workers: int) -> Prices:
        """What the networks of the race cost on this machine."""
        asked, probe = self.asked, self.asked.probe
        plain = units(probe, None, 0)
        tied = [units(probe, s, probe.matched_width(s)) for s in asked.candidates]
        relative = [cost / plain for cost in (plain, *tied)]
        used = min(len(comparing), asked.plan.samples)
        return Prices(used, relative, pace(comparing, probe), workers)

    def _settled(self, prices: Prices) -> Plan:
        """The plan cut to what the tests have left of the budget, but never to nothing.

        Once settled it stays, so that a resumed run goes on.
        """
        path = self.folder / "plan.json"
        if path.exists():
            return Plan(**json.loads(path.read_text(encoding="utf-8")))
        asked = self.asked.plan
        plan = prices.plan(asked, max(self.clock.left, prices.fewest(asked)))
        write_text(path, json.dumps(asdict(plan)))
        return plan

    def _test_inputs(
        self, pool: Workers, study: Study, moves: Sequence[Move]
    ) -> tuple[InputTest, ...]:
        """Whether moved inputs look like the inputs."""
        if not enough_samples(len(study.data)):
            raise InputError(f"{len(study.data)} samples are too few to compare moved ones with")
        self.progress.stage("looking whether moved samples look the same")
        permutations = permutations_for(len(moves), study.plan.alpha)
        found: list[InputTest] = []
        for _, test in pool.each(run_move, [(study, move, permutations) for move in moves]):
            if isinstance(test, Failed):
                raise IsotropyError(f"a test of the inputs failed: {test.error}")
            found.append(test)
        return judged(found, moves, study.plan.alpha)

    def _layers(self, study: Study, chosen: Contender | None) -> dict[str, Any]:
        """In which layers the recommended symmetry helps, where that was asked."""
        if self.asked.method != "mix" or chosen is None:
            return {}
        self.progress.stage("asking in which layers it helps")
        return layers_used(study, chosen.symmetry, self.folder / "mixture")

    def _ending(self, study: Study, comparing: DataSet) -> Ending:
        trained_on, samples = study.sizes[0], len(comparing)
        raced = trained_on * study.plan.settings(trained_on).epochs
        return Ending(self.clock, samples, self.asked.plan.settings(samples).epochs, raced)

    def _last_look(
        self,
        pool: Workers,
        study: Study,
        comparing: DataSet,
        test: DataSet,
        chosen: Contender | None,
        lessons: Lessons,
    ) -> dict[str, Shipped]:
        """Train the recommended network and the untied one on everything but the test data."""
        self.progress.stage("training the recommended network")
        plan = replace(study.plan, epochs=lessons.epochs)
        last = replace(study, folder=self.folder / "last", plan=plan)
        last.write(compared(comparing, lessons.samples, study.seed))
        test = _in_view(test, study)
        jobs: list[Any] = [(last, test, None, 0, self.folder / "untied.safetensors")]
        names, units = ["untied"], [lessons.units]
        if chosen is not None:
            path = self.folder / "model.safetensors"
            jobs.insert(0, (last, test, chosen.symmetry, chosen.width, path))
            names.insert(0, "recommended")
            units.insert(0, chosen.cost(TIED) * lessons.units)
        self.progress.plan(units)
        found: dict[str, Shipped] = {}
        for number, outcome in pool.each(train_last, jobs):
            if isinstance(outcome, Failed):
                raise IsotropyError(f"the last network failed: {outcome.error}")
            found[names[number]] = outcome
            self.progress.done(units[number])
        found.setdefault("recommended", found["untied"])
        return found


def _in_view(test: DataSet, study: Study) -> DataSet:
    """Test data as the networks see them."""
    from isotropy.discovery.settle import as_entries

    return as_entries(test) if study.probe.view == "entries" and len(test.shape) > 1 else test


def _rejected(candidates: Sequence[Symmetry], tests: Sequence[InputTest]) -> list[str]:
    seen = {test.name for test in tests if test.rejected and not test.reported_only}
    return [c.name for c in candidates if seen & set(c.elements)]
