"""Instructions and traces made by hand, as tests of TVM make them."""

import tvm
from tvm import s_tir, tirx
from tvm.s_tir.schedule import Instruction, InstructionKind, LoopRV, SBlockRV, Trace
from tvm.s_tir.schedule.testing import assert_structural_equal_ignore_global_symbol
from tvm.script import tirx as T


@T.prim_func
def before(a: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (12, 8))
    B = T.sblock_alloc_buffer((12, 8))
    C = T.match_buffer(c, (12, 8))
    for i, j in T.grid(12, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, j in T.grid(12, 8):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1.0


@T.prim_func
def inlined(a: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (12, 8))
    C = T.match_buffer(c, (12, 8))
    for i, j in T.grid(12, 8):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * 2.0 + 1.0


def step(kind, inputs=(), attrs=(), outputs=()):
    return Instruction(kind=InstructionKind.get(kind), inputs=inputs, attrs=attrs, outputs=outputs)


def raised(action):
    try:
        action()
    except tvm.TVMError as error:
        return str(error)
    raise AssertionError("nothing is raised")


HEAD = "# from tvm import s_tir\ndef apply_trace(sch: s_tir.Schedule) -> None:\n"

# one instruction
block, outer, inner = SBlockRV(), LoopRV(), LoopRV()
loops = step("GetLoops", [block], [], [outer, inner])
assert str(loops) == "_, _ = sch.get_loops(block=_)", str(loops)
assert loops.kind.same_as(InstructionKind.get("GetLoops")) and loops.kind.is_pure
assert not InstructionKind.get("EnterPostproc").is_pure
assert loops.inputs[0].same_as(block) and loops.outputs[1].same_as(inner) and loops.attrs == []
assert isinstance(block, SBlockRV) and isinstance(outer, LoopRV) and not isinstance(block, LoopRV)
for kind in ("ReIndex", "RFactor", "UnsafeSetDType", "GetSBlock", "ComputeInline"):
    assert InstructionKind.get(kind).name == kind

# a trace of several
trace = Trace(insts=[step("GetSBlock", [], ["B", "main"], [block]), loops], decisions={})
assert str(trace) == (
    HEAD + '  b0 = sch.get_sblock(name="B", func_name="main")\n  l1, l2 = sch.get_loops(block=b0)'
), str(trace)
assert len(trace.insts) == 2 and len(trace.decisions) == 0
assert trace.get_decision(trace.insts[0]) is None
assert trace.as_json() == [
    [["GetSBlock", [], ["B", "main"], ["b0"]], ["GetLoops", ["b0"], [], ["l1", "l2"]]],
    [],
]

# steps are added and taken away
first, second = LoopRV(), LoopRV()
trace.append(step("Split", [outer, None, T.int32(4)], [T.bool(True), T.bool(False)], [first, second]))
assert str(trace).splitlines()[-1] == (
    "  l3, l4 = sch.split(loop=l1, factors=[None, 4], preserve_unit_iters=True, disable_predication=False)"
), str(trace)
sch = s_tir.Schedule(before, debug_mask="all")
trace.apply_to_schedule(sch, remove_postproc=False, decision_provider=None)
assert [int(sch.get(each).extent) for each in sch.get_loops("B")] == [3, 4, 8]
last = trace.insts[-1]
assert trace.pop().same_as(last) and len(trace.insts) == 2
assert trace.pop() is loops and len(str(trace).splitlines()) == 3
empty = Trace([], {})
assert str(empty) == HEAD + "  pass" and empty.pop() is None
closed = Trace([step("EnterPostproc")], {})
assert closed.pop() is None and len(closed.insts) == 1

# what is applied, and what simplifying leaves
b, c = SBlockRV(), SBlockRV()
steps = [
    step("GetSBlock", [], ["B", "main"], [b]),
    step("ComputeInline", [b]),
    step("GetSBlock", [], ["C", "main"], [c]),
    step("EnterPostproc"),
    step("ComputeInline", [c]),
]
short = Trace(steps[:2], {})
sch = s_tir.Schedule(before, debug_mask="all")
short.apply_to_schedule(sch)
assert_structural_equal_ignore_global_symbol(inlined, sch.mod["main"])
sch = s_tir.Schedule(before)
Trace.apply_json_to_schedule(short.as_json(), sch)
assert_structural_equal_ignore_global_symbol(inlined, sch.mod["main"])
whole = Trace(steps, {})
assert len(whole.simplified(remove_postproc=False).insts) == 5
assert str(whole.simplified(remove_postproc=True)) == (
    HEAD + '  b0 = sch.get_sblock(name="B", func_name="main")\n  sch.compute_inline(block=b0)'
)

# annotations of any text survive JSON
for text in ("SSR", "", '""', '"', "b0", "\\n"):
    handle = SBlockRV()
    noted = Trace(
        [step("GetSBlock", [], ["B", "main"], [handle]), step("Annotate", [handle, text], ["hint"])], {}
    )
    sch = s_tir.Schedule(before)
    Trace.apply_json_to_schedule(noted.as_json(), sch)
    assert sch.get(sch.get_sblock("B")).annotations["hint"] == text

# samples: drawn when the trace is applied, unless it decides
drawn = step(
    "SampleCategorical",
    [],
    [[tirx.IntImm("int32", 3)], [tirx.FloatImm("float32", 1.0)]],
    [tirx.Var("v", "int32")],
)
sch = s_tir.Schedule(before)
Trace.apply_json_to_schedule(Trace([drawn], {}).as_json(), sch)
assert len(sch.trace.insts) == 1 and list(sch.trace.decisions.values()) == [0]
loop, more, v0, v1, s0, s1 = (
    LoopRV(),
    LoopRV(),
    *(tirx.Var("v", "int32") for _ in range(2)),
    LoopRV(),
    LoopRV(),
)
tile = step("SamplePerfectTile", [loop], [2, 16], [v0, v1])
tiled = Trace(
    [
        step("GetSBlock", [], ["B", "main"], [b]),
        step("GetLoops", [b], [], [loop, more]),
        tile,
        step("Split", [loop, v0, v1], [True, False], [s0, s1]),
    ],
    {tile: [3, 4]},
)
assert tiled.get_decision(tile) == [3, 4]
sch = s_tir.Schedule(before)
tiled.apply_to_schedule(sch)
assert [int(sch.get(each).extent) for each in sch.get_loops("B")] == [3, 4, 8]

# and a function may decide otherwise
seen = []


def decide(inst, inputs, attrs, decision):
    seen.append((inst.kind.name, len(inputs), decision))
    return [2, 6] if inst.kind.name == "SamplePerfectTile" else decision


sch = s_tir.Schedule(before)
tiled.apply_to_schedule(sch, decision_provider=decide)
assert [int(sch.get(each).extent) for each in sch.get_loops("B")] == [2, 6, 8]
assert seen == [
    ("GetSBlock", 0, None),
    ("GetLoops", 1, None),
    ("SamplePerfectTile", 1, [3, 4]),
    ("Split", 3, None),
]
assert list(sch.trace.decisions.values()) == [[2, 6]]
before_it = str(sch.mod)
assert (
    "do not multiply" in raised(lambda: tiled.apply_to_schedule(sch, decision_provider=lambda *given: [5, 5]))
    or str(sch.mod) == before_it
)
assert str(sch.mod) == before_it

# the steps of a real trace as instructions, and back
again = s_tir.Schedule(before)
Trace(sch.trace.insts, sch.trace.decisions).apply_to_schedule(again)
tvm.ir.assert_structural_equal(again.mod, sch.mod)
again = s_tir.Schedule(before)
Trace.apply_json_to_schedule(sch.trace.as_json(), again)
tvm.ir.assert_structural_equal(again.mod, sch.mod)

# a step of two traces is decided by each of them, or drawn again
traced = sch.trace
shared = Trace(traced.insts, {})
assert list(traced.decisions.values()) == [[2, 6]], traced.decisions
assert "decision=[6, 2]" in str(shared.with_decision(shared.insts[2], [6, 2], remove_postproc=False))
assert len(shared.decisions) == 0
assert len(traced.with_decision(traced.insts[2], None, remove_postproc=False).decisions) == 0

# a handle that is given up
gone = sch.get_sblock("C")
sch.remove_rv(gone)
assert raised(lambda: sch.get(gone)).endswith("is no block of this schedule"), raised(lambda: sch.get(gone))
assert "is no block" in raised(lambda: sch.remove_rv(gone))
print("ok")
