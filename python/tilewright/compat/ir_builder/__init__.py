"""tvm.script.ir_builder: programs built by `with` statements.

with IRBuilder() as ib:
    with T.prim_func():
        T.func_name("double")
        A = T.arg("A", T.Buffer((8,), "float32"))
        with T.serial(8) as i:
            T.buffer_store(A, A[i] * 2, [i])
func = ib.get()
"""

from .base import IRBuilder

__all__ = ["IRBuilder"]
