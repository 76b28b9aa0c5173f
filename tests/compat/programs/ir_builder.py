"""Programs built by tvm.script.ir_builder are those that the same text gives."""

import pytest
import tvm
from tvm import tir
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import ir as I
from tvm.script.ir_builder import tir as T

# ---- a module with two functions

with IRBuilder() as ib:
    with I.ir_module():
        I.module_attrs({"note": "built"})
        with T.prim_func():
            T.func_name("matmul")
            T.func_attr({"tir.noalias": True})
            A = T.arg("A", T.Buffer((8, 7), "float32"))
            B = T.arg("B", T.Buffer((7, 5), "float32"))
            C = T.arg("C", T.Buffer((8, 5), "float32"))
            Y = IRBuilder.name("Y", T.alloc_buffer((8, 5), "float32"))
            with T.grid(8, 5, 7) as (i, j, k):
                with T.block("Y"):
                    vi, vj, vk = IRBuilder.name_many(["vi", "vj", "vk"], T.axis.remap("SSR", [i, j, k]))
                    with T.init():
                        T.buffer_store(Y, 0.0, [vi, vj])
                    T.buffer_store(Y, Y[vi, vj] + A[vi, vk] * B[vk, vj], [vi, vj])
            with T.grid(8, 5) as (i, j):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads(Y[vi, vj])
                    T.writes(C[vi, vj])
                    T.block_attr({"note": 1})
                    T.buffer_store(C, T.max(Y[vi, vj], 0.0), [vi, vj])
        with T.prim_func(is_private=True):
            T.func_name("halves")
            a = T.arg("a", T.handle())
            n = T.arg("n", T.int32())
            D = T.match_buffer(a, (16,), "float16")
            with T.parallel(0, 8, annotations={"grain": 2}) as i:
                with T.vectorized(2) as j:
                    with T.If(i * 2 + j < n):
                        with T.Then():
                            T.buffer_store(D, D[i * 2 + j] * T.float16(0.5), [i * 2 + j])
                        with T.Else():
                            T.evaluate(0)
built = ib.get()


written = tvm.script.from_source(
    """
@I.ir_module
class Written:
    I.module_attrs({"note": "built"})

    @T.prim_func
    def matmul(
        A: T.Buffer((8, 7), "float32"),
        B: T.Buffer((7, 5), "float32"),
        C: T.Buffer((8, 5), "float32"),
    ):
        T.func_attr({"tir.noalias": True})
        Y = T.alloc_buffer((8, 5), "float32")
        for i, j, k in T.grid(8, 5, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(8, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"note": 1})
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))

    @T.prim_func(private=True)
    def halves(a: T.handle, n: T.int32):
        D = T.match_buffer(a, (16,), "float16")
        for i in T.parallel(0, 8, annotations={"grain": 2}):
            for j in T.vectorized(2):
                if i * 2 + j < n:
                    D[i * 2 + j] = D[i * 2 + j] * T.float16(0.5)
                else:
                    T.evaluate(0)
"""
)
tvm.ir.assert_structural_equal(built, written)
assert "Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]" in built.script(), built.script()

# ---- statements

with IRBuilder() as ib:
    with T.prim_func():
        T.func_name("f")
        E = T.arg("E", T.Buffer((4, 4), "int32"))
        n = T.arg("n", T.int32())
        with T.launch_thread("blockIdx.x", 4) as bx:
            with T.allocate([4], "int32", "shared") as pointer:
                with T.decl_buffer((4,), "int32", data=pointer, scope="shared") as S:
                    with T.serial(1, 4) as i:
                        T.buffer_store(S, i, [i])
                    with T.LetStmt(n + 1) as m:
                        with T.attr(0, "pragma_note", 1):
                            with T.Assert(m > 0, "too small"):
                                with T.While(m > S[bx]):
                                    T.buffer_store(E, m, [bx, 0])
func = ib.get()


f = tvm.script.from_source(
    """
@T.prim_func
def f(E: T.Buffer((4, 4), "int32"), n: T.int32):
    with T.launch_thread("blockIdx.x", 4) as bx:
        pointer = T.allocate([4], "int32", "shared")
        S = T.decl_buffer((4,), "int32", data=pointer, scope="shared")
        for i in T.serial(1, 4):
            S[i] = i
        m: T.int32 = n + 1
        with T.attr(0, "pragma_note", 1):
            assert m > 0, "too small"
            while m > S[bx]:
                E[bx, 0] = m
"""
)
tvm.ir.assert_structural_equal(func, f)

# ---- parts of programs, with free variables

with IRBuilder() as ib:
    b = T.Buffer((128, 128), "float32")
    d = T.int32()
    with T.block("block"):
        T.where(d > 1)
        T.reads(b[0:16, 0:16])
        T.writes(b[d:128, d:128])
        view = T.match_buffer(b[0:32, 0:32], (32, 32), "float32")
        v = T.axis.spatial(128, d)
        T.evaluate(0)
realize = ib.get()
assert isinstance(realize, tir.BlockRealize) and realize.iter_values[0].same_as(d)
assert [len(realize.block.reads), len(realize.block.writes), len(realize.block.match_buffers)] == [1, 1, 1]
assert realize.block.iter_vars[0].var.same_as(v)

with IRBuilder() as ib:
    with T.thread_binding(8, thread="threadIdx.x") as i:
        T.evaluate(i)
    with T.unroll(4) as j:
        T.evaluate(j)
first, second = ib.get().seq
assert (first.thread_tag, second.for_kind) == ("threadIdx.x", "unrolled")

# ---- what is refused


def refusal(build) -> str:
    with pytest.raises(tvm.TVMError) as error, IRBuilder() as ib:
        build()
        ib.get()
    return str(error.value)


def twice_then():
    with T.If(T.int32() > 0):
        with T.Then():
            T.evaluate(0)
        with T.Then():
            T.evaluate(0)


def nameless():
    with I.ir_module(), T.prim_func():
        T.evaluate(0)


def undefined():
    with I.ir_module():
        I.decl_function("f", func)


def twice_init():
    with T.block("b"):
        with T.init():
            T.evaluate(0)
        with T.init():
            T.evaluate(0)


def loose_then():
    with T.Then():
        T.evaluate(0)


def empty_if():
    with T.If(T.int32() > 0):
        pass


def full_if():
    with T.If(T.int32() > 0):
        T.evaluate(0)


def loose_init():
    with T.init():
        T.evaluate(0)


def no_loop():
    with T.block("b"):
        T.axis.remap("S", [T.int32()])


def no_parameter():
    with T.prim_func():
        T.match_buffer(T.handle(), (4,))


def no_value():
    with T.prim_func():
        T.arg("a", 3)


def no_region():
    with T.block("b"):
        T.reads(3)


def attrs_twice():
    with I.ir_module():
        I.module_attrs({"a": 1})
        I.module_attrs({"a": 2})


def attr_twice():
    with I.ir_module():
        I.module_set_attr("a", 1)
        assert I.module_get_attr("a") == 1
        I.module_set_attr("a", 2)


def declared_twice():
    with I.ir_module():
        I.decl_function("f", func)
        I.decl_function("f", func)


def undeclared():
    with I.ir_module():
        I.def_function("f", func)


for build, text in [
    (lambda: T.func_name("f"), "T.func_name is allowed only inside T.prim_func()"),
    (lambda: T.reads(E), "T.reads is allowed only inside T.block(...)"),
    (lambda: I.module_attrs({}), "I.module_attrs is allowed only inside I.ir_module()"),
    (lambda: None, "nothing was built: no frame has ended"),
    (
        lambda: T.thread_binding(8),
        'T.thread_binding needs the name of the threads\nhelp: thread="threadIdx.x"',
    ),
    (lambda: T.allocate([8], "int8", condition=False), "unsupported: an allocation with a condition"),
    (twice_then, "T.If(...) has T.Then() twice"),
    (loose_then, "T.Then() is allowed only inside T.If(...)"),
    (empty_if, "T.If(...) has no T.Then()"),
    (full_if, "statements of T.If(...) stand in T.Then() or T.Else()"),
    (nameless, "a function of a module needs a name\nhelp: T.func_name(...)"),
    (undefined, 'function "f" is declared, but not defined'),
    (declared_twice, 'the module has two functions called "f"'),
    (undeclared, 'function "f" is defined, but not declared\nhelp: I.decl_function goes before'),
    (attrs_twice, "the module has attributes already\nhelp: I.module_attrs(..., allow_overwrite=True)"),
    (attr_twice, 'the module has an attribute "a" already\nhelp: allow_overwrite=True'),
    (twice_init, 'block "b" has T.init twice'),
    (loose_init, "T.init is allowed only inside T.block(...)"),
    (no_region, "a region is a buffer with its indices, found a Python int"),
    (no_loop, "T.axis.remap takes loop variables, v is none\nhelp: write T.axis.spatial(extent, value)"),
    (no_parameter, "T.match_buffer: v is no parameter"),
    (no_value, "T.arg: parameter a is a Python int, expected a variable or a buffer"),
]:
    found = refusal(build)
    assert found == text, found
with pytest.raises(
    tvm.TVMError, match="there is no IRBuilder here\nhelp: write it inside `with IRBuilder\\(\\) as ib:`"
):
    T.evaluate(0)
assert not IRBuilder.is_in_scope()
print("ok")
