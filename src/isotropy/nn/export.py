"""A network in a file that runs without isotropy: ONNX, or torch's exported programs."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from isotropy._replacing import replacing
from isotropy.errors import InputError, NotSupportedError
from isotropy.nn.arguments import require_batch, require_module
from isotropy.nn.fold import fold

TOLERANCE = 1e-3
"""The largest difference, as a part of the largest output, that counts as rounding in float32."""


def export(model: nn.Module, path: str | os.PathLike[str], example: Tensor) -> float:
    """Write a network as a plain one, for batches of any size, and hold the file against it.

    Args:
        model: a tied or plain network.
        path: where to: .onnx, or .pt2 for `torch.export.load`.
        example: a batch, (batch, channels, *grid) or (batch, features), of real inputs: the written
            file is run on it.

    Returns:
        The largest difference between the outputs of the file and of the network.

    >>> import tempfile, isotropy as iso
    >>> x = torch.randn(2, 1, 8, 8)
    >>> net = iso.equivariant(iso.models.make("cnn", (1, 8, 8), 10), "C4", x)
    >>> export(net, Path(tempfile.mkdtemp()) / "net.pt2", x) < 1e-4
    True
    """
    target = Path(path)
    write, run = _writer(target)
    plain = fold(require_module(model), require_batch(example)).cpu().float().eval()
    plain.requires_grad_(False)
    x = example.detach().cpu().float()
    with replacing(target, ending=target.suffix) as temporary:
        with _quietly():
            _carry_out(write, plain, x, temporary)
            found = run(temporary, x)
        return _compare(found, plain, x)


Write = Callable[[nn.Module, Tensor, Path], None]
Run = Callable[[Path, Tensor], Tensor]


def _writer(path: Path) -> tuple[Write, Run]:
    """What writes a file of this ending, and what runs it."""
    if path.suffix not in (".onnx", ".pt2"):
        raise InputError(f"file must end in .onnx or .pt2, not {path.name!r}")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} for {path.name}")
    if path.suffix == ".pt2":
        return _write_pt2, _run_pt2
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"writing .onnx needs {error.name}: pip install 'isotropy[onnx]', or write a .pt2"
        ) from None
    return _write_onnx, _run_onnx


def _carry_out(write: Write, model: nn.Module, x: Tensor, path: Path) -> None:
    # a batch of one is taken for a constant by torch.export
    two = x[:2] if len(x) > 1 else torch.cat([x, x])
    try:
        write(model, two, path)
    except OSError:
        raise
    except Exception as error:  # of whatever kind torch meets in a user's forward
        first = next(iter(str(error).splitlines()), "")
        raise NotSupportedError(
            f"the model cannot be exported: {type(error).__name__}: {first}"
        ) from None


def _write_pt2(model: nn.Module, x: Tensor, path: Path) -> None:
    batch = torch.export.Dim("batch")
    torch.export.save(torch.export.export(model, (x,), dynamic_shapes=({0: batch},)), path)


def _run_pt2(path: Path, x: Tensor) -> Tensor:
    found: Tensor = torch.export.load(path).module()(x)
    return found


def _write_onnx(model: nn.Module, x: Tensor, path: Path) -> None:
    program = torch.onnx.export(
        model,
        (x,),
        dynamo=True,
        verbose=False,
        input_names=["input"],
        output_names=["output"],
        dynamic_shapes=({0: torch.export.Dim("batch")},),
    )
    assert program is not None
    program.save(str(path), external_data=False)


def _run_onnx(path: Path, x: Tensor) -> Tensor:
    from onnxruntime import InferenceSession

    session = InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])


@torch.no_grad()
def _compare(found: Tensor, model: nn.Module, x: Tensor) -> float:
    expected = model(x)
    difference = float((found - expected).abs().max())
    largest = float(expected.abs().max())
    if not difference <= TOLERANCE * max(largest, 1.0):
        raise NotSupportedError(
            f"the written file differs from the model by {difference:.1e}, where outputs go up to "
            f"{largest:.1e}; it is not kept"
        )
    return difference


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what exporters say about themselves."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
