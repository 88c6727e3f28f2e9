"""Run a model once on an example and write down what its tensors mean.

Any Python control flow is fine: the model really runs, while a `TorchFunctionMode` sees every
operation on a tensor and hooks see every module. Layers with parameters are atomic (what happens
inside them is their own affair); everything else is followed operation by operation. Operations
without a rule are refused by name: silence would be a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from isotropy.errors import NotSupportedError
from isotropy.nn.trace.space import Axis, Batch, Channels, Layout, Space
from isotropy.nn.trace.tags import LAYOUT, MIXED, TRAINED, is_mixed, is_trained, layout_of


@dataclass
class Call:
    """One layer or operation, as it ran.

    Args:
        name: the module's path, or operation and path of the module it happened in.
        target: the module or function.
        args, kwargs: what it was called with.
        layouts: of the tensors among args and kwargs, in order; None for untracked ones.
        output: what came out, and `layout` what its dimensions mean.
        in_place: whether the output lies in the memory of an input.
    """

    name: str
    target: nn.Module | Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Tensor
    layout: Layout
    in_place: bool

    @property
    def is_module(self) -> bool:
        """Whether a layer ran (and not an operation)."""
        return isinstance(self.target, nn.Module)

    def again(self, change: Callable[[Tensor, Layout | None], Tensor]) -> Any:
        """Run it once more with changed tensors."""

        def changed(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            layout = layout_of(value)
            return change(value, layout) if layout is not None else value.clone()

        args, kwargs = tree_map(changed, self.args), tree_map(changed, self.kwargs)
        return self.target(*args, **kwargs)

    def inputs(self) -> list[Tensor]:
        """The tracked tensors that went in."""
        found: list[Tensor] = []
        tree_map(
            lambda v: found.append(v) if layout_of(v) is not None else None,
            (self.args, self.kwargs),
        )
        return found


@dataclass
class Trace:
    """What a model did with an example: its calls in order, and the spaces at both ends."""

    calls: list[Call]
    input_space: Space
    output: Tensor
    output_layout: Layout
    dimensions: int
    constants: list[tuple[str, Tensor, Layout]] = field(default_factory=list)

    def layers(self) -> dict[str, Call]:
        """The first call of every layer, by name, in order of execution."""
        found: dict[str, Call] = {}
        for call in self.calls:
            if call.is_module:
                found.setdefault(call.name, call)
        return found


class Tracer(TorchFunctionMode):
    """The state of one traced run.

    Args:
        model: what runs.
        dimensions: how many axes the grid has (0 for vectors).
        capture: keep copies of inputs and outputs of every call, for measuring later.
    """

    def __init__(self, model: nn.Module, dimensions: int, capture: bool) -> None:
        super().__init__()
        self.model = model
        self.dimensions = dimensions
        self.capture = capture
        self.calls: list[Call] = []
        self.constants: list[tuple[str, Tensor, Layout]] = []
        self.spaces: dict[nn.Module, tuple[Space, ...]] = {}
        self.lost: str | None = None  # the first layer that ran on what could not be followed
        self._path: list[str] = []
        self._silent = 0

    @property
    def where(self) -> str:
        """The module that is running, for messages."""
        return self._path[-1] if self._path and self._path[-1] else "the model"

    # -- operations -------------------------------------------------------------------------

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from isotropy.nn.trace.operations import follow

        kwargs = kwargs or {}
        if self._silent:
            return func(*args, **kwargs)
        if not _any(args, kwargs, lambda v: layout_of(v) is not None):
            out = func(*args, **kwargs)
            for tag, test in ((TRAINED, is_trained), (MIXED, is_mixed)):
                if isinstance(out, Tensor) and _any(args, kwargs, test):
                    setattr(out, tag, True)
            return out
        return follow(self, func, args, kwargs)

    def record(
        self,
        name: str,
        target: Any,
        args: Any,
        kwargs: Any,
        output: Tensor,
        layout: Layout,
        in_place: bool,
    ) -> None:
        """Write down a call; its output now has this layout."""
        setattr(output, LAYOUT, layout)
        kept = self._copy(output) if self.capture else output
        self.calls.append(Call(name, target, args, kwargs, kept, layout, in_place))

    def copies(self, value: Any) -> Any:
        """Arguments as they are now, if they are to be kept (in-place operations change them)."""
        if not self.capture:
            return value

        def copied(v: Any) -> Any:
            is_data = isinstance(v, Tensor) and not isinstance(v, nn.Parameter)
            return self._copy(v) if is_data else v

        return tree_map(copied, value)

    def _copy(self, value: Tensor) -> Tensor:
        self._silent += 1  # copying is not the model's doing
        kept = value.detach().clone()
        self._silent -= 1
        setattr(kept, LAYOUT, layout_of(value))
        return kept

    # -- modules ----------------------------------------------------------------------------

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """While this lasts, modules report to me."""
        from isotropy.nn.trace.layers import is_atomic, refuse_module

        handles = []
        saved: list[tuple[Any, Any]] = []

        def before(module: nn.Module, args: Any, kwargs: Any) -> None:
            self._path.append(paths[module])
            if is_atomic(module):
                saved.append((self.copies(args), self.copies(kwargs)))
                self._silent += 1

        def after(module: nn.Module, *call: Any) -> None:
            if is_atomic(module):
                self._silent -= 1
                self._layer(module, *saved.pop(), call[-1])
            self._path.pop()

        paths: dict[nn.Module, str] = {}
        for path, module in self.model.named_modules():
            refuse_module(path or "the model", module)
            paths[module] = path
        for module in paths:
            handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            handles.append(module.register_forward_hook(after, with_kwargs=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _layer(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        from isotropy.nn.trace.layers import layer_layout, refuse_own_forward

        if self._silent:
            return
        name = self.where
        if not _any(args, kwargs, lambda v: layout_of(v) is not None):
            self.lost = self.lost or name
            return
        if len(args) != 1 or kwargs or not isinstance(output, Tensor):
            raise NotSupportedError(f"{name}: call layers with one tensor and nothing else")
        try:
            layout = layer_layout(self, name, module, layout_of(args[0]) or (), args[0])
        except NotSupportedError:
            refuse_own_forward(name, module)  # the better reason, where it is one
            raise
        self.record(name, module, args, kwargs, output, layout, in_place=False)


def _any(args: Any, kwargs: Any, test: Callable[[Any], bool]) -> bool:
    """Whether some value among the arguments passes a test."""
    return any(test(value) for value in tree_leaves((args, kwargs)))


@torch.no_grad()
def trace(model: nn.Module, example: Tensor, capture: bool = False) -> Trace:
    """Run the model once, in its present mode, and report what its tensors mean.

    Args:
        model: any module of one tensor.
        example: (batch, channels, *grid) or (batch, features).
        capture: keep copies of all inputs and outputs.
    """
    dimensions = example.ndim - 2
    tracer = Tracer(model, dimensions, capture)
    space = Space(example.shape[1], "the input")
    x = example.detach().clone()
    setattr(x, LAYOUT, (Batch(), Channels(space), *(Axis(i) for i in range(dimensions))))
    with tracer.hooked(), tracer:
        output = model(x)
    layout = layout_of(output)
    if not isinstance(output, Tensor) or layout is None:
        kind = "a constant" if isinstance(output, Tensor) else type(output).__name__
        raise NotSupportedError(
            f"the model must return one tensor made from its input, not {kind}{_lost(tracer)}"
        )
    return Trace(tracer.calls, space, output, layout, dimensions, tracer.constants)


def _lost(tracer: Tracer) -> str:
    """Where the trail ended, if a layer ran on a tensor that nothing connects to the input."""
    if tracer.lost is None:
        return ""
    return (
        f"; what came into {tracer.lost} could not be followed from there (TorchScript and numpy "
        "cannot be)"
    )
