"""Plain PyTorch models by name, made so that they can be tied exactly at any size."""

from isotropy.models.cnn import plain_cnn
from isotropy.models.equinas import equinas
from isotropy.models.mlp import plain_mlp
from isotropy.models.registry import factory, make, names
from isotropy.models.resnet import ResidualBlock, ResNet
from isotropy.models.unet import UNet
from isotropy.models.vgg import plain_vgg
from isotropy.models.wrn import WideBlock, WideResNet

__all__ = [
    "ResNet",
    "ResidualBlock",
    "UNet",
    "WideBlock",
    "WideResNet",
    "equinas",
    "factory",
    "make",
    "names",
    "plain_cnn",
    "plain_mlp",
    "plain_vgg",
]
