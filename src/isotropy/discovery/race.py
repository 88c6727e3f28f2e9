"""Which networks are trained, in which order: all candidates for a few rounds, then those in doubt.

Every round draws a new split and new weights, and trains in it the untied network and a network
tied under each candidate that is still racing; differences are taken within a round. What is
trained next depends only on outcomes, never on which worker was quicker, so the same seed gives
the same result; only a budget cuts the list short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from isotropy.data import DataSet, Part
from isotropy.discovery.clock import Clock
from isotropy.discovery.contender import Contender, contender
from isotropy.discovery.labels import Answers, label_variants
from isotropy.discovery.ledger import Ledger
from isotropy.discovery.plan import Plan
from isotropy.discovery.progress import Progress
from isotropy.discovery.signs import sign_variants
from isotropy.discovery.study import Study
from isotropy.discovery.trial import (
    AUGMENTED,
    TIED,
    UNTIED,
    WIDE,
    Outcome,
    Trial,
    asked_indices,
    run_trial,
)
from isotropy.discovery.verdict import CANNOT_TELL, Rules, Standing, has_lost, is_open, verdict
from isotropy.errors import TrainingError
from isotropy.evidence.gain import Gain, common_spread, paired_gain
from isotropy.evidence.symmetry import Symmetry
from isotropy.search.workers import Failed, Workers

PROPOSING, CONFIRMING = 0, 1  # the rounds whose untied networks are asked about moved samples
MOST_RACING_VARIANTS = 6


class Race:
    """Networks tied under candidates against untied ones, round by round.

    Args:
        study: the question.
        candidates: the symmetries.
        rejected: the names of those whose moves can be seen in the inputs.
        ledger: what is known.
        pool: trains networks.
        clock: says whether there is time.
        progress: is told how it goes.
        reserve: of the race, the seconds that must be left after it.
    """

    def __init__(
        self,
        study: Study,
        candidates: Sequence[Symmetry],
        rejected: Sequence[str],
        ledger: Ledger,
        pool: Workers,
        clock: Clock,
        progress: Progress,
        reserve: Callable[[Race], float],
    ) -> None:
        self.study, self.ledger, self.pool = study, ledger, pool
        self.clock, self.progress, self.reserve = clock, progress, reserve
        self.plain_candidates = tuple(candidates)
        self.contenders = [
            contender(study.probe, symmetry, symmetry.name in rejected) for symmetry in candidates
        ]
        self._refused: dict[str, None] = {}

    # -- the course -------------------------------------------------------------------------

    def run(self) -> None:
        """The whole race."""
        plan = self.study.plan
        self.progress.stage("comparing all candidates")
        self._train_rounds(range(plan.first_rounds), self.contenders)
        self._add_variants()
        self._drop()
        self.progress.stage("comparing what is left")
        self._train_rounds(range(plan.first_rounds, plan.rounds), self.racing)
        if is_open(self.standings(), self.rules):
            self.progress.stage("looking closer at what is in doubt")
            self._train_rounds(range(plan.rounds, plan.more_rounds), self._in_doubt())
        self.progress.stage("settling verdicts")
        self._train_rounds(range(plan.first_rounds, plan.settling_rounds), self._undecided())
        if self.cut_short:  # what is left of a budget is for the last networks
            return
        self.progress.stage("comparing with moved training data and with equal width")
        shown = [c for c in self.racing if not c.rejected] or self.racing
        for arm in (AUGMENTED, WIDE):
            self._train([c.trial(arm, r) for r in range(plan.shown_rounds) for c in shown])

    @property
    def cut_short(self) -> list[str]:
        """The networks that a budget had no time for."""
        return [key for key in self._refused if key not in self.ledger.known]

    @property
    def racing(self) -> list[Contender]:
        """Those that are compared on."""
        return [c for c in self.contenders if c.races]

    def _in_doubt(self) -> list[Contender]:
        return [c for c in self.racing if not c.rejected]

    def _undecided(self) -> list[Contender]:
        """Those that cannot be recommended any more, but might be judged."""
        return [
            c
            for c in self.contenders
            if not c.failed and verdict(self.standing(c), self.rules) == CANNOT_TELL
        ]

    @property
    def rules(self) -> Rules:
        """What counts as a difference."""
        plan: Plan = self.study.plan
        return Rules(plan.margin, plan.tolerated)

    # -- training ---------------------------------------------------------------------------

    def _train_rounds(self, numbers: range, contenders: Sequence[Contender]) -> None:
        """The untied network and those of some contenders, for some rounds."""
        if not contenders:
            return
        trials: list[Trial] = []
        for number in numbers:
            asked = self.plain_candidates if number in (PROPOSING, CONFIRMING) else ()
            trials.append(Trial(UNTIED, "", number, asked=asked))
            ordered = sorted(contenders, key=lambda c: c.rejected)
            trials += [c.trial(TIED, number) for c in ordered]
        self._train(trials)

    def _train(self, trials: Sequence[Trial]) -> None:
        """Train what is not known yet, as far as there is time."""
        open_ = [trial for trial in trials if not self.ledger.recalls(trial.key)]
        self.progress.plan([self._units(trial) for trial in open_])
        begun: list[Trial] = []
        for number, outcome in self.pool.each(run_trial, self._timely(open_, begun)):
            self._keep(begun[number], outcome)
        left_out = open_[len(begun) :]
        self._refused |= dict.fromkeys(trial.key for trial in left_out)
        self.progress.plan([-self._units(trial) for trial in left_out])

    def _timely(self, trials: Sequence[Trial], begun: list[Trial]) -> Iterator[tuple[Study, Trial]]:
        for trial in trials:
            if not self.clock.allows(self._units(trial), self.reserve(self)):
                return
            begun.append(trial)
            yield self.study, trial

    def _keep(self, trial: Trial, outcome: Outcome | Failed) -> None:
        if isinstance(outcome, Failed):
            if trial.arm == UNTIED:
                raise TrainingError(f"the untied network: {outcome.error}")
            if trial.arm == TIED:  # the others are only shown beside it
                self._named(trial.candidate).failed = str(outcome.error)
            return
        self.ledger.add(outcome)
        self.clock.learn(self._units(trial), outcome.seconds)
        self.progress.done(self._units(trial))

    def _units(self, trial: Trial) -> float:
        return 1.0 if trial.arm == UNTIED else self._named(trial.candidate).cost(trial.arm)

    def _named(self, name: str) -> Contender:
        return next(c for c in self.contenders if c.name == name)

    # -- exchanges of labels ----------------------------------------------------------------

    def _add_variants(self) -> None:
        """Candidates that exchange labels or turn signs, as the untied networks suggest."""
        found = [
            (own.rejected, not sure, symmetry)
            for own in self.racing
            for symmetry, sure in self._variants(own)
        ]
        found.sort(key=lambda one: one[:2])
        made = []
        for rejected, unsure, symmetry in found[:MOST_RACING_VARIANTS]:
            made.append(contender(self.study.probe, symmetry, rejected))
            made[-1].exchanges_surely = not unsure
        self.contenders += made
        self._train_rounds(range(self.study.plan.first_rounds), made)

    def _variants(self, own: Contender) -> list[tuple[Symmetry, bool]]:
        """The same symmetry with labels exchanged or signs changed, and whether that is sure."""
        if not all(f"{number}/{UNTIED}/" in self.ledger.known for number in (0, 1)):
            return []
        if self.study.task == "regression":
            return [(s, True) for s in self._signed(own.symmetry)]
        proposed, confirming = self._answers(PROPOSING), self._fresh_answers()
        margin = self.study.plan.margin
        variants = label_variants(own.symmetry, proposed, confirming, margin)
        return [(v.symmetry, v.sure) for v in variants]

    def _signed(self, symmetry: Symmetry) -> list[Symmetry]:
        validation = self._validation(CONFIRMING)
        indices = asked_indices(validation)
        said = self.ledger.known[f"{CONFIRMING}/{UNTIED}/"].answers
        numbers = {element: np.asarray(values) for element, values in said.items()}
        targets = np.asarray(validation.targets, dtype=float)[indices]
        return sign_variants(symmetry, targets, numbers, self.study.plan.margin)

    def _validation(self, number: int) -> DataSet:
        return self.study.parts(number)[1]

    def _answers(self, number: int) -> Answers:
        validation = self._validation(number)
        labels = validation.targets[asked_indices(validation)]
        said = self.ledger.known[f"{number}/{UNTIED}/"].answers
        given = {element: np.asarray(values, dtype=np.int64) for element, values in said.items()}
        return Answers(labels, given, len(self.study.classes))

    def _fresh_answers(self) -> Answers:
        """The confirming round's answers on samples that the proposing round was not asked of."""
        fresh = ~np.isin(self._asked(CONFIRMING), self._asked(PROPOSING))
        return self._answers(CONFIRMING).only(fresh)

    def _asked(self, number: int) -> NDArray[np.int64]:
        """Which of all samples a round's untied network was asked about."""
        validation = self._validation(number)
        assert isinstance(validation.samples, Part)
        return validation.samples.indices[asked_indices(validation)]

    # -- standings --------------------------------------------------------------------------

    def score(self, arm: str, name: str, number: int) -> float | None:
        """The score of a network, if it was trained."""
        found = self.ledger.known.get(f"{number}/{arm}/{name}")
        return None if found is None else found.score

    def scores(self, arm: str, name: str = "") -> list[float]:
        """The scores of all rounds of an arm."""
        return [outcome.score for outcome in self._outcomes(arm, name)]

    def seconds(self, arm: str, name: str = "") -> list[float]:
        """How long the networks of an arm took."""
        return [outcome.seconds for outcome in self._outcomes(arm, name)]

    def parameters(self, arm: str, name: str = "") -> int:
        """Numbers that a network of an arm trains; there must be one."""
        return next(self._outcomes(arm, name)).parameters

    def _outcomes(self, arm: str, name: str) -> Iterator[Outcome]:
        """Of the rounds that are known: a budget or an error may leave any of them out."""
        keys = (f"{number}/{arm}/{name}" for number in range(self.study.plan.more_rounds))
        return (self.ledger.known[key] for key in keys if key in self.ledger.known)

    def gain(self, arm: str, name: str, over: str = UNTIED, whose: str = "") -> Gain | None:
        """What one arm has over another in the rounds that both have; None of fewer than two."""
        found = self._differences(arm, name, over, whose)
        if len(found) < 2:
            return None
        others = [
            self._differences(arm, c.name, over, "" if over == UNTIED else c.name)
            for c in self.contenders
            if c.name != name
        ]
        plan = self.study.plan
        return paired_gain(
            found,
            plan.test_share,
            1 / self.study.sizes[1],
            plan.confidence,
            common_spread(others) if over != TIED else None,
        )

    def _differences(self, arm: str, name: str, over: str, whose: str) -> list[float]:
        rounds = range(self.study.plan.more_rounds)
        pairs = [(self.score(arm, name, r), self.score(over, whose, r)) for r in rounds]
        return [a - b for a, b in pairs if a is not None and b is not None]

    def standing(self, one: Contender) -> Standing:
        """What is known of a contender."""
        return Standing(
            one.name,
            one.symmetry.log_order,
            None if one.failed else self.gain(TIED, one.name),
            one.rejected,
            one.symmetry.labels is not None,
            one.dropped_after is not None,
        )

    def standings(self) -> list[Standing]:
        """What is known of all."""
        return [self.standing(one) for one in self.contenders]

    def _drop(self) -> None:
        """Give up those that have clearly lost."""
        standings = {s.name: s for s in self.standings() if s.gain is not None and not s.rejected}
        leader = max(standings.values(), key=lambda s: s.gain.mean if s.gain else 0, default=None)
        for one in self.racing:
            best = None
            if leader is not None and leader.name != one.name:
                best = self.gain(TIED, leader.name, TIED, one.name)
            if has_lost(self.standing(one), best, self.rules):
                one.dropped_after = self.study.plan.first_rounds
