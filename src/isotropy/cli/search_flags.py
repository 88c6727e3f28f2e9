"""What `isotropy search` can be told, by evolution and by mixtures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isotropy.cli.model import ModelFlags
from isotropy.data.parts import Parts, divide
from isotropy.errors import InputError

if TYPE_CHECKING:
    from isotropy.data import Splits
    from isotropy.training import Settings


@dataclass(frozen=True)
class SearchModel:
    """What network.

    Args:
        model: A name (cnn, equinas, mlp, resnet, unet, vgg, wrn) or path/to/file.py:factory.
        width: Channels of the first layer; by default the model's own.
        option: An option of the model's factory, as hidden=64; may be given again and again.
        output: What the group does to the outputs: invariant, image, field, or a permutation of
            the labels for every element as {"r2": [0, 2, 1]}; by default image for dense
            predictions and invariant for others.
        action: What the group does to the entries of vectors or to channels, as
            {"r": [1, 2, 3, 0]}.
    """

    model: str = field(default="equinas", metadata={"metavar": "MODEL"})
    width: int | None = field(
        default=None, metadata={"metavar": "CHANNELS", "min": 1, "show_default": False}
    )
    option: list[str] | None = field(
        default=None, metadata={"metavar": "NAME=VALUE", "show_default": False}
    )
    output: str | None = field(default=None, metadata={"metavar": "HOW", "show_default": False})
    action: str | None = field(default=None, metadata={"metavar": "JSON", "show_default": False})


@dataclass(frozen=True)
class Evolving:
    """How the search goes.

    Args:
        group: What all layers are tied under at the beginning.
        groups: Subgroups that layers may have, as C1,C2,C4; by default six for D4.
        generations: How many.
        parents: How many networks live on, if the front is not larger.
        epochs: Passes over the training data in a generation.
        halvings: How often in a generation the worse half of the networks is given up.
        budget: Passes over the training data that all networks may take together.
        guide: Ask a mixture first, trained for so many epochs, which relaxations are worth trying;
            0 for none.
        repeats: Search so many times, with one seed after the other: only that tells whether
            searching helps.
    """

    group: str = field(default="D4", metadata={"metavar": "GROUP"})
    groups: str | None = field(default=None, metadata={"metavar": "NAMES", "show_default": False})
    generations: int = field(default=10, metadata={"min": 1})
    parents: int = field(default=5, metadata={"min": 1})
    epochs: float = 0.5
    halvings: int = field(default=0, metadata={"min": 0})
    budget: float | None = field(
        default=None, metadata={"metavar": "PASSES", "show_default": False}
    )
    guide: int = field(default=0, metadata={"metavar": "EPOCHS", "min": 0})
    repeats: int = field(default=1, metadata={"min": 1})


@dataclass(frozen=True)
class Learning:
    """How networks are trained; by default as in the paper.

    Args:
        optimizer: sgd, adam or adamw.
        lr: The learning rate at its highest.
        momentum: Of SGD.
        schedule: How the rate falls over the whole search: constant, cosine, linear or steps.
        batch_size: Samples a step.
    """

    optimizer: str = "sgd"
    lr: float = 0.1
    momentum: float = 0.0
    schedule: str = "constant"
    batch_size: int = field(default=64, metadata={"min": 1})

    @property
    def settings(self) -> Settings:
        """As the library takes them."""
        from isotropy.training import Settings

        return Settings(
            optimizer=self.optimizer,
            lr=self.lr,
            momentum=self.momentum,
            schedule=self.schedule,
            batch_size=self.batch_size,
            weight_decay=0.0,
            warmup=0.0,
            keep="last",
        )


@dataclass(frozen=True)
class Working:
    """Where networks are trained.

    Args:
        workers: How many at once, with one thread each; by default one for every core.
        backend: loky (processes of this machine), here (in this one), ray or dask.
        address: Of a running Ray or Dask cluster; without it one is begun on this machine.
        gpus: With Ray, the part of a GPU that each network takes.
        storage: URL of a database for the study, as postgresql://user@host/name; by default a
            file in the run's folder.
        no_baselines: Do not train what the search is compared with.
    """

    workers: int | None = field(
        default=None, metadata={"metavar": "N", "min": 1, "show_default": False}
    )
    backend: str = "loky"
    address: str | None = field(
        default=None, metadata={"metavar": "HOST:PORT", "show_default": False}
    )
    gpus: float = 0.0
    storage: str | None = field(default=None, metadata={"metavar": "URL", "show_default": False})
    no_baselines: bool = field(default=False, metadata={"names": ("--no-baselines",)})


@dataclass(frozen=True)
class Mixture:
    """How the mixtures are trained; by default as in the paper.

    Args:
        groups: Those that are mixed in every layer.
        epochs: Passes over the training data.
        gradients: two (the mixture and the weights step in turn, each on its own batch), or one
            (both on one batch, in half the time).
        lr: Of both Adams.
        batch_size: Samples a step.
        minutes: Keep a checkpoint after so many minutes, and not only after every epoch.
    """

    groups: str = field(default="C1,D1,C2,D2,C4,D4", metadata={"metavar": "NAMES"})
    epochs: int = field(default=20, metadata={"min": 1})
    gradients: str = field(default="two", metadata={"metavar": "two|one"})
    lr: float = 0.01
    batch_size: int = field(default=64, metadata={"min": 1})
    minutes: float = field(default=0.0, metadata={"min": 0.0})


def divided(loaded: Splits, parts: Parts, seed: int) -> Splits:
    """The parts of the data, with some to choose by."""
    own = divide(loaded, parts, seed)
    if own.validation is None:
        raise InputError("validation: a search chooses by it and needs some")
    return own


def tied_flags(model: SearchModel, group: str | None) -> ModelFlags:
    """The model as the other commands take it."""
    return ModelFlags(
        group=group,
        width=model.width,
        option=model.option,
        output=model.output if group else None,
        action=model.action if group else None,
    )


def listed(names: str | None) -> list[str] | None:
    """Names that are written as C1,C2,C4."""
    return None if names is None else [name.strip() for name in names.split(",")]
