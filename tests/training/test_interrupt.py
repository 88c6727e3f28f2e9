"""Signals are heard between two steps; a second one acts as it always did."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.optim import SGD

from isotropy.training import Fit
from isotropy.training.interrupt import SIGNALS, Interruptible


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_is_noted_and_the_second_acts(number: signal.Signals) -> None:
    def hear(*_: object) -> None:
        raise InterruptedError

    before = signal.signal(number, hear)
    try:
        with Interruptible() as signals:
            assert not signals.asked
            signal.raise_signal(number)
            assert signals.asked
            with pytest.raises(InterruptedError):
                signal.raise_signal(number)
        assert signal.getsignal(number) is hear
    finally:
        signal.signal(number, before)


def test_handlers_come_back_after_an_error() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(ZeroDivisionError), Interruptible():
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_other_threads_are_let_alone() -> None:
    found: list[bool] = []

    def work() -> None:
        with Interruptible() as signals:
            found.append(signals.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


def test_a_half_trained_model_is_not_taken_for_a_whole_one() -> None:
    fit = Fit(nn.Linear(1, 1), [], 0, "epochs", SGD([nn.Parameter(torch.zeros(1))]))
    assert fit.whole() is fit
    with pytest.raises(KeyboardInterrupt):
        replace(fit, stopped="interrupted").whole()
