"""One operation on traced tensors, as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from isotropy.errors import NotSupportedError
from isotropy.nn.trace.names import ALIASES, REASONS, WEIGHTED
from isotropy.nn.trace.space import Layout
from isotropy.nn.trace.tags import layout_of

if TYPE_CHECKING:
    from isotropy.nn.trace.tracer import Tracer


@dataclass(frozen=True)
class Operation:
    """One operation on traced tensors: what was called, with what, and what came out."""

    tracer: Tracer
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Any

    @property
    def where(self) -> str:
        """The operation and the module it ran in, for messages."""
        return f"{self.name} in {self.tracer.where}"

    @property
    def x(self) -> Any:
        """The tensor that the operation is of."""
        return self.argument(0, "input")

    @property
    def layout(self) -> Layout:
        """The layout of that tensor."""
        return self.layout_of(self.x)

    def layout_of(self, value: Any) -> Layout:
        """The layout of an argument that must have one."""
        layout = layout_of(value)
        if layout is None:
            raise NotSupportedError(refusal(self.tracer, self.name))
        return layout

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        """An argument given by place or by name."""
        return self.args[place] if len(self.args) > place else self.kwargs.get(name, default)

    def refuse(self, why: str) -> NoReturn:
        """Refuse the operation, naming it and the reason."""
        raise NotSupportedError(f"{self.where}: {why}")


def name_of(func: Any) -> str:
    """An operation's name; that of the property, if it reads one."""
    name = str(getattr(func, "__name__", func))
    name = str(func.__self__.__name__) if name == "__get__" else name.strip("_")
    return ALIASES.get(name, name)


def refusal(tracer: Tracer, name: str) -> str:
    """Why an operation without a rule cannot be followed."""
    weighted = any(name.startswith(kind) for kind in WEIGHTED.split())
    reason = REASONS.get(name, "no rule says what this operation does to channels and pixels")
    if weighted:
        reason = (
            "a weight used outside a layer cannot be tied; use the torch.nn layer (and an "
            "nn.ModuleList for a list of them)"
        )
    return f"{name} in {tracer.where} cannot be made equivariant: {reason}"
