"""`isotropy export`: files that run without isotropy and give what the model gives."""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cli import sources
from tests.cli.conftest import Command

Trained = Callable[..., Path]

ALONE = """
import sys
sys.modules["isotropy"] = None
import numpy as np
X = np.load("x.npy")
if sys.argv[1].endswith(".pt2"):
    import torch
    y = torch.export.load(sys.argv[1]).module()(torch.from_numpy(X)).numpy()
else:
    import onnxruntime
    session = onnxruntime.InferenceSession(sys.argv[1])
    (y,) = session.run(None, {"input": X})
np.save("y.npy", y)
"""


def without_isotropy(file: str, X: np.ndarray, folder: Path) -> np.ndarray:
    """What a file says about inputs, in a process that cannot import isotropy."""
    np.save(folder / "x.npy", X)
    subprocess.run([sys.executable, "-c", ALONE, file], cwd=folder, check=True, timeout=120)
    return np.load(folder / "y.npy")


@pytest.mark.parametrize("file", ["net.onnx", "net.pt2"])
def test_a_file_takes_data_as_they_come_without_isotropy(
    file: str, trained: Trained, isotropy: Command, tmp_path: Path
) -> None:
    run = trained("cnn", "pictures", "--group", "C4")
    found = isotropy("export", run, file, "--json")
    assert (found.status, found.err) == (0, "")
    assert found.json["largest_difference"] < 1e-4
    assert found.json["input"] == ["batch", 1, 8, 8]
    arrays = sources.pictures(7, seed=9)
    np.savez("seven.npz", **arrays)
    isotropy("predict", run, "seven.npz", "--out", "p.npz")
    said = without_isotropy(file, arrays["X"][:, None], tmp_path)
    probabilities = torch.from_numpy(said).softmax(1)
    np.testing.assert_allclose(probabilities, np.load("p.npz")["probabilities"], atol=1e-5)


def test_numbers_come_out_in_their_own_units(
    trained: Trained, isotropy: Command, tmp_path: Path
) -> None:
    run = trained("mlp", "vectors")
    assert isotropy("export", run, "net.pt2").status == 0
    X = sources.vectors()["X"][:5] + 0.5
    np.savez("five.npz", X=X, y=sources.vectors()["y"][:5])
    isotropy("predict", run, "five.npz", "--out", "p.npz")
    said = torch.export.load("net.pt2").module()(torch.from_numpy(X)).detach()
    np.testing.assert_allclose(said, np.load("p.npz")["predicted"], rtol=1e-4)


def test_it_says_what_it_has_verified(trained: Trained, isotropy: Command) -> None:
    found = isotropy("export", trained("cnn", "pictures"), "net.pt2", "--samples", "5")
    assert "on 5 samples of pictures it differs from the model by 0.0e+00 at most" in found.out


BAD = [
    ("net.txt", "file must end in .onnx or .pt2, not 'net.txt'"),
    ("no/where/net.pt2", "there is no folder no/where"),
]


@pytest.mark.parametrize(("file", "words"), BAD)
def test_refused(file: str, words: str, trained: Trained, isotropy: Command) -> None:
    found = isotropy("export", trained("cnn", "pictures"), file)
    assert found.status == 2
    assert words in found.error


def test_without_onnx_it_says_what_to_install(
    trained: Trained, isotropy: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    found = isotropy("export", trained("cnn", "pictures"), "net.onnx")
    assert found.status == 2
    assert found.error.startswith("writing .onnx needs onnxruntime: pip install 'isotropy[onnx]'")
    assert not Path("net.onnx").exists()
