"""Layers whose weights come from schemes."""

from isotropy.nn.activation import PReLU
from isotropy.nn.batchnorm import BatchNorm, InstanceNorm
from isotropy.nn.blueprint import mixture_weights
from isotropy.nn.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from isotropy.nn.dropout import FieldDropout
from isotropy.nn.linear import Linear
from isotropy.nn.mixed_batchnorm import MixedBatchNorm
from isotropy.nn.norm import GroupNorm, LayerNorm
from isotropy.nn.pool import GroupPool
from isotropy.nn.ready import GroupConv2d, LiftingConv2d
from isotropy.nn.tied import TiedModule

__all__ = [
    "BatchNorm",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "FieldDropout",
    "GroupConv2d",
    "GroupNorm",
    "GroupPool",
    "InstanceNorm",
    "LayerNorm",
    "LiftingConv2d",
    "Linear",
    "MixedBatchNorm",
    "PReLU",
    "TiedModule",
    "mixture_weights",
]
