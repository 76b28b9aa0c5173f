"""Types of exceptions."""

import tvm
import tvm.testing
from tvm.script import tir as T


@T.prim_func
def main(A: T.Buffer((5,), "float32")):
    for i in range(5):
        with T.block("A"):
            vi = T.axis.spatial(5, i)
            A[vi] = T.float32(0)


def raised(kind, action):
    try:
        action()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind}")


sch = tvm.tir.Schedule(main)
for kind in (
    tvm.TVMError,
    tvm.tir.ScheduleError,
    tvm.tir.schedule.ScheduleError,
    tvm.error.TVMError,
    ValueError,
):
    assert raised(kind, lambda: sch.get_block("B")), kind
raised(tvm.error.DiagnosticError, lambda: tvm.script.from_source("@T.prim_func\ndef f(A):\n    pass\n"))
raised(
    tvm.error.OpNotImplemented,
    lambda: tvm.tir.transform.CommonSubexprElimTIR(identify_equiv_terms=True),
)
raised(ValueError, lambda: tvm.testing.assert_prim_expr_equal(tvm.tir.Var("x", "int32"), 3))
tvm.testing.assert_prim_expr_equal(tvm.tir.const(3, "int32"), 3)
print("ok")
