"""Networks as users bring them: written in the idioms of well-known repositories, narrow.

Every class keeps what its original does to tensors (in-place sums, a shared ReLU, `view` with -1,
lists of features, a head for training only), for that is what tying has to cope with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def conv_bn(inp: int, out: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution without bias, its batch norm, and a ReLU in place."""
    return nn.Sequential(
        nn.Conv2d(inp, out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out),
        nn.ReLU(inplace=True),
    )


# -- torchvision's ------------------------------------------------------------------------------


class BasicBlock(nn.Module):
    """Of ResNet-18 and -34: one ReLU for both places, the sum in place."""

    def __init__(self, inp: int, out: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inp, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    """ResNet with basic blocks: (2, 2, 2, 2) is ResNet-18, (3, 4, 6, 3) is ResNet-34."""

    def __init__(self, depths: Sequence[int], width: int = 8, classes: int = 5) -> None:
        super().__init__()
        self.inplanes = width
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = self._make_layer(width, depths[0], 1)
        self.layer2 = self._make_layer(2 * width, depths[1], 2)
        self.layer3 = self._make_layer(2 * width, depths[2], 2)
        self.layer4 = self._make_layer(4 * width, depths[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(4 * width, classes)

    def _make_layer(self, planes: int, blocks: int, stride: int) -> nn.Sequential:
        downsample = None
        if stride != 1 or self.inplanes != planes:
            downsample = nn.Sequential(
                nn.Conv2d(self.inplanes, planes, 1, stride, bias=False), nn.BatchNorm2d(planes)
            )
        layers = [BasicBlock(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes
        layers += [BasicBlock(planes, planes, 1, None) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class VGG(nn.Module):
    """Features from a list of widths, pooled to a fixed size, `view`, a head with dropout."""

    def __init__(self, plan: Sequence[int | str] = (8, "M", 16, 16, "M"), classes: int = 5) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = 3
        for step in plan:
            if isinstance(step, str):
                layers.append(nn.MaxPool2d(2, 2))
            else:
                layers += [nn.Conv2d(width, step, 3, padding=1), nn.BatchNorm2d(step)]
                layers.append(nn.ReLU(True))
                width = step
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d((3, 3))
        self.classifier = nn.Sequential(
            nn.Linear(width * 9, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, classes)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.avgpool(self.features(x))
        x = x.view(x.size(0), -1)
        return self.classifier(x)


class SqueezeExcitation(nn.Module):
    """By 1×1 convolutions."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.activation = nn.ReLU()
        self.scale_activation = nn.Hardsigmoid()

    def forward(self, x: Tensor) -> Tensor:
        scale = self.fc2(self.activation(self.fc1(self.avgpool(x))))
        return self.scale_activation(scale) * x


class InvertedResidual(nn.Module):
    """MobileNetV3's: widen, depthwise, squeeze and excite, narrow; the sum in place."""

    def __init__(self, inp: int, wide: int, out: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.use_res_connect = stride == 1 and inp == out
        self.block = nn.Sequential(
            nn.Conv2d(inp, wide, 1, bias=False),
            nn.BatchNorm2d(wide, eps=1e-3, momentum=0.01),
            nn.Hardswish(inplace=True),
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide, eps=1e-3, momentum=0.01),
            nn.Hardswish(inplace=True),
            SqueezeExcitation(wide, 8),
            nn.Conv2d(wide, out, 1, bias=False),
            nn.BatchNorm2d(out, eps=1e-3, momentum=0.01),
        )

    def forward(self, x: Tensor) -> Tensor:
        result = self.block(x)
        if self.use_res_connect:
            result += x
        return result


class MobileNet(nn.Module):
    """MobileNetV3 with three blocks."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Sequential(
                nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()
            ),
            InvertedResidual(16, 32, 16, 3, 1),
            InvertedResidual(16, 32, 24, 5, 2),
            InvertedResidual(24, 48, 24, 5, 1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(24, 32),
            nn.Hardswish(inplace=True),
            nn.Dropout(0.2, inplace=True),
            nn.Linear(32, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


class DenseLayer(nn.Module):
    """Takes the list of all features before it."""

    def __init__(self, inp: int, growth: int) -> None:
        super().__init__()
        self.norm1, self.relu1 = nn.BatchNorm2d(inp), nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(inp, 2 * growth, 1, bias=False)
        self.norm2, self.relu2 = nn.BatchNorm2d(2 * growth), nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(2 * growth, growth, 3, padding=1, bias=False)

    def forward(self, features: list[Tensor]) -> Tensor:
        x = self.conv1(self.relu1(self.norm1(torch.cat(features, 1))))
        return F.dropout(self.conv2(self.relu2(self.norm2(x))), p=0.1, training=self.training)


class DenseBlock(nn.ModuleDict):
    """A dictionary of layers that runs its values."""

    def __init__(self, layers: int, inp: int, growth: int) -> None:
        super().__init__()
        for i in range(layers):
            self.add_module(f"denselayer{i + 1}", DenseLayer(inp + i * growth, growth))

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for _, layer in self.items():
            features.append(layer(features))
        return torch.cat(features, 1)


class DenseNet(nn.Module):
    """Two dense blocks with a transition between, put together by `add_module`."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        first = [("conv0", nn.Conv2d(3, 8, 3, padding=1)), ("norm0", nn.BatchNorm2d(8))]
        self.features = nn.Sequential(OrderedDict[str, nn.Module](first))
        self.features.add_module("denseblock1", DenseBlock(2, 8, 8))
        self.features.add_module("transition1", nn.Sequential(conv_bn(24, 16, 1), nn.AvgPool2d(2)))
        self.features.add_module("denseblock2", DenseBlock(2, 16, 8))
        self.features.add_module("norm5", nn.BatchNorm2d(32))
        self.classifier = nn.Linear(32, classes)

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.features(x), inplace=True)
        out = F.adaptive_avg_pool2d(out, (1, 1))
        return self.classifier(torch.flatten(out, 1))


class Permute(nn.Module):
    """torchvision.ops.Permute."""

    def __init__(self, dims: list[int]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Tensor) -> Tensor:
        return torch.permute(x, self.dims)


class LayerNorm2d(nn.LayerNorm):
    """Layer norm over channels, with a forward of its own."""

    def forward(self, x: Tensor) -> Tensor:
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    """Patches and one block.

    Args:
        own_norm: the stem's norm is a subclass of torch's.
        layer_scale: a parameter outside layers scales the block's channels.
    """

    def __init__(self, own_norm: bool = False, layer_scale: bool = False) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 4, 4)
        norm = nn.Sequential(Permute([0, 2, 3, 1]), nn.LayerNorm(16), Permute([0, 3, 1, 2]))
        self.norm = LayerNorm2d(16) if own_norm else norm
        self.block = nn.Sequential(
            nn.Conv2d(16, 16, 7, padding=3, groups=16),
            Permute([0, 2, 3, 1]),
            nn.LayerNorm(16, eps=1e-6),
            nn.Linear(16, 32),
            nn.GELU(),
            nn.Linear(32, 16),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale = nn.Parameter(torch.ones(16, 1, 1)) if layer_scale else None
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Sequential(nn.Flatten(1), nn.LayerNorm(16), nn.Linear(16, 5))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.stem(x))
        result = self.block(x)
        if self.layer_scale is not None:
            result = self.layer_scale * result
        return self.head(self.avgpool(x + result))


class Inception(nn.Module):
    """Four branches side by side."""

    def __init__(self, inp: int) -> None:
        super().__init__()
        self.branch1 = conv_bn(inp, 8, 1)
        self.branch2 = nn.Sequential(conv_bn(inp, 8, 1), conv_bn(8, 8, 3))
        self.branch3 = nn.Sequential(conv_bn(inp, 8, 1), conv_bn(8, 8, 5))
        self.branch4 = nn.Sequential(nn.MaxPool2d(3, 1, 1, ceil_mode=True), conv_bn(inp, 8, 1))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class GoogLeNet(nn.Module):
    """Two inceptions; while training it returns the outputs of a second head too."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.conv1 = conv_bn(3, 8, 3, 2)
        self.inception1, self.inception2 = Inception(8), Inception(32)
        self.aux = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, classes))
        self.fc = nn.Linear(32, classes)

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        x = self.inception1(self.conv1(x))
        second = self.aux(x) if self.training else None
        x = self.fc(torch.flatten(F.adaptive_avg_pool2d(self.inception2(x), 1), 1))
        return x if second is None else (x, second)


class Fire(nn.Module):
    """SqueezeNet's: one activation in three places."""

    def __init__(self, inp: int, squeezed: int, out: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inp, squeezed, 1)
        self.activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeezed, out, 1)
        self.expand3x3 = nn.Conv2d(squeezed, out, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.activation(self.squeeze(x))
        both = [self.activation(self.expand1x1(x)), self.activation(self.expand3x3(x))]
        return torch.cat(both, 1)


class SqueezeNet(nn.Module):
    """Pooling with ceil_mode, and a convolution for the head: its channels are the labels."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(16, 8, 16),
            Fire(32, 8, 16),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), nn.Conv2d(32, classes, 1), nn.ReLU(True), nn.AdaptiveAvgPool2d((1, 1))
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.flatten(self.classifier(self.features(x)), 1)


# -- of well-known repositories -----------------------------------------------------------------


class MNISTExample(nn.Module):
    """PyTorch's own example."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(16 * 6 * 6, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(self.dropout1(x), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


class LeNet(nn.Module):
    """PyTorch's tutorial: `view` with the batch left to -1."""

    def __init__(self, widths: tuple[int, int, int, int] = (6, 16, 120, 84)) -> None:
        super().__init__()
        first, second, third, fourth = widths
        self.conv1, self.conv2 = nn.Conv2d(3, first, 5), nn.Conv2d(first, second, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(second * 5 * 5, third)
        self.fc2, self.fc3 = nn.Linear(third, fourth), nn.Linear(fourth, 10)
        self.features = second * 5 * 5

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(F.relu(self.conv2(self.pool(F.relu(self.conv1(x))))))
        x = x.view(-1, self.features)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class PreActivation(nn.Module):
    """A block of the usual WideResNet, whose shortcut is `cond and layer or None`."""

    def __init__(self, inp: int, out: int, stride: int) -> None:
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(inp), nn.Conv2d(inp, out, 3, stride, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(out), nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.equal = inp == out
        conv = nn.Conv2d(inp, out, 1, stride, bias=False)
        self.shortcut = ((not self.equal) and conv) or None

    def forward(self, x: Tensor) -> Tensor:
        if not self.equal:
            x = F.relu(self.bn1(x))
        else:
            out = F.relu(self.bn1(x))
        out = F.relu(self.bn2(self.conv1(out if self.equal else x)))
        out = self.conv2(F.dropout(out, p=0.3, training=self.training))
        return torch.add(x if self.shortcut is None else self.shortcut(x), out)


class WideResNet(nn.Module):
    """Three blocks, pooled by the size of what comes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, 1, 1, bias=False)
        blocks = [PreActivation(8, 8, 1), PreActivation(8, 16, 2), PreActivation(16, 16, 1)]
        self.blocks = nn.Sequential(*blocks)
        self.bn, self.fc = nn.BatchNorm2d(16), nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.bn(self.blocks(self.conv1(x))))
        return self.fc(F.avg_pool2d(out, out.shape[-1]).view(-1, 16))


class Res2Net(nn.Module):
    """Channels split, each part added to the next, all put together again."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.convs = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1, bias=False) for _ in range(3))
        self.bns = nn.ModuleList(nn.BatchNorm2d(8) for _ in range(3))
        self.conv3, self.fc = nn.Conv2d(32, 32, 1), nn.Linear(32, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn(self.stem(x)))
        parts = torch.split(x, 8, 1)
        for i in range(3):
            part = parts[i] if i == 0 else part + parts[i]
            part = F.relu(self.bns[i](self.convs[i](part)))
            out = part if i == 0 else torch.cat((out, part), 1)
        out = self.conv3(torch.cat((out, parts[3]), 1))
        return self.fc((out + x).mean((2, 3)))


class CBAM(nn.Module):
    """Attention to channels by a shared MLP, then to pixels by two maps of one channel."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.mlp = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 16))
        self.spatial = nn.Sequential(nn.Conv2d(2, 1, 7, padding=3, bias=False), nn.BatchNorm2d(1))
        self.fc = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv(x))
        size = (x.size(2), x.size(3))
        channels = self.mlp(F.avg_pool2d(x, size, stride=size)) + self.mlp(F.max_pool2d(x, size))
        x = x * torch.sigmoid(channels).unsqueeze(2).unsqueeze(3).expand_as(x)
        pooled = (torch.max(x, 1)[0].unsqueeze(1), torch.mean(x, 1).unsqueeze(1))
        x = x * torch.sigmoid(self.spatial(torch.cat(pooled, dim=1)))
        return self.fc(x.view(x.size(0), x.size(1), -1).mean(dim=2))


class UNet(nn.Module):
    """One level deep; what comes up is padded to what went across.

    Args:
        bilinear: upsampling, or a transposed convolution.
    """

    def __init__(self, bilinear: bool) -> None:
        super().__init__()
        self.inc = nn.Sequential(conv_bn(3, 8, 3), conv_bn(8, 8, 3))
        self.down = nn.Sequential(nn.MaxPool2d(2), conv_bn(8, 16, 3))
        self.up: nn.Module = nn.ConvTranspose2d(16, 16, 2, stride=2)
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.conv, self.outc = conv_bn(24, 8, 3), nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        across = self.inc(x)
        up = self.up(self.down(across))
        dy, dx = across.size()[2] - up.size()[2], across.size()[3] - up.size()[3]
        up = F.pad(up, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.outc(self.conv(torch.cat([across, up], dim=1)))


class CroppedUNet(nn.Module):
    """As in the first paper: without padding, what goes across is cut to its middle.

    Args:
        shift: pixels that the cut is off the middle.
    """

    def __init__(self, shift: int = 0) -> None:
        super().__init__()
        self.down, self.bottom = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.join, self.out = nn.Conv2d(16, 8, 3), nn.Conv2d(8, 2, 1)
        self.shift = shift

    def forward(self, x: Tensor) -> Tensor:
        across = F.relu(self.down(x))
        up = self.up(F.relu(self.bottom(F.max_pool2d(across, 2))))
        low = (across.shape[2] - up.shape[2]) // 2 + self.shift
        high = low + up.shape[2]
        across = across[:, :, low:high, low:high]
        return self.out(F.relu(self.join(torch.cat([across, up], 1))))


class FPN(nn.Module):
    """Two levels of a pyramid, added after resizing to the size of the other."""

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 2, 2)
        self.lateral1, self.lateral2 = nn.Conv2d(8, 16, 1), nn.Conv2d(16, 16, 1)
        self.smooth, self.head = nn.Conv2d(16, 16, 3, padding=1), nn.Conv2d(16, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        c1 = F.relu(self.c1(x))
        p2 = self.lateral2(F.relu(self.c2(c1)))
        p1 = self.lateral1(c1) + F.interpolate(p2, size=c1.shape[-2:], mode="nearest")
        return self.head(self.smooth(p1))


class ShuffleNet(nn.Module):
    """Its channel shuffle."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        batch, channels, height, width = x.size()
        x = x.view(batch, 2, channels // 2, height, width).transpose(1, 2).contiguous()
        return self.fc(x.view(batch, -1, height, width).mean([2, 3]))
