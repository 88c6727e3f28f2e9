"""Plain PyTorch models to tie; nothing in them knows of isotropy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn


class VGG(nn.Module):
    """Blocks of conv, batch norm, ReLU and max pooling; then a head on the flattened map.

    Sizes that are halved without remainder (12) keep every pooling window in place.
    """

    def __init__(self, width: int = 8, size: int = 12, channels: int = 1, classes: int = 5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *self._block(channels, width), *self._block(width, 2 * width), nn.Dropout2d(0.1)
        )
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(2 * width * (size // 4) ** 2, 2 * width),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
            nn.Linear(2 * width, classes),
        )

    @staticmethod
    def _block(inp: int, out: int) -> list[nn.Module]:
        return [
            nn.Conv2d(inp, out, 3, padding=1),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        ]

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


class ResidualBlock(nn.Module):
    """Two convolutions beside a shortcut, which is a strided 1×1 convolution where it must be."""

    def __init__(self, inp: int, out: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inp, out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inp != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inp, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    """Four stages of two residual blocks, the last three begun by a stride; global mean, head.

    Strides of 2 with padding 1 keep their place on odd sizes: 17, 9, 5, 3.
    """

    def __init__(self, width: int = 8, channels: int = 1, classes: int = 5) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        widths = [width, width, 2 * width, 2 * width, 4 * width]
        self.stages = nn.Sequential()
        for i, (inp, out) in enumerate(pairwise(widths)):
            self.stages.append(ResidualBlock(inp, out, stride=1 if i == 0 else 2))
            self.stages.append(ResidualBlock(out, out))
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        y = self.stages(self.stem(x))
        y = nn.functional.adaptive_avg_pool2d(y, 1)
        return self.head(torch.flatten(y, 1))


class UNet(nn.Module):
    """Down twice and up twice, each level handed across by concatenation; returns a picture.

    Args:
        up: "transposed" convolutions, or "nearest" or "bilinear" upsampling and a convolution.
    """

    def __init__(
        self, width: int = 8, channels: int = 1, classes: int = 2, up: str = "transposed"
    ) -> None:
        super().__init__()
        self.down1 = self._double(channels, width)
        self.down2 = self._double(width, 2 * width)
        self.bottom = self._double(2 * width, 2 * width)
        self.pool = nn.MaxPool2d(2)
        self.up2 = self._up(2 * width, 2 * width, up)
        self.join2 = self._double(4 * width, width)
        self.up1 = self._up(width, width, up)
        self.join1 = self._double(2 * width, width)
        self.out = nn.Conv2d(width, classes, 1)

    @staticmethod
    def _double(inp: int, out: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inp, out, 3, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, padding=1),
            nn.ReLU(inplace=True),
        )

    @staticmethod
    def _up(inp: int, out: int, up: str) -> nn.Module:
        if up == "transposed":
            return nn.ConvTranspose2d(inp, out, 2, stride=2)
        corners = False if up == "bilinear" else None
        return nn.Sequential(
            nn.Upsample(scale_factor=2, mode=up, align_corners=corners),
            nn.Conv2d(inp, out, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        first = self.down1(x)
        second = self.down2(self.pool(first))
        y = self.up2(self.bottom(self.pool(second)))
        y = self.up1(self.join2(torch.cat([second, y], 1)))
        return self.out(self.join1(torch.cat([first, y], 1)))


class MLP(nn.Module):
    """Three linear layers, batch norm after the first."""

    def __init__(self, inputs: int = 9, width: int = 16, classes: int = 5) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width),
            nn.BatchNorm1d(width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Lambda(nn.Module):
    """Layers in a dictionary, and a function that says how they are put together."""

    def __init__(
        self, forward: Callable[[nn.ModuleDict, Tensor], Tensor], **layers: nn.Module
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleDict(layers)
        self.function = forward

    def forward(self, x: Tensor) -> Tensor:
        return self.function(self.layers, x)


@torch.no_grad()
def as_if_trained(model: nn.Module, seed: int = 1) -> nn.Module:
    """In float64 and eval mode; weights of a size that tells inputs apart, norms of any numbers."""
    generator = torch.Generator().manual_seed(seed)
    model.double().eval()
    for module in model.modules():
        if isinstance(module, nn.modules.conv._ConvNd | nn.Linear):
            module.weight.mul_(6**0.5)  # from torch's variance of 1/3 to that of 2 per input
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.normal_(0, 0.3, generator=generator)
            module.running_var.uniform_(0.5, 1.5, generator=generator)
            module.weight.uniform_(0.5, 1.5, generator=generator)
            module.bias.normal_(0, 0.3, generator=generator)
    return model
