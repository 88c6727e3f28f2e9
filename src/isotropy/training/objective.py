"""The loss of every task, and what a model's output must look like for it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from isotropy.data import DataSet
from isotropy.errors import InputError
from isotropy.schemes import Scheme
from isotropy.training.settings import Settings


class Objective:
    """The mean loss of a batch.

    Args:
        data: training data, for its task and the numbers of its classes.
        settings: label smoothing and class weights.
        device: where losses are computed.
    """

    def __init__(self, data: DataSet, settings: Settings, device: torch.device) -> None:
        self.task = data.task
        self.smoothing = settings.label_smoothing
        balanced = settings.class_weights == "balanced"
        if balanced and data.task == "regression":
            raise InputError('class_weights="balanced" needs classes, and this is a regression')
        self.weights = balanced_weights(data).to(device) if balanced else None

    def __call__(self, output: Tensor, y: Tensor) -> Tensor:
        if self.task == "regression":
            return F.mse_loss(output.reshape(y.shape), y)
        # a plain mean, also with weights: so that parts of a batch add up to the whole
        total = F.cross_entropy(
            output, y, self.weights, label_smoothing=self.smoothing, reduction="sum"
        )
        return total / y.numel()


class Penalty:
    """What a model's weights add to the loss of a step, as a residual pathway's free part does.

    Args:
        model: the model.
    """

    def __init__(self, model: nn.Module) -> None:
        schemes = (m for m in model.modules() if isinstance(m, Scheme))
        self.schemes = [scheme for scheme in schemes if scheme.penalty() is not None]

    def added_to(self, loss: Tensor) -> Tensor:
        """The loss with all penalties, each once."""
        for scheme in self.schemes:
            penalty = scheme.penalty()
            loss = loss if penalty is None else loss + penalty
        return loss


def balanced_weights(data: DataSet) -> Tensor:
    """Weights of classes with which all count the same, 1 on average over the samples."""
    counts = np.bincount(data.targets.ravel().astype(np.int64), minlength=data.outputs)
    weights = counts.sum() / (len(data.classes) * np.maximum(counts, 1))
    return torch.from_numpy(weights).to(torch.float32)


@torch.no_grad()
def require_fitting(model: nn.Module, x: Tensor, data: DataSet) -> None:
    """Refuse a model that does not run on the data or gives something else than is asked."""
    try:
        output = model(x)
    except RuntimeError as error:
        first = str(error).splitlines()[0]
        raise InputError(
            f"model does not run on samples of shape {tuple(x.shape[1:])} ({first})"
        ) from None
    expected = (len(x), data.outputs, *(data.targets.shape[1:] if data.task == "dense" else ()))
    given = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
    single = data.task == "regression" and data.outputs == 1 and given == (len(x),)
    if given != expected and not single:
        raise InputError(
            f"model gives {given} for {len(x)} samples; {data.task} of {data.name} with "
            f"{data.outputs} {'columns' if data.task == 'regression' else 'classes'} needs "
            f"{expected}"
        )
