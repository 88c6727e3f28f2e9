"""Exceptions and warnings, all under one base each."""

from __future__ import annotations


class IsotropyError(Exception):
    """Base of every error that isotropy raises on purpose."""


class InputError(IsotropyError, ValueError):
    """What the caller gave does not fit; the message names it and says what would."""


class NotSupportedError(IsotropyError):
    """A module or operation that cannot be made equivariant, with the reason."""


class TrainingError(IsotropyError):
    """Training cannot go on: the loss is not a number, say."""


class FileFormatError(InputError):
    """A file that is truncated, altered or not ours."""


class IsotropyWarning(UserWarning):
    """Something went on, but not exactly as asked."""


def first_line(error: BaseException) -> str:
    r"""What an error says, without the details that many libraries add; its class if it is silent.

    >>> first_line(ValueError("no such host\nBackground: ...")), first_line(KeyError())
    ('no such host', 'KeyError')
    """
    return next(iter(str(error).splitlines()), type(error).__name__)
