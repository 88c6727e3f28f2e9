"""What every scheme and every layer must do, written once and inherited (as in linear_operator).

A test class inherits a contract and says what to make:

    class TestMyScheme(SchemeContract):
        shape, free = (4, 4), 3

        def make(self):
            return MyScheme(...)

Nothing here trusts the layers' own tools: pictures are turned point by point from the group's
matrices, channels by the matrices of their actions, and weights come from `basis()`.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck

from isotropy.groups import Action, FiniteGroup
from isotropy.nn import TiedModule
from isotropy.schemes import Scheme

EXACT = 1e-12
BROKEN = 1e-3


# --- tools --------------------------------------------------------------------------------------


def randomise(module: nn.Module) -> nn.Module:
    """New numbers in place of all parameters and running statistics, none of them special."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_()
            if name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)
    return module


def relative(a: Tensor, b: Tensor) -> float:
    """‖a - b‖ / ‖b‖, or ‖a‖ where b is zero; shapes must agree."""
    assert a.shape == b.shape
    error, size = (a.double() - b.double()).norm(), b.double().norm()
    return float(error / size) if size > 0 else float(error)


def same(found: Tensor, expected: Tensor, tolerance: float = EXACT, what: str = "") -> None:
    """Fail unless two tensors are one up to a relative error."""
    __tracebackhide__ = True
    error = relative(found.detach(), expected.detach())
    assert error <= tolerance, f"relative error {error:.1e} {what}"


def run(module: Callable[..., Any], *inputs: Tensor) -> Tensor:
    """The output, with the same random numbers every time and no gradient."""
    torch.manual_seed(0)
    with torch.no_grad():
        return module(*inputs)


def turn(x: Tensor, group: FiniteGroup, element: str, axes: Sequence[int]) -> Tensor:
    """A tensor turned in space, point by point: what was at p is then at M p, from the centre.

    A grid with fewer or more axes than the group's matrices shares its last ones with them.
    """
    if not axes or group.matrices is None:
        return x
    own = group.matrices[group.index(element)]
    matrix = np.eye(max(len(axes), len(own)), dtype=int)
    matrix[len(matrix) - len(own) :, len(matrix) - len(own) :] = own
    matrix = matrix[len(matrix) - len(axes) :, len(matrix) - len(axes) :]
    sizes = np.array([x.shape[a] for a in axes])
    points = np.indices(tuple(sizes)).reshape(len(axes), -1)
    corner = sizes[:, None] - 1
    target = (matrix @ (2 * points - corner) + corner) // 2
    source = x.movedim(tuple(axes), tuple(range(len(axes))))
    turned = torch.empty_like(source)
    turned[tuple(torch.from_numpy(t) for t in target)] = source[
        tuple(torch.from_numpy(p) for p in points)
    ]
    return turned.movedim(tuple(range(len(axes))), tuple(axes))


def act(x: Tensor, action: Action, element: str, dim: int) -> Tensor:
    """A tensor whose dimension `dim` is moved by the matrix of an action."""
    matrix = torch.from_numpy(action.of(element).matrix()).to(x)
    return torch.tensordot(matrix, x, dims=([1], [dim])).movedim(0, dim)


def dense_weight(scheme: Scheme, numbers: Tensor) -> Tensor:
    """B ψ in the weight's shape."""
    return (scheme.basis() @ numbers).view(scheme.shape)


# --- contracts ----------------------------------------------------------------------------------


class ModuleContract:
    """What schemes and layers share: state, copies, gradients, dtypes, compilation."""

    second_derivatives: ClassVar[bool] = False
    coarse: ClassVar[float] = 3e-2  # what bfloat16 may cost

    def make(self) -> nn.Module:
        raise NotImplementedError

    def inputs(self) -> tuple[Tensor, ...]:
        """What forward takes, in float32."""
        return ()

    def randomise(self, module: nn.Module) -> nn.Module:
        return randomise(module)

    def made(self) -> nn.Module:
        """A module with random numbers, in float64."""
        return self.randomise(self.make()).double()

    def doubles(self) -> tuple[Tensor, ...]:
        torch.manual_seed(1)
        return tuple(x.double() for x in self.inputs())

    # -- tests ------------------------------------------------------------------------------

    def test_is_made_in_float32_with_something_to_say(self) -> None:
        module = self.make()
        assert all(p.dtype == torch.float32 for p in module.parameters())
        assert type(module).__name__ in repr(module)

    def test_gradients(self) -> None:
        module = self.made()
        names = [name for name, _ in module.named_parameters()]
        values = [p.detach().clone().requires_grad_() for p in module.parameters()]
        values += [x.requires_grad_() for x in self.doubles()]
        if not any(v.numel() for v in values):
            return  # nothing to differentiate by

        def function(*tensors: Tensor) -> Tensor:
            torch.manual_seed(0)
            own = dict(zip(names, tensors, strict=False))
            return torch.func.functional_call(module, own, tensors[len(names) :])

        # along random directions where entry by entry would take long
        fast = sum(v.numel() for v in values) > 100
        assert gradcheck(function, values, fast_mode=fast)
        if self.second_derivatives:
            assert gradgradcheck(function, values, fast_mode=fast)

    def test_state_has_the_same_keys_in_train_and_eval(self) -> None:
        module = self.make()
        keys = list(module.train().state_dict())
        assert list(module.eval().state_dict()) == keys
        run(module, *self.inputs())
        assert list(module.train().state_dict()) == keys

    def test_state_loads(self) -> None:
        module, other = self.made(), self.made()
        buffer = io.BytesIO()
        torch.save(module.state_dict(), buffer)
        buffer.seek(0)
        other.load_state_dict(torch.load(buffer, weights_only=True))
        assert torch.equal(run(other, *self.doubles()), run(module, *self.doubles()))

    def test_pickles(self) -> None:
        module = self.made()
        twin = pickle.loads(pickle.dumps(module))
        assert torch.equal(run(twin, *self.doubles()), run(module, *self.doubles()))
        assert list(twin.state_dict()) == list(module.state_dict())

    def test_a_deep_copy_is_independent(self) -> None:
        module = self.made()
        twin = copy.deepcopy(module)
        mine = [*module.parameters(), *module.buffers()]
        theirs = [*twin.parameters(), *twin.buffers()]
        before = [t.detach().clone() for t in mine]
        assert torch.equal(run(twin, *self.doubles()), run(copy.deepcopy(module), *self.doubles()))
        shared = {t.data_ptr() for t in mine if t.numel()}
        assert not shared & {t.data_ptr() for t in theirs if t.numel()}
        with torch.no_grad():
            for tensor in theirs:
                tensor.zero_()
        assert all(torch.equal(a, b) for a, b in zip(mine, before, strict=True))

    def test_compiles_in_one_piece(self) -> None:
        torch._dynamo.reset()
        eager = self.made()
        module = copy.deepcopy(eager)
        compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
        for found, expected in zip(
            _traces(compiled, module, self.doubles()),
            _traces(eager, eager, self.doubles()),
            strict=True,
        ):
            same(found, expected)

    def test_float32_and_bfloat16(self) -> None:
        module = self.made()
        exact = run(copy.deepcopy(module), *self.doubles())
        for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, self.coarse)):
            rough = copy.deepcopy(module).to(dtype)
            output = run(rough, *(x.to(dtype) for x in self.doubles()))
            assert output.dtype == dtype
            same(output, exact, tolerance, str(dtype))


def _traces(
    function: Callable[..., Tensor], module: nn.Module, inputs: tuple[Tensor, ...]
) -> list[Tensor]:
    """Output, gradients by inputs and parameters, and what became of the buffers."""
    torch.manual_seed(0)
    inputs = tuple(x.clone().requires_grad_() for x in inputs)
    output = function(*inputs)
    wanted = [*inputs, *module.parameters()]
    direction = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view(output.shape)
    gradients: tuple[Tensor | None, ...] = ()
    if output.requires_grad:
        gradients = torch.autograd.grad((output * direction).sum(), wanted, allow_unused=True)
    given = [g for g in gradients if g is not None]
    return [output.detach(), *given, *(b.detach().clone() for b in module.buffers())]


class SchemeContract(ModuleContract):
    """A scheme: W = B ψ, whatever makes it.

    Subclasses give `make`, and `shape` and `free`, the numbers that must come out; `numbers`
    where ψ is not one parameter called psi.
    """

    second_derivatives = True
    shape: ClassVar[tuple[int, ...]]
    free: ClassVar[int]

    def make(self) -> Scheme:
        raise NotImplementedError

    def numbers(self, scheme: Scheme) -> Tensor:
        """ψ as one vector, in the order of the basis' columns."""
        return scheme.psi.detach()

    def test_the_weight_is_basis_times_numbers(self) -> None:
        scheme = self.made()
        basis = scheme.basis()
        assert basis.dtype == torch.float64
        expected = dense_weight(scheme, self.numbers(scheme))
        same(scheme(), expected, 1e-14)

    def test_shape_and_count(self) -> None:
        scheme = self.make()
        assert scheme.shape == self.shape
        assert tuple(scheme().shape) == self.shape
        assert scheme.free_parameters == self.free
        assert scheme.free_parameters == sum(p.numel() for p in scheme.parameters())
        basis = scheme.basis()
        assert tuple(basis.shape) == (int(np.prod(self.shape)), self.numbers(scheme).numel())

    def test_applies_as_its_weight_does(self) -> None:
        """Whether or not W is ever built."""
        scheme = self.made()
        if len(self.shape) != 2:
            return  # only linear layers ask for it
        rows, columns = self.shape
        weight = dense_weight(scheme, self.numbers(scheme))
        x, bias = torch.randn(2, 3, columns).double(), torch.randn(rows).double()
        same(scheme.apply_to(x), x @ weight.T)
        same(scheme.apply_to(x[0], bias), x[0] @ weight.T + bias)

    # torch, about its own decompositions for forward derivatives
    @pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
    def test_transforms_as_torch_func_asks(self) -> None:
        """Forward and reverse derivatives agree, and many sets of numbers go at once."""
        scheme = self.made()
        numbers = {name: p.detach() for name, p in scheme.named_parameters()}
        if not any(p.numel() for p in numbers.values()):
            return

        def weight(own: dict[str, Tensor]) -> Tensor:
            return torch.func.functional_call(scheme, own, ())

        reverse, forward = torch.func.jacrev(weight)(numbers), torch.func.jacfwd(weight)(numbers)
        for name in numbers:
            same(forward[name], reverse[name], what=name)
        several = {name: torch.stack([p, -p, 2 * p]) for name, p in numbers.items()}
        each = [weight({name: p[i] for name, p in several.items()}) for i in range(3)]
        same(torch.func.vmap(weight)(several), torch.stack(each))


class LayerContract(ModuleContract):
    """A layer that commutes with a group.

    Subclasses give `make`, `inputs`, and `dense`: the same function by torch's own layers and the
    weights as `basis()` has them.
    """

    grid: ClassVar[bool] = True  # whether dimensions behind the channels turn with the group
    channel_dim: ClassVar[int] = 1

    def dense(self, layer: nn.Module, x: Tensor) -> Tensor:
        raise NotImplementedError

    def actions(self, layer: nn.Module) -> tuple[Action, Action]:
        """On the input's channels and on the output's."""
        tie = getattr(layer, "tie", None)
        return (tie.inp, tie.out) if tie is not None else (layer.channels, layer.channels)

    def folded(self, layer: nn.Module) -> nn.Module:
        return layer.folded()

    def move(self, x: Tensor, action: Action, element: str) -> Tensor:
        moved = act(x, action, element, self.channel_dim % x.ndim)
        axes = range(self.channel_dim + 1, x.ndim) if self.grid else ()
        return turn(moved, action.group, element, axes)

    def errors(self, layer: nn.Module) -> Mapping[str, float]:
        """The error to every element of the whole group whose fields the channels carry."""
        (x,) = self.doubles()
        inp, out = self.actions(layer)
        y = run(layer, x)
        return {
            g: relative(run(layer, self.move(x, inp, g)), self.move(y, out, g))
            for g in inp.group.elements
        }

    # -- tests ------------------------------------------------------------------------------

    def test_equals_its_dense_oracle(self) -> None:
        layer, (x,) = self.made(), self.doubles()
        expected = self.dense(copy.deepcopy(layer), x).detach()
        same(run(layer, x), expected)

    def test_commutes_with_every_element(self) -> None:
        layer = self.made()
        group = getattr(layer, "group", self.actions(layer)[0].group)
        errors = self.errors(layer)
        assert {g: errors[g] for g in group.elements if not errors[g] <= EXACT} == {}

    def test_folds_to_plain_modules(self) -> None:
        layer, (x,) = self.made(), self.doubles()
        plain = self.folded(layer)
        own = [m for m in plain.modules() if not type(m).__module__.startswith("torch.nn.")]
        assert own == []
        assert plain.training == layer.training
        same(run(plain.eval(), x), run(layer.eval(), x))

    def test_exports(self) -> None:
        layer, inputs = self.made(), self.doubles()
        program = torch.export.export(copy.deepcopy(layer), inputs)
        same(run(program.module(), *inputs), run(layer, *inputs))

    def test_runs_in_onnxruntime(self) -> None:
        layer, x = self.made().float().eval(), self.inputs()
        expected = run(layer, *x)
        same(torch.from_numpy(onnx_output(layer, *x)), expected, 1e-5)


def onnx_output(model: nn.Module, x: Tensor) -> np.ndarray[Any, Any]:
    """What onnxruntime makes of an exported model."""
    import onnxruntime

    program = torch.onnx.export(model, (x,), dynamo=True, verbose=False)
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    (output,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    return output


class TiedLayerContract(LayerContract):
    """A layer that can be tied to subgroups, too."""

    def make(self) -> TiedModule:
        raise NotImplementedError

    def subgroups(self, group: FiniteGroup) -> Sequence[FiniteGroup]:
        return group.subgroups()

    def is_coarser(self, layer: TiedModule, group: FiniteGroup) -> bool:
        """Whether tying to this larger group would take away freedom."""
        now = layer.partitions(layer.group)
        return any(not now[name].equals(p) for name, p in layer.partitions(group).items())

    def check_symmetry(self, layer: TiedModule) -> None:
        """Equivariant to the group it is tied to, and to no larger one that says more."""
        errors = self.errors(layer)
        for larger in self.subgroups(layer.layout):
            if not layer.group.is_subgroup_of(larger):
                continue
            worst = max(errors[g] for g in larger.elements)
            what = f"tied to {layer.group}, error {worst:.1e} to {larger}"
            if larger != layer.group and self.is_coarser(layer, larger):
                assert worst > BROKEN, what
            else:
                assert worst <= EXACT, what

    def test_ties_to_every_subgroup(self) -> None:
        """The function stays; weights drawn anew have the subgroup's symmetry and no more."""
        layer, (x,) = self.made(), self.doubles()
        before = run(copy.deepcopy(layer).eval(), x)
        for smaller in self.subgroups(layer.group):
            tied = copy.deepcopy(layer)
            tied.retie(smaller)
            assert tied.group == smaller
            assert tied.layout == layer.layout
            assert all(m.training == layer.training for m in tied.modules())
            same(run(copy.deepcopy(tied).eval(), x), before, what=str(smaller))
            self.check_symmetry(self.randomise(tied))

    def test_ties_in_steps_as_at_once(self) -> None:
        """By way of every subgroup between, parameters and buffers come out the same."""
        layer = self.made()
        smallest = layer.layout.trivial_subgroup
        at_once = copy.deepcopy(layer)
        at_once.retie(smallest)
        for between in self.subgroups(layer.group):
            stepwise = copy.deepcopy(layer)
            stepwise.retie(between)
            stepwise.retie(smallest)
            expected = at_once.state_dict()
            for name, value in stepwise.state_dict().items():
                same(value, expected[name], what=name)

    def test_tying_a_copy_leaves_the_original_alone(self) -> None:
        layer = self.made()
        group, before = layer.group, copy.deepcopy(layer.state_dict())
        copy.deepcopy(layer).retie(layer.layout.trivial_subgroup)
        assert layer.group == group
        assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())
