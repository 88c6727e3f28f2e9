"""What a model says about data, and how right it is."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, nn

from isotropy import metrics
from isotropy.data import DataSet
from isotropy.nn.modes import evaluating
from isotropy.training.augment import Augmentation
from isotropy.training.batches import in_order, resident
from isotropy.training.devices import Alone, Devices

Scores = dict[str, float]
BATCH = 256


@torch.no_grad()
def predict(
    model: nn.Module,
    data: DataSet,
    devices: Devices | None = None,
    average: Augmentation | None = None,
    batch_size: int = BATCH,
) -> Tensor:
    """The model's outputs for all samples, in order, in eval mode, on the CPU.

    Args:
        model: any model; it stays in the mode it is in.
        data: the samples; the targets are not looked at.
        devices: where to compute; by default where the model is.
        average: the mean over the group of the outputs (the class probabilities) of the sample
            moved by its elements, each moved back.
        batch_size: samples at a time.

    >>> from torch import nn
    >>> from isotropy.data import load
    >>> predict(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), load("digits").train).shape
    torch.Size([1797, 10])
    """
    where = devices or Alone(_device_of(model))

    def outputs(x: Tensor) -> Tensor:
        with where.computing():
            y: Tensor = model(x).float()
        if average is not None and data.task != "regression":
            return y.softmax(1)
        return y

    part = data.subset(where.share(len(data))) if where.world > 1 else data
    found = []
    with evaluating(model):
        for x, _ in in_order(part, batch_size, where.device):
            found.append(outputs(x) if average is None else average.average(outputs, x))
    y = torch.cat(found)
    if average is not None and data.task != "regression":
        y = y.clamp_min(torch.finfo(y.dtype).tiny).log()
    return where.gather(y, len(data)).cpu()


def evaluate(
    model: nn.Module,
    data: DataSet,
    devices: Devices | None = None,
    average: Augmentation | None = None,
) -> Scores:
    """How right a model is: every metric of the data's task by name.

    >>> from torch import nn
    >>> from isotropy.data import load
    >>> found = evaluate(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), load("digits").train)
    >>> sorted(found), 0 <= found["accuracy"] <= 1
    (['accuracy', 'balanced_accuracy', 'ece', 'nll'], True)
    """
    return scores(predict(model, data, devices, average), data)


def scores(outputs: Tensor, data: DataSet) -> Scores:
    """How right outputs are, in the units of the data.

    >>> from isotropy.data import from_arrays
    >>> data = from_arrays([[0.0], [1.0], [2.0], [3.0]], [0.5, 1.5, 2.5, 3.5])
    >>> scores(torch.tensor([[0.0], [1.0], [2.0], [3.0]]), data)["mae"]
    0.5
    """
    if data.task == "regression":
        return _regression_scores(outputs.reshape(len(data), -1), data)
    y = torch.from_numpy(data.targets.astype("int64"))
    if data.task == "dense":  # every pixel a sample
        outputs, y = outputs.movedim(1, -1).flatten(0, -2), y.flatten()
    found = {
        "accuracy": metrics.accuracy(outputs, y),
        "balanced_accuracy": metrics.balanced_accuracy(outputs, y),
        "nll": metrics.nll(outputs, y),
        "ece": metrics.ece(outputs.softmax(1), y),
    }
    return {**found, "mean_iou": metrics.mean_iou(outputs, y)} if data.task == "dense" else found


def _regression_scores(outputs: Tensor, data: DataSet) -> Scores:
    plain = dataclasses.replace(data, target_scaling=None)
    y = plain.target_batch(range(len(data)))
    if data.target_scaling is not None:
        outputs = data.target_scaling.undo(outputs)
    found = {"mse": metrics.mse(outputs, y), "mae": metrics.mae(outputs, y)}
    if len(y) > 1 and bool((y != y[0]).any()):
        found["r2"] = metrics.r2(outputs, y)
    if y.shape[1] == 2 and torch.allclose(y.square().sum(1), torch.ones(len(y)), atol=1e-3):
        found["angular_error"] = metrics.angular_error(outputs, y)  # points on the circle
    return found


def rank_of(found: Scores, task: str) -> tuple[float, ...]:
    """What is compared to tell which of two models is better: larger is."""
    if task == "regression":
        return (-found["mse"],)
    return (found["accuracy"], -found["nll"])


def _device_of(model: nn.Module) -> torch.device:
    first = next(model.parameters(), None)
    return torch.device("cpu") if first is None else first.device


class Judge:
    """Scores a model on the same data again and again; small data stay on the device.

    Args:
        data: what to judge on.
        devices: where to compute.
    """

    def __init__(self, data: DataSet, devices: Devices) -> None:
        self.data = data
        self.devices = devices
        self._resident = resident(data, devices.device) if devices.world == 1 else None

    def __call__(self, model: nn.Module) -> Scores:
        if self._resident is None:
            return evaluate(model, self.data, self.devices)
        found = []
        with torch.no_grad(), evaluating(model), self.devices.computing():
            for x in torch.split(self._resident[0], BATCH):
                found.append(model(x).float())
        return scores(torch.cat(found).cpu(), self.data)
