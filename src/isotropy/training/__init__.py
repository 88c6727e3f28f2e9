"""Training: one loop for everything that is trained, that never loses work."""

from isotropy.training.augment import Augmentation
from isotropy.training.batches import Batches
from isotropy.training.devices import Alone, Devices, OnFabric, best_device, on_fabric
from isotropy.training.evaluate import evaluate, predict, scores
from isotropy.training.fit import CHECKPOINT, Fit, fit
from isotropy.training.scaling import AsTheyCome, standardised
from isotropy.training.seeds import stream, torch_seed
from isotropy.training.settings import CHOICES, Settings
from isotropy.training.watch import Bar, Board, Lines, Plan, Watch, clock

__all__ = [
    "CHECKPOINT",
    "CHOICES",
    "Alone",
    "AsTheyCome",
    "Augmentation",
    "Bar",
    "Batches",
    "Board",
    "Devices",
    "Fit",
    "Lines",
    "OnFabric",
    "Plan",
    "Settings",
    "Watch",
    "best_device",
    "clock",
    "evaluate",
    "fit",
    "on_fabric",
    "predict",
    "scores",
    "standardised",
    "stream",
    "torch_seed",
]
