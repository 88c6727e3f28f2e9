"""Training written out: one plain loop of torch, without checkpoints, devices or anything else."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F

from isotropy.data import DataSet
from isotropy.training import Augmentation, Settings, stream, torch_seed
from isotropy.training.optimizer import make_optimizer, rate


def plain_loop(model: nn.Module, data: DataSet, settings: Settings, seed: int) -> nn.Module:
    """The model after the last epoch, or the average of its weights if settings ask for one."""
    optimizer = make_optimizer(model, settings)
    average = copy.deepcopy(model)
    augmentation = Augmentation.by(settings.augment, data) if settings.augment else None
    steps = -(-len(data) // settings.batch_size)
    torch.manual_seed(torch_seed(seed, "training", 0))
    for epoch in range(settings.epochs):
        order = torch.from_numpy(stream(seed, "order", epoch).permutation(len(data)))
        for step, indices in enumerate(torch.tensor_split(order, steps)):
            x, y = data.batch(indices)
            if augmentation is not None:
                x, y = augmentation(x, y, stream(seed, "augmentation", epoch, step))
            model.train()
            optimizer.zero_grad()
            loss_of(model(x), y, data, settings).backward()
            if settings.clip:
                nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            for group in optimizer.param_groups:
                group["lr"] = rate(epoch * steps + step, settings.epochs * steps, settings)
            optimizer.step()
            follow(average, model, settings.ema)
    return average if settings.ema else model


def loss_of(
    output: torch.Tensor, y: torch.Tensor, data: DataSet, settings: Settings
) -> torch.Tensor:
    """The mean loss of a batch."""
    if data.task == "regression":
        return F.mse_loss(output, y)
    weights = None
    if settings.class_weights == "balanced":
        counts = torch.bincount(torch.from_numpy(data.targets).flatten())
        weights = len(data.targets.ravel()) / (len(counts) * counts)
    smoothing = settings.label_smoothing
    each = F.cross_entropy(output, y, weights, label_smoothing=smoothing, reduction="none")
    return each.mean()


@torch.no_grad()
def follow(average: nn.Module, model: nn.Module, decay: float) -> None:
    """The moving average by its definition; statistics as they are."""
    for mine, theirs in zip(average.parameters(), model.parameters(), strict=True):
        mine.copy_(decay * mine + (1 - decay) * theirs)
    for mine, theirs in zip(average.buffers(), model.buffers(), strict=True):
        mine.copy_(theirs)
