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
inverse = tvm.arith.inverse_affine_iter_map([x * 8 + y], domains, [z])
assert {str(var): str(value) for var, value in inverse.items()} == {"x": "z // 8", "y": "z % 8"}
division, _, _, reason = tvm.arith.subspace_divide([x * 8 + y], domains, [y])
outer, outer_extent, inner, inner_extent = division[0]
assert not reason and str(outer) == "x" and outer_extent == 4 and str(inner) == "y" and inner_extent == 8
bound = tvm.arith.deduce_bound(x, x * 4 + y < 32, {}, {y: tvm.ir.Range(0, 4)})
assert bound.max_value == 7
print("ok")
