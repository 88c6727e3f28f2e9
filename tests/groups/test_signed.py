"""Signed permutations against matrix products."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import isotropy as iso
from isotropy.groups import Signed
from isotropy.groups.signed import direct_sum, rings


@st.composite
def signed(draw: st.DrawFn, size: int | None = None) -> Signed:
    """A random signed permutation, now and then without any sign."""
    n = draw(st.integers(1, 6)) if size is None else size
    target = np.array(draw(st.permutations(range(n))), dtype=np.int64)
    if draw(st.booleans()):
        return Signed(target)
    sign = draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n))
    return Signed(target, np.array(sign, dtype=np.int8))


pairs = st.integers(1, 6).flatmap(lambda n: st.tuples(signed(n), signed(n)))


@given(signed())
def test_matrix(p: Signed) -> None:
    """(p x)[target[i]] = sign[i] x[i], entry by entry."""
    x = np.arange(1, p.size + 1)
    moved = p.matrix() @ x
    for i in range(p.size):
        assert moved[p.target[i]] == (-1 if p.flips[i] else 1) * x[i]


@given(signed(), st.sampled_from((0, 1, -1)))
def test_tensors_move_as_by_the_matrix(p: Signed, dim: int) -> None:
    x = torch.randn(p.size, p.size, dtype=torch.float64)
    expected = torch.tensordot(torch.from_numpy(p.matrix()).double(), x, ([1], [dim % 2]))
    assert torch.equal(p.apply(x, dim), expected if dim == 0 else expected.T)


@given(st.integers(0, 12).flatmap(lambda n: st.permutations(range(n))))
def test_rings_say_the_whole_permutation(permutation: list[int]) -> None:
    found = rings(permutation)
    rebuilt = list(range(len(permutation)))
    for ring in found:
        assert len(ring) > 1
        for at, after in zip(ring, [*ring[1:], ring[0]], strict=True):
            rebuilt[at] = after
    assert rebuilt == permutation
    assert sum(map(len, found)) == len({i for ring in found for i in ring})


@given(pairs)
def test_product(pair: tuple[Signed, Signed]) -> None:
    """p @ q is the product of the matrices: first q, then p."""
    p, q = pair
    assert ((p @ q).matrix() == p.matrix() @ q.matrix()).all()


@given(signed())
def test_inverse(p: Signed) -> None:
    """The transposed matrix, which undoes it from both sides."""
    assert (p.inverse().matrix() == p.matrix().T).all()
    assert (p @ p.inverse()).is_identity
    assert (p.inverse() @ p).is_identity


@given(signed(), signed())
def test_tensor_product_and_direct_sum(p: Signed, q: Signed) -> None:
    """The Kronecker product, and the block diagonal matrix."""
    assert (p.tensor_product(q).matrix() == np.kron(p.matrix(), q.matrix())).all()
    blocks = np.zeros((p.size + q.size, p.size + q.size))
    blocks[: p.size, : p.size], blocks[p.size :, p.size :] = p.matrix(), q.matrix()
    assert (direct_sum([p, q]).matrix() == blocks).all()


@given(signed())
def test_read_back(p: Signed) -> None:
    """A signed permutation is read from its matrix, whole numbers or not, and from itself."""
    assert Signed.read(p.matrix()).equals(p)
    assert Signed.read(p.matrix().astype(np.float32)).equals(p)
    assert Signed.read(p.matrix().tolist()).equals(p)
    assert Signed.read(p) is p


@given(pairs)
def test_equals(pair: tuple[Signed, Signed]) -> None:
    """Equal are those with equal matrices; signs that are all +1 are no signs."""
    p, q = pair
    assert p.equals(q) == np.array_equal(p.matrix(), q.matrix())
    plain = Signed(p.target)
    assert plain.equals(Signed(p.target, np.ones(p.size, dtype=np.int8)))
    assert p.is_identity == np.array_equal(p.matrix(), np.eye(p.size))


def test_equals_of_different_sizes() -> None:
    """Different numbers of points are no error, but differ."""
    assert not Signed.identity(2).equals(Signed.identity(3))


@pytest.mark.parametrize(
    ("value", "target", "flips"),
    [
        ([2, 0, 1], [2, 0, 1], [False] * 3),
        (np.array([1, 0], dtype=np.uint8), [1, 0], [False] * 2),
        ([[0, -1], [1, 0]], [1, 0], [False, True]),
        ([[-1]], [0], [True]),
    ],
)
def test_read(value: object, target: list[int], flips: list[bool]) -> None:
    """From a list of images, or a matrix whose columns say where points go."""
    p = Signed.read(value)  # type: ignore[arg-type]
    assert p.target.tolist() == target
    assert p.flips.tolist() == flips


def test_repr() -> None:
    """Images in order, with their signs."""
    assert repr(Signed.read([[0, -1], [1, 0]])) == "(1 -0)"
    assert repr(Signed.read([2, 0, 1])) == "(2 0 1)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, 0], "labels must list the image of every point once, not [0, 0]"),
        ([1, 2], "labels must list the image of every point once, not [1, 2]"),
        ([-1, 0], "labels must list the image of every point once, not [-1, 0]"),
        ([0.5, 1], "labels must list the image of every point once, not [0.5, 1.0]"),
        (3, "labels must list the image of every point once, not 3"),
        ([[[1]]], "labels must list the image of every point once, not [[[1]]]"),
        ([[1, 1], [0, 1]], "labels must be a signed permutation matrix"),
        ([[1, 0]], "labels must be a signed permutation matrix"),
        ([[1, 0], [1, 0]], "labels must be a signed permutation matrix"),
        ([[2, 0], [0, 1]], "labels must be a signed permutation matrix"),
        ([[1, 0.5], [0, 1]], "labels must be a signed permutation matrix"),
        ([[1, np.nan], [0, 1]], "labels must be a signed permutation matrix"),
        ([[0, 0], [0, 0]], "(one ±1 in every row and column, 0 elsewhere), not [[0, 0], [0, 0]]"),
        ([[1, 0], [0]], "labels must"),
    ],
    ids=str,
)
def test_read_refuses(value: object, message: str) -> None:
    """What is no permutation; the message says what was read and what was given."""
    with pytest.raises(iso.InputError, match=re.escape(message)):
        Signed.read(value, "labels")  # type: ignore[arg-type]


def test_long_values_are_cut() -> None:
    """A message does not print a thousand numbers."""
    with pytest.raises(iso.InputError) as caught:
        Signed.read([0] * 1000)
    assert len(str(caught.value)) < 160
    assert str(caught.value).endswith(" ...")
