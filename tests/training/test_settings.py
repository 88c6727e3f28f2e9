"""Settings refuse what has no meaning, in one line that names the argument."""

from __future__ import annotations

import json

import pytest

from isotropy.errors import InputError
from isotropy.training import CHOICES, Settings

BAD = [
    ("epochs", 0),
    ("batch_size", 0),
    ("lr", 0.0),
    ("lr", float("inf")),
    ("lr", float("nan")),
    ("weight_decay", -1.0),
    ("clip", -0.1),
    ("patience", -1),
    ("momentum", 1.0),
    ("label_smoothing", 1.0),
    ("ema", -0.1),
    ("warmup", 1.5),
    *((name, "nonsense") for name in CHOICES),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"^{name} must be .*{value}") as error:
        Settings(**{name: value})  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_settings_are_json() -> None:
    settings = Settings(epochs=3, ema=0.5)
    assert Settings(**json.loads(json.dumps(settings.to_json()))) == settings
