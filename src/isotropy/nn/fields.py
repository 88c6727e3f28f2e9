"""Which action the channels of every tensor carry: both ends given, fields between."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotropy.errors import InputError, NotSupportedError
from isotropy.groups.action import Action, Group, permuting, regular, trivial
from isotropy.groups.finite import FiniteGroup
from isotropy.nn.measure import OUTPUTS, Output
from isotropy.nn.trace import Axis, Channels, Dim, Flat, Space, Trace, action_of

IntArray = NDArray[np.int64]


class Fields:
    """The actions on all channels of one traced network.

    Args:
        trace: what the network did with an example.
        group: the group whose fields hidden channels carry.
        input_action: the action on the input's channels.
        output: what the group does to the output, as for `equivariant`.
        kind: "regular", "input", or {layer name: action on its output}.
        lift: make every hidden channel a whole field, |G| times as wide.
    """

    def __init__(
        self,
        trace: Trace,
        group: Group,
        input_action: Action,
        output: Output,
        kind: str | Mapping[str, Action],
        lift: bool,
    ) -> None:
        self.trace = trace
        self.group = group
        self.input_action = input_action
        self.kind = kind
        self.lift = lift
        unknown = [n for n in kind if n not in trace.layers()] if isinstance(kind, Mapping) else []
        if unknown:
            raise InputError(f"fields names {unknown[0]!r}, which is no layer of the model")
        _bind(trace.input_space, input_action, "the input")
        end = self._output_space()
        self.output_action = self._output_action(end, output)
        if self.output_action.size == end.size:
            _bind(end, self.output_action, "the output")
        for call in trace.calls:  # decide everything now, so that errors come at once
            for dim in call.layout:
                self._decide(dim)
        self._require_unsigned()
        self._require_invariant_constants()

    # -- what conversion asks ---------------------------------------------------------------

    def act(self, dim: Dim) -> Action:
        """The action on a dimension of channels, or of channels and pixels."""
        action = action_of(dim, self._hidden)
        assert action is not None
        return action

    def is_lifted(self, dim: Dim) -> bool:
        """Whether a dimension's channels were free, and so carry |G| copies."""
        assert isinstance(dim, Channels | Flat)
        plain = dim.space.size * (prod(dim.shape) if isinstance(dim, Flat) else 1)
        return self.act(dim).size > plain

    def embed(self, dim: Dim) -> IntArray:
        """The coordinates of the neutral element's copy, one for each of the plain network's."""
        assert isinstance(dim, Channels | Flat)
        inner = self._embed(dim.space)
        return _spread(inner, prod(dim.shape)) if isinstance(dim, Flat) else inner

    def _embed(self, space: Space) -> IntArray:
        root = space.root()
        if root.parts:
            sizes = [part.act(self._hidden).size for part in root.parts]
            starts = np.cumsum([0, *sizes])
            pieces = zip(root.parts, starts, strict=False)
            return np.concatenate([self._embed(part) + start for part, start in pieces])
        if root.product:
            return _spread(self._embed(root.product[0]), prod(root.product[1]))
        if root.copies:
            return _spread(self._embed(root.copies[0]), root.copies[1])
        return np.arange(root.size) * (root.act(self._hidden).size // root.size)

    # -- free channels ----------------------------------------------------------------------

    def _decide(self, dim: Dim) -> None:
        if isinstance(dim, Channels | Flat):
            dim.space.act(self._hidden)

    def _hidden(self, space: Space) -> Action:
        """The action on channels that nothing else decides."""
        if isinstance(self.kind, Mapping) and space.maker in self.kind:
            return self._given(self.kind[space.maker], space)
        if self.lift:
            return regular(self._finite(), space.size)
        if space.size == 1:
            return trivial(self.group, 1)  # one channel can only be a picture of its own
        if self.kind == "input":
            copies = _times(space, self.input_action.size, "the input's size")
            return trivial(self.group, copies) * self.input_action
        group = self._finite()
        return regular(group, _times(space, group.order, f"|{group.name}|"))

    def _given(self, action: Action, space: Space) -> Action:
        if action.size != space.size or action.group != self.group:
            raise InputError(
                f"fields[{space.maker!r}] is of {action.group.name} on {action.size} channels; "
                f"needed is one of {self.group.name} on {space.size}"
            )
        return action

    def _finite(self) -> FiniteGroup:
        if not isinstance(self.group, FiniteGroup):
            raise InputError(
                f"{self.group.name} is known by its generators alone, so it has no regular "
                'fields; choose fields="input"'
            )
        return self.group

    # -- the output -------------------------------------------------------------------------

    def _output_space(self) -> Space:
        channels = [d for d in self.trace.output_layout if isinstance(d, Channels | Flat)]
        if len(channels) == 1 and isinstance(channels[0], Channels):
            return channels[0].space
        if not channels:  # a single channel, squeezed away
            for call in reversed(self.trace.calls):
                for dim in call.layout:
                    if isinstance(dim, Channels) and dim.space.size == 1:
                        return dim.space
        raise NotSupportedError("the model must return one dimension of channels or labels")

    def _output_action(self, space: Space, output: Output) -> Action:
        shape = tuple(self.trace.output.shape)
        if isinstance(output, Mapping):
            return permuting(self.group, output, "labels", space.size)  # type: ignore[arg-type]
        if output not in OUTPUTS:
            raise InputError(
                f"output must be one of {OUTPUTS} or label permutations by element name, "
                f"not {output!r}"
            )
        dims = zip(self.trace.output_layout, shape, strict=True)
        on_grid = any(isinstance(d, Axis) and n > 1 for d, n in dims)
        if on_grid and output == "invariant":
            raise InputError(
                f'output="invariant", but the model returns a map of shape {shape}; choose '
                'output="image" or "field"'
            )
        if not on_grid and output == "image" and self.trace.dimensions:
            raise InputError(f'output="image", but the model returns shape {shape}')
        return self._hidden(space) if output == "field" else trivial(self.group, space.size)

    # -- checks -----------------------------------------------------------------------------

    def _require_unsigned(self) -> None:
        for call in self.trace.calls:
            for dim in call.layout:
                if not isinstance(dim, Channels | Flat):
                    continue
                root = dim.space.root()
                if root.unsigned_for and root.act(self._hidden).is_signed:
                    raise NotSupportedError(
                        f"{root.unsigned_for}: does not commute with the sign changes that "
                        f"{self.group.name} makes to the channels of {root.maker}"
                    )

    def _require_invariant_constants(self) -> None:
        for where, value, layout in self.trace.constants:
            for i, dim in enumerate(layout):
                if isinstance(dim, Channels) and value.shape[i] > 1:
                    self._require_invariant(where, value, i, self.act(dim))

    def _require_invariant(self, where: str, value: Tensor, i: int, action: Action) -> None:
        for g in self.group.generators:
            if action.size != value.shape[i] or not torch.allclose(
                action.apply(g, value, i), value
            ):
                raise NotSupportedError(
                    f"{where}: a constant differs between channels that {g} of {self.group.name} "
                    "exchanges"
                )


def _bind(space: Space, action: Action, name: str) -> None:
    end = Space(action.size, name)
    end.action = action
    space.unify(end, name)


def _times(space: Space, unit: int, what: str) -> int:
    if space.size % unit == 0:
        return space.size // unit
    low, high = space.size // unit * unit, (space.size // unit + 1) * unit
    near = f"{low} or {high}" if low else f"{high}"
    raise InputError(
        f"{space.maker}: {space.size} channels are no multiple of {what} = {unit}; the nearest "
        f"widths that work are {near}"
    )


def _spread(inner: IntArray, times: int) -> IntArray:
    return (inner[:, None] * times + np.arange(times)).ravel()
