"""tvm.relax.backend: patterns of what libraries can do, and the list of those that programs register."""

from typing import NamedTuple

from tilewright.relax.pattern import (
    Pattern,
    is_op,
    make_fused_bias_activation_pattern,
    wildcard,
)


class FusionPattern(NamedTuple):
    """A row of FuseOpsByPattern."""

    name: str
    pattern: Pattern
    annotation_patterns: dict = {}  # noqa: RUF012 - a default of a tuple's field, never changed
    check: object = None


def _with_bias_and_activation(out, annotations: dict, with_bias: bool, activation: str | None):
    annotations["root"] = out
    if with_bias:
        annotations["bias"] = wildcard()
        out = is_op("relax.add")(out, annotations["bias"])
    return (is_op(activation)(out) if activation else out), annotations


def make_matmul_pattern(with_bias: bool = False, activation: str | None = None, transposed_rhs: bool = False):
    """(the pattern of a matmul with what follows it, {"lhs", "rhs", "root" and "bias": their patterns})."""
    annotations = {"lhs": wildcard(), "rhs": wildcard()}
    rhs = is_op("relax.permute_dims")(annotations["rhs"]) if transposed_rhs else annotations["rhs"]
    out = is_op("relax.matmul")(annotations["lhs"], rhs)
    return _with_bias_and_activation(out, annotations, with_bias, activation)


def make_conv2d_pattern(with_bias: bool = False, activation: str | None = None):
    """(the pattern of a convolution with what follows it, {"input", "weight", "root" and "bias": their patterns})."""
    annotations = {"input": wildcard(), "weight": wildcard()}
    out = is_op("relax.nn.conv2d")(annotations["input"], annotations["weight"])
    return _with_bias_and_activation(out, annotations, with_bias, activation)


def make_residual_block_pattern(node_output, binary_op: str = "relax.add", activation: str | None = None):
    """(the pattern of `node_output`, a pattern or a pair as above, with a residual beside it, annotations)."""
    out, annotations = node_output if isinstance(node_output, tuple) else (node_output, {})
    residual = wildcard()
    both = is_op(binary_op)(out, residual) | is_op(binary_op)(residual, out)
    return (is_op(activation)(both) if activation else both), {**annotations, "residual": residual}


_registered: list = []


def register_patterns(patterns) -> None:
    """Adds rows to what get_patterns_with_prefix finds; later ones come first."""
    _registered.extend(row if isinstance(row, FusionPattern) else FusionPattern(*row) for row in patterns)


def get_patterns_with_prefix(prefix: str) -> list:
    """The registered rows whose names begin so, the latest first."""
    return [row for row in reversed(_registered) if row.name.startswith(prefix)]


def get_pattern(name: str):
    """The registered row of that name, or None."""
    return next((row for row in reversed(_registered) if row.name == name), None)


PATTERNS = {
    made.__name__: made
    for made in (
        make_conv2d_pattern,
        make_fused_bias_activation_pattern,
        make_matmul_pattern,
        make_residual_block_pattern,
    )
}
REGISTRY = {made.__name__: made for made in (get_pattern, get_patterns_with_prefix, register_patterns)}
