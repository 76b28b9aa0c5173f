"""The pattern language: finding and rewriting parts of graphs.

>>> from tilewright.relax.pattern import is_op, rewrite_call, wildcard
>>> x = wildcard()
>>> relu = is_op("relax.nn.relu")(x)
>>> changed = rewrite_call(relu, lambda call, found: relax.op.maximum(found[x], relax.const(0.0)), mod["main"])
"""

from ..._guard import guard_module
from .context import PatternContext
from .fuse import FuseOpsByPattern, PatternCheckContext
from .nodes import (
    Pattern,
    has_attr,
    has_dtype,
    has_shape,
    is_call_dps_packed,
    is_call_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_extern,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    wildcard,
)
from .rewrite import rewrite_bindings, rewrite_call
from .rewriter import PatternMatchingRewriter

__all__ = [
    "FuseOpsByPattern", "Pattern", "PatternCheckContext", "PatternContext", "PatternMatchingRewriter", "has_attr", "has_dtype", "has_shape", "is_call_dps_packed", "is_call_packed", "is_call_tir", "is_const",
    "is_dfv", "is_expr", "is_extern", "is_gv", "is_op", "is_shape", "is_tuple", "is_tuple_get_item", "is_var",
    "make_fused_bias_activation_pattern", "rewrite_bindings", "rewrite_call", "wildcard",
]  # fmt: skip
guard_module(__name__, globals(), __all__)
