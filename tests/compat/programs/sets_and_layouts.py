"""Regions and bounds of tvm.arith, layouts of axes, visitors of loop programs, dependences of blocks."""

import tvm
from tvm import arith, tir
from tvm.script import tir as T
from tvm.tir.functor import mutator, visitor
from tvm.tir.schedule import DepKind
from tvm.tir.stmt_functor import post_order_visit

i, j, n = tir.Var("i", "int32"), tir.Var("j", "int32"), tir.Var("n", "int32")
loops = {i: tvm.ir.Range(0, 4), j: tvm.ir.Range(0, 8)}


def ends(sets):
    return [(str(each.min_value), str(each.max_value)) for each in sets]


def refused(work) -> str:
    try:
        work()
    except tvm.error.TVMError as error:
        return str(error)
    raise AssertionError("nothing is refused")


# regions: rows i * 2 to i * 2 + 2 overlap, columns are each reached
tiles = [tvm.ir.Range.from_min_extent(i * 2, 3), tvm.ir.Range.from_min_extent(j, 1)]
assert ends(arith.estimate_region_lower_bound(tiles, loops, True)) == [("0", "8"), ("0", "7")]
assert ends(arith.estimate_region_strict_bound(tiles, loops, predicate=True)) == [("0", "8"), ("0", "7")]
assert ends(arith.estimate_region_upper_bound(tiles, loops, True)) == [("0", "8"), ("0", "7")]

# steps of 4 leave elements out; both indices move together; an index is no sum of digits
with_holes = [tvm.ir.Range.from_min_extent(i * 4, 2)]
assert arith.estimate_region_lower_bound(with_holes, loops, True) is None
assert ends(arith.estimate_region_upper_bound(with_holes, loops, True)) == [("0", "13")]
diagonal = [tvm.ir.Range.from_min_extent(i, 1), tvm.ir.Range.from_min_extent(i, 1)]
assert arith.estimate_region_strict_bound(diagonal, loops, True) is None
assert ends(arith.estimate_region_upper_bound(diagonal, loops, True)) == [("0", "3"), ("0", "3")]
fixed = [tvm.ir.Range.from_min_extent(n, 5)]
assert ends(arith.estimate_region_lower_bound(fixed, loops, True)) == [("n", "n + 4")]
overlapping = [tvm.ir.Range.from_min_extent(i + j, 1)]
assert arith.estimate_region_lower_bound(overlapping, loops, True) is None
assert ends(arith.estimate_region_upper_bound(overlapping, loops, True)) == [("0", "10")]

# bounds that conditions put on variables
found = arith.detect_clip_bound(tir.all(i * 1 < n, i > 2, i >= 5), [i])
assert [str(each) for each in found] == ["5", "n - 1"]
found = arith.detect_clip_bound(tir.all(i <= 6, i < n, j + 3 >= n), [i, j])
assert [str(each) for each in found] == ["None", "T.min(n - 1, 6)", "n - 3", "None"]
assert arith.detect_clip_bound(i * j < 5, [i, j]) == []
assert arith.detect_clip_bound(tir.any(i < 5, j < 5), [i, j]) == []
assert arith.detect_clip_bound(i * 2 < 5, [i]) == []

# layouts
packed = tir.layout("NCHW16c")
assert len(packed) == 5 and "c" in packed and "C" in packed and "x" not in packed
assert (packed[4], packed.name) == ("c", "NCHW16c")
assert (packed.index_of("c"), packed.index_of("k")) == (4, -1)
assert (packed.factor_of("C"), packed.factor_of("c"), packed.factor_of("N")) == (16, 16, -1)
assert packed == tir.Layout("NCHW16c") != tir.layout("NCHW")
ways = tir.bijective_layout("NCHW", "NCHW16c")
assert [int(each) for each in ways.forward_shape((1, 40, 7, 7))] == [1, 3, 7, 7, 16]
assert [int(each) for each in ways.backward_shape((1, 3, 7, 7, 16))] == [1, 48, 7, 7]
assert [int(each) for each in ways.forward_index([0, 18, 6, 6])] == [0, 1, 6, 6, 2]
assert [int(each) for each in ways.backward_index([0, 1, 6, 6, 2])] == [0, 18, 6, 6]
assert str(ways.forward_index([0, n, 6, 6])[1]) == "n // 16"
assert [int(each) for each in tir.bijective_layout("NCHW4c", "NHWC").forward_shape([1, 2, 5, 7, 4])] == [
    1,
    5,
    7,
    8,
]
assert (
    refused(lambda: tir.layout("N?")) == "layout N? is not made of letters, and numbers before small letters"
)
assert refused(lambda: tir.layout("NN")) == "layout NN has axis N twice"
assert (
    refused(lambda: tir.layout("4NC"))
    == "layout 4NC: a number stands before each small letter, and before no other"
)
assert refused(lambda: tir.layout("N4c")) == "layout N4c has an inner part c, but no axis C"
assert refused(lambda: tir.layout("NCHW0c")) == "layout NCHW0c has parts of 0 elements"
assert refused(lambda: tir.bijective_layout("NC", "NH")) == "layouts NC and NH do not have the same axes"
assert refused(lambda: ways.forward_index([1, 2])) == "layout NCHW has 4 axes, but 2 values are given"


# visitors and mutators
@T.prim_func
def two_stages(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + T.float32(1)


@visitor
class Names(tir.PyStmtExprVisitor):
    def __init__(self):
        super().__init__()
        self.seen = []

    def visit_for_(self, op):
        self.seen.append(f"for {op.extent}")
        super().visit_for_(op)

    def visit_block_(self, op):
        self.seen.append(op.name_hint)
        super().visit_block_(op)

    def visit_add_(self, op):
        self.seen.append("add")
        super().visit_add_(op)

    def visit_buffer_load_(self, op):
        self.seen.append(op.buffer.name)


names = Names()
names.visit_stmt(two_stages.body)
assert names.seen == ["root", "for 8", "B", "A", "for 8", "C", "add", "B"], names.seen


@mutator
class Subtracts(tir.PyStmtExprMutator):
    def visit_add_(self, op):
        return tir.Sub(self.visit_expr(op.a), self.visit_expr(op.b))

    def visit_sblock_(self, op):
        return super().visit_block_(op).replace(name_hint=op.name_hint + "_seen")


changed = Subtracts().visit_stmt(two_stages.body)
found = []
post_order_visit(
    changed, lambda node: found.append(type(node)) if isinstance(node, (tir.Add, tir.Sub)) else None
)
assert found == [tir.Sub]
assert 'T.block("C_seen")' in two_stages.with_body(changed).script(dialect="2022")
assert tir.PyStmtExprMutator().visit_stmt(two_stages.body).same_as(two_stages.body)


@T.prim_func
def open_extent(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n * 8,), "float32")
    for i in range(n * 8):
        with T.block("A"):
            vi = T.axis.spatial(n * 8, i)
            A[vi] = T.float32(0)


class Halves(tir.PyStmtExprMutator):
    """Loops and the domains of axes alike."""

    def visit_mul_(self, op):
        return op.a * 4


halved = open_extent.with_body(Halves().visit_stmt(open_extent.body)).script()
assert "range(n * 4)" in halved and "T.axis.spatial(n * 4, i)" in halved

# dependences of the blocks of a scope
sch = tir.Schedule(two_stages)
scope = sch.state.get_block_scope(sch.get_sref(sch.get_block("root")))
first, second = (sch.get_sref(sch.get_block(name)) for name in "BC")
(dependence,) = scope.get_deps_by_src(first)
assert dependence.dst == second and dependence.kind == DepKind.RAW
assert str(dependence) == "Dependency(B -> C, RAW)"
assert [each.src for each in scope.get_deps_by_dst(second)] == [first]
assert scope.get_deps_by_dst(first) == [] == sch.state.get_sblock_scope(first).get_deps_by_src(second)

print("ok")
