"""Tie any plain network under a group."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from isotropy.errors import InputError, IsotropyWarning, NotSupportedError
from isotropy.groups.action import Action
from isotropy.nn.arguments import independent_copy, require_batch, require_module, running
from isotropy.nn.blueprint import ATTRIBUTE, Blueprint, tied_modules
from isotropy.nn.check import Problem, check_conversion
from isotropy.nn.convert import Recipe, convert
from isotropy.nn.fields import Fields
from isotropy.nn.geometry import cause, left_over, symmetric_pool
from isotropy.nn.layer_groups import (
    ActionSpec,
    GroupSpec,
    input_action,
    layer_groups,
    on_this_input,
)
from isotropy.nn.linear import Weighted
from isotropy.nn.measure import Output
from isotropy.nn.modes import copy_modes
from isotropy.nn.trace import (
    WEIGHT_LAYERS,
    Call,
    Trace,
    is_weighted,
    refuse_hooks,
    refuse_module,
    refuse_own_forward,
    trace,
)

WEIGHTS = ("fresh", "project", "lift")


def equivariant(
    model: nn.Module,
    group: GroupSpec,
    example: Tensor,
    output: Output = "invariant",
    weights: str = "fresh",
    action: ActionSpec | None = None,
    *,
    fields: str | Mapping[str, Action] = "regular",
    exact: bool = False,
    orthonormal: bool = False,
    monotone: bool = True,
    check: bool = True,
) -> nn.Module:
    """A tied copy of an ordinary network.

    Its hidden channels become regular fields of the group (channel c · |G| + g), its layers are
    replaced by tied ones, and the copy is run in float64 with random weights to see that it is
    equivariant. The model itself is not changed.

    Args:
        model: any module of one tensor, made of torch.nn layers and ordinary operations.
        group: a group or its name; or {layer name: group}, each a subgroup of the one before it in
            order of execution, where layers that are not named are like the one before.
        example: a batch to run once, (batch, channels, *grid) or (batch, features).
        output: "invariant"; "image", for dense predictions that turn with the picture; "field",
            for regular fields; or label permutations by element name, as {"r2": [0, 2, 1]} (lists
            of images or signed permutation matrices), completed to the group.
        weights: "fresh" draws new ones, as large as the model's own; "project" takes the nearest
            tied ones, which keeps a model that was already equivariant and ruins another (averaging
            a trained network's weights took it from 0.99 to 0.15 accuracy); "lift" makes the
            network |G| times as wide, so that it computes the exact average of the trained model
            over the group.
        action: what the group does to the entries of a vector or the channels of a signal or
            picture, by element name, beside what it does to the grid.
        fields: "regular"; "input", for copies of the input's own action (for groups too large for
            regular fields); or {layer name: action on its output}.
        exact: replace strides that do not fit the grid by stride 1 and averaging.
        orthonormal: of weights and biases; see `OrbitScheme`.
        monotone: require groups not to grow along the network.
        check: measure the result (a few float64 runs); only turn this off in a loop of many.

    Returns:
        A copy of the model, of the same class.

    >>> import torch, isotropy as iso
    >>> net = torch.nn.Sequential(
    ...     torch.nn.Conv2d(1, 16, 3, padding=1),
    ...     torch.nn.BatchNorm2d(16),
    ...     torch.nn.ReLU(),
    ...     torch.nn.AdaptiveAvgPool2d(1),
    ...     torch.nn.Flatten(),
    ...     torch.nn.Linear(16, 10),
    ... )
    >>> x = torch.randn(2, 1, 9, 9)
    >>> tied = iso.equivariant(net, "D4", x)
    >>> iso.equivariance_error(tied, x) < 1e-12
    True
    """
    _check_arguments(model, example, weights, fields)
    conversion = _Conversion(model, _two(example), group, action, monotone)
    idle = conversion.idle_layers()
    tied = conversion.convert(output, weights, fields, exact, orthonormal)
    if check:
        lifted_from = model if weights == "lift" else None
        problems = check_conversion(tied, conversion.example, lifted_from)
        if problems or idle:
            warnings.warn(_words(problems, idle), IsotropyWarning, stacklevel=2)
    copy_modes(model, tied)
    return tied


def _words(problems: list[Problem], idle: list[str]) -> str:
    said = []
    if problems:
        listed = "; ".join(f"{name}: {why} (error {error:.1e})" for name, error, why in problems)
        said.append(
            f"not exactly equivariant: {listed}. exact=True replaces strides that do not fit"
        )
    if idle:
        said.append(f"not tied, as they did not run on the example in eval mode: {', '.join(idle)}")
    return ". ".join(said)


def _check_arguments(model: object, example: object, weights: str, fields: object) -> None:
    plain = require_module(model)
    require_batch(example)
    if weights not in WEIGHTS:
        raise InputError(f"weights must be one of {WEIGHTS}, not {weights!r}")
    if not isinstance(fields, Mapping) and fields not in ("regular", "input"):
        raise InputError(f'fields must be "regular", "input" or a mapping, not {fields!r}')
    if tied_modules(plain):
        raise InputError("the model is tied already; use iso.relax, or tie the plain model")
    for path, module in plain.named_modules():
        refuse_module(path or "the model", module)
    for name, value in plain.state_dict().items():
        if value.is_floating_point() and not _is_finite(value):
            raise InputError(f"the model's weight {name} holds NaN or infinite values")


def _is_finite(value: Tensor) -> bool:
    """In one pass and without a mask: building a network should take no longer than it must."""
    return not value.numel() or bool(torch.stack(value.detach().aminmax()).isfinite().all())


def _two(example: Tensor) -> Tensor:
    """Two samples are enough to see what happens, and as many as are ever needed."""
    x = example.detach()[:2]
    return torch.cat([x, x]) if len(x) == 1 else x


class _Conversion:
    """One model on its way to being tied."""

    def __init__(
        self,
        model: nn.Module,
        example: Tensor,
        group: GroupSpec,
        action: ActionSpec | None,
        monotone: bool,
    ) -> None:
        self.model = independent_copy(model).eval()
        self.example = example
        with running(example):
            self.trace: Trace = trace(self.model, example, capture=True)
        self.calls = self.trace.layers()
        self.order = tuple(
            n for n, call in self.calls.items() if isinstance(call.target, WEIGHT_LAYERS)
        )
        if not self.order:
            raise InputError("the model has no convolution or linear layer to tie")
        whole, self.groups = layer_groups(group, self.order, monotone)
        self.group = on_this_input(whole, example, action)
        if self.group is not whole:
            self.groups = dict.fromkeys(self.order, self.group)
        self.input_action = input_action(self.group, example, action)

    def idle_layers(self) -> list[str]:
        """The names of layers with parameters that the example did not go through."""
        ran = {call.target for call in self.trace.calls if call.is_module}
        modules = self.model.named_modules()
        return [name for name, module in modules if is_weighted(module) and module not in ran]

    def convert(
        self,
        output: Output,
        weights: str,
        fields: str | Mapping[str, Action],
        exact: bool,
        orthonormal: bool,
    ) -> nn.Module:
        """Give all channels their actions, convert every layer, and remember how."""
        chosen = Fields(
            self.trace, self.group, self.input_action, output, fields, weights == "lift"
        )
        replaced: dict[nn.Module, nn.Module] = {}
        follows: dict[str, str | None] = {}
        latest: str | None = None
        for name, call in self.calls.items():
            latest = name if name in self.groups else latest
            own = self.groups[latest] if latest is not None else self.group
            twin = _convert_layer(name, call, Recipe(own, chosen, weights, orthonormal, exact))
            if twin is not None and isinstance(call.target, nn.Module):
                replaced[call.target] = twin
                if name not in self.groups:
                    follows[name] = latest
        self._refuse_shared_parameters(replaced)
        self._replace(replaced)
        if exact:
            self._refuse_several_grids()
            self._replace_pools()
        blueprint = Blueprint(
            group=self.group,
            order=("",) if isinstance(self.model, Weighted) else self.order,  # "" is the model
            input_action=self.input_action,
            output_action=chosen.output_action,
            output=output if isinstance(output, str) else "labels",
            example_shape=tuple(self.example.shape[1:]),
            follows=follows,
        )
        setattr(self.model, ATTRIBUTE, blueprint)
        return self.model

    def _refuse_shared_parameters(self, replaced: Mapping[nn.Module, nn.Module]) -> None:
        """Tied layers compute their weights, so two of them cannot hold the same one."""
        owners: dict[nn.Parameter, tuple[nn.Module, str]] = {}
        for path, module in self.model.named_modules():
            for name, parameter in module.named_parameters(path, recurse=False):
                other, known = owners.setdefault(parameter, (module, name))
                if other is not module and (module in replaced or other in replaced):
                    raise NotSupportedError(
                        f"{name} and {known} are one parameter of two layers; call one layer "
                        "twice instead, or give each its own"
                    )

    def _refuse_several_grids(self) -> None:
        """A stride is replaced for one size of the grid."""
        seen: dict[nn.Module | str, tuple[int, ...]] = {}
        for call in self.trace.calls:
            left = left_over(call)
            if left is None:
                continue
            key = call.target if isinstance(call.target, nn.Module) else call.name
            if seen.setdefault(key, left) != left:
                raise NotSupportedError(
                    f"{call.name}: runs on grids of several sizes, of which exact=True can only "
                    "fit one; use a layer for each"
                )

    def _replace(self, replaced: Mapping[nn.Module, nn.Module]) -> None:
        for path, module in list(self.model.named_modules(remove_duplicate=False)):
            if module not in replaced:
                continue
            if not path:
                self.model = replaced[module]
                return
            parent, _, child = path.rpartition(".")
            setattr(self.model.get_submodule(parent), child, replaced[module])

    def _replace_pools(self) -> None:
        for call in self.trace.calls:
            operation, _, path = call.name.partition(" in ")
            if call.is_module or "pool" not in operation or cause(call) is None:
                continue
            module = None if path == "the model" else self.model.get_submodule(path)
            twin = None if module is None else symmetric_pool(module, call.args[0])
            if module is None or twin is None:
                raise NotSupportedError(
                    f"{call.name}: exact=True can only replace pooling that is a module of its own"
                )
            self._replace({module: twin})


def _convert_layer(name: str, call: Call, recipe: Recipe) -> nn.Module | None:
    try:
        twin = convert(call, recipe)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except NotSupportedError as error:
        kind = type(call.target).__name__
        raise NotSupportedError(f"{name} ({kind}): {error}") from None
    if twin is not None and isinstance(call.target, nn.Module):
        refuse_own_forward(name, call.target)
        refuse_hooks(name, call.target, "its tied twin")
    return None if twin is None else twin.to(call.args[0].device)
