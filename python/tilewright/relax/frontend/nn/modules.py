"""The usual modules: linear layers, convolutions, norms, activations, embeddings."""

from ...._numbers import plain
from ....ir._nodes import classes
from . import op
from .core import Effect, Module, Parameter
from .tensor import Tensor, _Var


class IOEffect(Effect):
    """The effect of printing: an object without content, so that calls stay in order."""

    def __init__(self):
        self.effect = None

    def emit_init(self, name_hint: str, builder) -> list:
        """See Effect."""
        return [builder.emit(classes["relax.Tuple"]([]), name_hint)]

    def create(self, name_hint: str) -> list:
        """See Effect."""
        return [_Var(name_hint, classes["ir.ObjectType"]())]

    def set_state(self, state_vars: list) -> None:
        """See Effect."""
        (self.effect,) = state_vars

    def finalize(self) -> list:
        """See Effect."""
        return [self.effect]


class Identity(Module):
    """x itself."""

    def forward(self, x: Tensor) -> Tensor:
        """x."""
        return x


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.relu."""
        return op.relu(x)


class SiLU(Module):
    """x * sigmoid(x)."""

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.silu."""
        return op.silu(x)


class GELU(Module):
    """x * P(X <= x) of a normal distribution."""

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.gelu."""
        return op.gelu(x)


class Linear(Module):
    """x @ weight.T + bias.

    in_features   extent of the last dimension of x
    out_features  that of the result; a name makes it a symbolic dimension
    bias          whether there is one; default True
    dtype         of the parameters; default: the default dtype
    out_dtype     of the product; default: that of x
    """

    def __init__(self, in_features, out_features, bias: bool = True, dtype=None, out_dtype=None):
        self.in_features, self.out_features, self.out_dtype = in_features, out_features, out_dtype
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = Parameter((out_features,), out_dtype or dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """x [.., in_features] -> [.., out_features]."""
        product = op.matmul(x, op.permute_dims(self.weight), out_dtype=self.out_dtype)
        return product if self.bias is None else product + self.bias

    def to(self, dtype: str | None = None) -> None:
        """Changes the dtype; a product of a wider dtype keeps it, with its bias."""
        self.weight.to(dtype)
        if self.bias is not None and self.out_dtype is None:
            self.bias.to(dtype)


def _extents(value, rank: int) -> list:
    return [value] * rank if isinstance(plain(value), int) else list(value)


class _Conv(Module):
    _rank: int

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        dtype=None,
    ):
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = _extents(kernel_size, self._rank)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = Parameter((out_channels, in_channels // groups, *self.kernel_size), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None

    def _options(self) -> dict:
        return {
            "stride": self.stride,
            "padding": self.padding,
            "dilation": self.dilation,
            "groups": self.groups,
        }


class Conv1D(_Conv):
    """A convolution over x [n, channels, w] with weight [out, in / groups, k]."""

    _rank = 1

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.conv1d."""
        return op.conv1d(x, self.weight, self.bias, **self._options())


class Conv2D(_Conv):
    """A convolution over x [n, channels, h, w], or [n, h, w, channels] with data_layout="NHWC"."""

    _rank = 2

    def __init__(self, *args, data_layout: str = "NCHW", **kwargs):
        super().__init__(*args, **kwargs)
        self.data_layout = data_layout

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.conv2d."""
        return op.conv2d(x, self.weight, self.bias, **self._options(), data_layout=self.data_layout)


class Conv3D(_Conv):
    """A convolution over x [n, channels, d, h, w], or [n, d, h, w, channels] with data_layout="NDHWC"."""

    _rank = 3

    def __init__(self, *args, data_layout: str = "NCDHW", **kwargs):
        super().__init__(*args, **kwargs)
        self.data_layout = data_layout

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.conv3d."""
        return op.conv3d(x, self.weight, self.bias, **self._options(), data_layout=self.data_layout)


class ConvTranspose1D(Module):
    """The transposed convolution over x [n, channels, w] with weight [in, out / groups, k]."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        dilation=1,
        groups=1,
        bias=True,
        dtype=None,
    ):
        self.stride, self.padding, self.output_padding = stride, padding, output_padding
        self.dilation, self.groups = dilation, groups
        self.weight = Parameter((in_channels, out_channels // groups, kernel_size), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.conv1d_transpose."""
        return op.conv1d_transpose(
            x,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.dilation,
            self.groups,
        )


class LayerNorm(Module):
    """The last dimensions with mean 0 and variance 1, scaled and shifted.

    normalized_shape    their extents, an int or ints
    eps                 added to the variance; default 1e-5
    elementwise_affine  whether there are weight and bias; default True
    """

    def __init__(self, normalized_shape, eps: float = 1e-5, elementwise_affine: bool = True, dtype=None):
        self.normalized_shape = _extents(normalized_shape, 1)
        self.eps = eps
        self.weight = Parameter(self.normalized_shape, dtype) if elementwise_affine else None
        self.bias = Parameter(self.normalized_shape, dtype) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.layer_norm."""
        return op.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """x / sqrt(mean(x * x) + epsilon) * weight, and + bias if there is one.

    hidden_size  extent of the weight
    axes         over which the mean goes
    """

    def __init__(self, hidden_size: int, axes, epsilon: float = 1e-5, bias: bool = True, dtype=None):
        self.axes, self.epsilon = axes, epsilon
        self.weight = Parameter((hidden_size,), dtype)
        self.bias = Parameter((hidden_size,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """nn.op.rms_norm."""
        normal = op.rms_norm(x, self.weight, self.axes, self.epsilon)
        return normal if self.bias is None else normal + self.bias


class GroupNorm(Module):
    """Groups of channels with mean 0 and variance 1, scaled and shifted by channel."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype=None
    ):
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = Parameter((num_channels,), dtype) if affine else None
        self.bias = Parameter((num_channels,), dtype) if affine else None

    def forward(self, x: Tensor, channel_axis: int = 1, axes=None) -> Tensor:
        """nn.op.group_norm."""
        return op.group_norm(x, self.num_groups, self.weight, self.bias, self.eps, channel_axis, axes)


class Embedding(Module):
    """Rows of a table.

    num  rows
    dim  extent of a row
    """

    def __init__(self, num, dim, dtype=None):
        self.num, self.dim = num, dim
        self.weight = Parameter((num, dim), dtype)

    def forward(self, x: Tensor) -> Tensor:
        """x [..] of integers -> [.., dim]."""
        if x.ndim == 1:
            return op.take(self.weight, x, axis=0)
        rows = op.take(self.weight, op.reshape(x, [-1]), axis=0)
        return op.reshape(rows, [*x.shape, self.dim])
