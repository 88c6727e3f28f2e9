"""A network without symmetry, where there are too few samples to find out about one."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from isotropy.data import DataSet
from isotropy.discovery.last import network_for
from isotropy.discovery.plan import Plan
from isotropy.discovery.study import Study, is_unbalanced
from isotropy.evidence.probe import Factory, Probe


def plain_network(data: DataSet, plan: Plan, model: Factory | None, seed: int) -> nn.Module:
    """The untied network that a discovery compares with, trained on all samples.

    Args:
        data: all samples.
        plan: how it is trained.
        model: makes the user's own network by width, or None.
        seed: of weights and batches.
    """
    view = "entries" if data.kind == "vector" else "grid"
    probe = Probe(data.shape, data.outputs, view, model)
    nowhere = Path()  # it is for workers to find the samples; this happens here
    study = Study(nowhere, data.task, data.classes, probe, plan, seed, is_unbalanced(data))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as workers do: the same result with however many cores
    try:
        return network_for(study, data, None, 0)
    finally:
        torch.set_num_threads(threads)
