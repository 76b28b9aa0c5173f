"""tvm.arith."""

import tvm
from tvm import tir
from tvm.arith import ConstIntBound

x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
analyzer = tvm.arith.Analyzer()
analyzer.bind(x, tvm.ir.Range(0, 16))
assert analyzer.const_int_bound(x * 4 + 3) == ConstIntBound(3, 63)
assert analyzer.const_int_bound(y).max_value == ConstIntBound.POS_INF
found = analyzer.modular_set(x * 4 + 6)
assert (found.coeff, found.base) == (4, 2)
assert str(analyzer.simplify((x * 4 + 3) // 4)) == "x"
assert str(analyzer.rewrite_simplify(x + y - x)) == str(analyzer.canonical_simplify(y)) == "y"
assert analyzer.can_prove(x < 16) and not analyzer.can_prove(y < 16)
with analyzer.constraint_scope(y < 4):
    assert analyzer.can_prove(y < 16)
assert not analyzer.can_prove(y < 16)
assert analyzer.can_prove_equal(x + x, x * 2)
interval = tvm.arith.Analyzer().int_set(x + y, {x: tvm.ir.Range(0, 4)})
assert (str(interval.min_value), str(interval.max_value)) == ("y", "y + 3")
assert tvm.arith.IntervalSet(None, None).is_everything()

domains = {x: tvm.ir.Range(0, 4), y: tvm.ir.Range(0, 8)}
result = tvm.arith.detect_iter_map([x * 8 + y], domains)
assert len(result.indices) == 1 and not result.errors
assert tvm.arith.detect_iter_map([x * x], domains).errors
z = tir.Var("z", "int32")
(digit,) = result.indices[0].args
assert isinstance(result.indices[0], tvm.arith.IterSumExpr) and isinstance(digit, tvm.arith.IterSplitExpr)
assert (digit.extent, digit.scale, digit.lower_factor, result.indices[0].base) == (32, 1, 1, 0)
assert [(str(each.source.source), each.scale) for each in digit.source.source.args] == [("x", 8), ("y", 1)]
assert str(tvm.arith.normalize_iter_map_to_expr(result.indices[0])) == "x * 8 + y"
(half,) = tvm.arith.detect_iter_map(
    [(x + 1) // 2], {x: tvm.ir.Range(1, 9)}, check_level="NoCheck"
).indices or [None]
assert half is None
shifted = tvm.arith.detect_iter_map([x // 2 + 3], {x: tvm.ir.Range(0, 8)}, check_level="NoCheck")
assert not shifted.indices
(part,) = tvm.arith.detect_iter_map([x % 4 + 3, x // 4], {x: tvm.ir.Range(0, 8)}).indices[0].args
assert (part.lower_factor, part.extent, part.scale, part.source.extent) == (1, 4, 1, 8)
inverse = tvm.arith.inverse_affine_iter_map(result.indices, [z])
assert {str(var): str(value) for var, value in inverse.items()} == {"x": "z // 8", "y": "z % 8"}
(outer, inner), (outside, inside) = tvm.arith.subspace_divide([x * 8 + y], domains, [y])
assert str(tvm.arith.normalize_iter_map_to_expr(outer.source)) == "x" and outer.extent == 4
assert str(tvm.arith.normalize_iter_map_to_expr(inner.source)) == "y" and inner.extent == 8
assert outside.extent and inside.extent
assert tvm.arith.subspace_divide([x // y], domains, [y]) == []
(simple,) = tvm.arith.iter_map_simplify([x * 8 % 8 + y], domains)
assert str(simple) == "y"
made = tvm.arith.IterSplitExpr(tvm.arith.IterMark(x, 16), 2, 4, 3)
assert str(tvm.arith.IterSumExpr([made], 5)) == "x // 2 % 4 * 3 + 5"
bound = tvm.arith.deduce_bound(x, x * 4 + y < 32, {}, {y: tvm.ir.Range(0, 4)})
assert bound.max_value == 7
print("ok")
