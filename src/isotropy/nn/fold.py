"""From a tied network to torch's own layers, with the same outputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isotropy.errors import InputError
from isotropy.nn.arguments import independent_copy, require_batch, require_module
from isotropy.nn.blueprint import ATTRIBUTE, blueprint_of
from isotropy.nn.modes import evaluating
from isotropy.nn.pool import GroupPool
from isotropy.nn.subsample import SymmetricPool
from isotropy.nn.tied import TiedModule
from isotropy.nn.trace import refuse_hooks

TIED = (TiedModule, GroupPool, SymmetricPool)


def fold(model: nn.Module, example: Tensor | None = None) -> nn.Module:
    """A copy with plain torch.nn modules only and the same function.

    What is left of isotropy is the order of channels: nothing of it is needed to run, export or
    train the result (though training unties it).

    Args:
        model: a tied network, or a single tied layer.
        example: a batch to run, needed only by networks with a `GroupPool`.

    >>> import torch, isotropy as iso
    >>> layer = iso.nn.GroupConv2d(2, 2, 3, "C4")
    >>> plain = iso.fold(layer)
    >>> type(plain).__name__, torch.equal(plain.weight, layer.weight)
    ('Conv2d', True)
    """
    for path, module in require_module(model).named_modules():
        if isinstance(module, TIED):
            refuse_hooks(path or "the model", module, "its plain twin")
    return plain_twin(model, example)


@torch.no_grad()
def plain_twin(model: nn.Module, example: Tensor | None = None) -> nn.Module:
    """What `fold` returns; hooks on tied layers are dropped."""
    folded = independent_copy(model)
    if blueprint_of(folded) is not None:
        delattr(folded, ATTRIBUTE)
    shapes = _pool_shapes(folded, example)
    twins: dict[nn.Module, nn.Module] = {}
    for path, module in list(folded.named_modules(remove_duplicate=False)):
        if not isinstance(module, TIED):
            continue
        if module not in twins:
            twins[module] = _twin(module, shapes)
        if not path:
            return twins[module]
        parent, _, child = path.rpartition(".")
        setattr(folded.get_submodule(parent), child, twins[module])
    return folded


def _twin(
    module: TiedModule | GroupPool | SymmetricPool, shapes: dict[nn.Module, torch.Size]
) -> nn.Module:
    if isinstance(module, GroupPool):
        if module not in shapes:
            raise InputError("example: a GroupPool did not run on it, so it cannot be folded")
        return module.folded(shapes[module][1], len(shapes[module]) - 2).train(module.training)
    return module.folded().train(module.training)


def _pool_shapes(model: nn.Module, example: Tensor | None) -> dict[nn.Module, torch.Size]:
    """The shape of what comes into every GroupPool, seen by running the model."""
    pools = [m for m in model.modules() if isinstance(m, GroupPool)]
    if not pools:
        return {}
    if example is None:
        raise InputError("example: a network with a GroupPool needs a batch to be folded with")
    found: dict[nn.Module, torch.Size] = {}

    def note(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        found[module] = args[0].shape

    handles = [pool.register_forward_pre_hook(note) for pool in pools]
    try:
        with evaluating(model):
            model(require_batch(example).clone())
    finally:
        for handle in handles:
            handle.remove()
    return found
