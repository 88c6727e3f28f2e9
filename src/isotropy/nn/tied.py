"""What all tied layers share: a group, schemes for their parameters, and two changes of form."""

from __future__ import annotations

import math
from abc import abstractmethod

import torch
from torch import nn

from isotropy.errors import NotSupportedError
from isotropy.groups.action import Group
from isotropy.schemes import OrbitScheme, Partition, Refinement, Scheme


class TiedModule(nn.Module):
    """A layer whose parameters are tied under a group.

    Subclasses name their schemes in `partitions`. `layout` is the group whose fields the channels
    carry, `group` the subgroup that the parameters are tied under now.
    """

    group: Group | None
    layout: Group | None

    @abstractmethod
    def partitions(self, group: Group) -> dict[str, Partition]:
        """For every scheme of mine, by attribute name, its partition under a group."""

    @abstractmethod
    def folded(self) -> nn.Module:
        """The plain module with the same function, on the same device."""

    @torch.no_grad()
    def retie(self, group: Group) -> dict[str, Refinement]:
        """Tie to a subgroup instead, in place; the function stays (in eval mode).

        Returns:
            For every parameter of mine that changed, by name, where its numbers come from.
        """
        changes: dict[str, Refinement] = {}
        for name, partition in self.partitions(group).items():
            scheme = getattr(self, name)
            if scheme is None:
                continue
            if not isinstance(scheme, OrbitScheme):
                raise NotSupportedError(
                    f"a {type(scheme).__name__} is not tied under one group, so it cannot be tied "
                    "to a subgroup of it"
                )
            refined, changes[f"{name}.psi"] = scheme.refined(partition)
            setattr(self, name, refined)
        self.group = group
        return changes

    def extra_repr(self) -> str:
        return f"group={self.group}"


def reset_like_torch(weight: Scheme, bias: Scheme | None, fan_in: int) -> None:
    """Draw weights and bias with the root mean square of torch's own layers."""
    rms = 1 / math.sqrt(3 * fan_in) if fan_in else 0.0
    for scheme in (weight, bias):
        if isinstance(scheme, OrbitScheme):
            scheme.reset(rms)
