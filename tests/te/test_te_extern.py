"""te.extern: stages that a statement computes, between stages of formulas."""

import numpy
import pytest

import tilewright
from tilewright import relax, schedule, te, tir
from tilewright.script import parse
from tilewright.script import tir as T

SHAPE = (5, 7)


def double(source, target):
    target.copy_from(tilewright.tensor(source.numpy() * 2))


def split(source, low, high):
    low.copy_from(tilewright.tensor(numpy.minimum(source.numpy(), 0)))
    high.copy_from(tilewright.tensor(numpy.maximum(source.numpy(), 0)))


tilewright.register_func("test.extern.double", double, override=True)
tilewright.register_func("test.extern.split", split, override=True)


def doubled(tensor, name="D"):
    return te.extern(
        tensor.shape,
        [tensor],
        lambda ins, outs: tir.call_packed("test.extern.double", ins[0], outs[0]),
        name=name,
    )


def plus_one(tensor, name):
    return te.compute(tensor.shape, lambda i, j: tensor[i, j] + 1.0, name=name)


def numbers(shape=SHAPE):
    return numpy.random.default_rng(0).standard_normal(shape).astype("float32")


def between():
    """A + 1, doubled, + 1."""
    A = te.placeholder(SHAPE, name="A")
    return te.create_prim_func([A, plus_one(doubled(plus_one(A, "B")), "E")])


def test_the_block_reads_its_inputs_and_writes_its_outputs():
    @T.prim_func
    def expected(A: T.Buffer((5, 7), "float32"), D: T.Buffer((5, 7), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        with T.block("root"):
            T.reads()
            T.writes()
            with T.block("D"):
                T.reads(A[0:5, 0:7])
                T.writes(D[0:5, 0:7])
                T.call_packed(
                    "test.extern.double",
                    T.tvm_stack_make_array(
                        T.tvm_access_ptr(T.type_annotation("float32"), A.data, 0, 35, 1),
                        T.tvm_stack_make_shape(5, 7),
                        0,
                        2,
                        T.float32(0),
                        0,
                    ),
                    D,
                )

    A = te.placeholder(SHAPE, name="A")
    made = te.create_prim_func([A, doubled(A)])
    tilewright.ir.assert_structural_equal(made, expected)
    tilewright.ir.assert_structural_equal(parse(made.script()), made)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_registered_function_between_formulas_is_compiled(target):
    x, result = numbers(), tilewright.tensor(numpy.zeros(SHAPE, "float32"))
    tilewright.build(between(), target=target)(tilewright.tensor(x), result)
    numpy.testing.assert_array_equal(result.numpy(), (x + 1) * 2 + 1)


def test_and_interpreted():
    x, result = numbers(), numpy.zeros(SHAPE, "float32")
    tir.interpret(between(), x, result)
    numpy.testing.assert_array_equal(result, (x + 1) * 2 + 1)


def test_an_input_is_only_read():
    A = te.placeholder(SHAPE, name="A")
    x, result = numbers(), tilewright.tensor(numpy.zeros(SHAPE, "float32"))
    x.flags.writeable = False
    tilewright.build(te.create_prim_func([A, doubled(A)]))(tilewright.tensor(x), result)
    numpy.testing.assert_array_equal(result.numpy(), x * 2)


def test_several_results():
    A = te.placeholder(SHAPE, name="A")
    low, high = te.extern(
        [SHAPE, SHAPE],
        [A],
        lambda ins, outs: tir.call_packed("test.extern.split", ins[0], outs[0], outs[1]),
        name="S",
    )
    together = te.compute(SHAPE, lambda i, j: high[i, j] - low[i, j], name="C")
    made = te.create_prim_func([A, high, together])
    assert [made.buffers[n].name for n in range(3)] == ["A", "S_v1", "C"]
    x = numbers()
    results = [tilewright.tensor(numpy.zeros(SHAPE, "float32")) for _ in range(2)]
    tilewright.build(made)(tilewright.tensor(x), *results)
    numpy.testing.assert_array_equal(results[0].numpy(), numpy.maximum(x, 0))
    numpy.testing.assert_array_equal(results[1].numpy(), abs(x))


def test_symbolic_shapes():
    n = te.var("n")
    A = te.placeholder((n, 3), name="A")
    func = tilewright.build(te.create_prim_func([A, doubled(plus_one(A, "B"))]))
    for rows in (1, 4):
        x, result = numbers((rows, 3)), tilewright.tensor(numpy.zeros((rows, 3), "float32"))
        func(tilewright.tensor(x), result)
        numpy.testing.assert_array_equal(result.numpy(), (x + 1) * 2)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "uint16", "int64", "bool"])
def test_elements_of(dtype):
    seen = []
    tilewright.register_func("test.extern.see", lambda x, y: seen.append((x.dtype, x.shape)), override=True)
    A = te.placeholder((3,), dtype, name="A")
    B = te.extern((3,), [A], lambda ins, outs: tir.call_packed("test.extern.see", ins[0], outs[0]), name="B")
    func = te.create_prim_func([A, B])
    for target in ("llvm", "c"):
        x, y = (tilewright.empty((3,), dtype) for _ in range(2))
        tilewright.build(func, target=target)(x, y)
    assert seen == [(dtype, (3,))] * 2


def test_a_tensor_without_dimensions():
    tilewright.register_func("test.extern.scalar", lambda x, y: y.copy_from(x), override=True)
    A = te.placeholder((), name="A")
    B = te.extern((), [A], lambda ins, outs: tir.call_packed("test.extern.scalar", ins[0], outs[0]), name="B")
    result = tilewright.tensor(numpy.float32(0))
    tilewright.build(te.create_prim_func([A, B]))(tilewright.tensor(numpy.float32(2.5)), result)
    assert result.numpy() == 2.5


@T.prim_func
def running_sum(X: T.Buffer((5,), "float32"), Y: T.Buffer((5,), "float32")):
    total = T.alloc_buffer((1,), "float32")
    total[0] = T.float32(0)
    for i in range(5):
        total[0] = total[0] + X[i]
        Y[i] = total[0]


def test_a_loop_program_is_a_stage_twice():
    A = te.placeholder((5,), name="A")
    once = te.extern_primfunc([A], running_sum, name="P")
    twice = te.extern_primfunc([once], running_sum, name="P")
    made = te.create_prim_func([A, twice])
    tilewright.ir.assert_structural_equal(parse(made.script()), made)
    x, result = numbers((5,)), numpy.zeros(5, "float32")
    tir.interpret(made, x, result)
    numpy.testing.assert_allclose(result, x.cumsum().cumsum(), rtol=1e-5)
    compiled = tilewright.tensor(numpy.zeros(5, "float32"))
    tilewright.build(made)(tilewright.tensor(x), compiled)
    numpy.testing.assert_array_equal(compiled.numpy(), result)


def test_the_shape_of_a_loop_program_is_that_of_its_tensors():
    @T.prim_func
    def copy(x: T.handle, y: T.handle):
        n = T.int32()
        X = T.match_buffer(x, (n,))
        Y = T.match_buffer(y, (n,))
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi]

    A = te.placeholder((7,), name="A")
    B = te.extern_primfunc([A], copy, name="B")
    assert [int(extent) for extent in B.shape] == [7]
    C = te.compute((7,), lambda i: B[i] * 2.0, name="C")
    sch = tilewright.Schedule(te.create_prim_func([A, C]), debug_mask=1)
    assert [sch.get(each).name_hint for each in sch.get_child_blocks(sch.get_block("B"))] == ["Y"]
    sch.verify()


def test_a_body_of_statements_with_symbolic_buffers():
    n = te.var("n")
    X = tir.decl_buffer((n,), "float32", name="X")
    Y = tir.decl_buffer((n,), "float32", name="Y")
    i = tir.Var("i", "int32")

    def body(ins, outs):
        store = tir.BufferStore(buffer=outs[0], value=ins[0][n - 1 - i], indices=[i])
        return tir.For(loop_var=i, min=tir.const(0), extent=n, body=store)

    A = te.placeholder((4,), name="A")
    B = te.extern((4,), [A], body, name="B", in_buffers=[X], out_buffers=[Y])
    x, result = numbers((4,)), numpy.zeros(4, "float32")
    tir.interpret(te.create_prim_func([A, B]), x, result)
    numpy.testing.assert_array_equal(result, x[::-1])


def test_indices_of_64_bits():
    A = te.placeholder((4, 3), name="A")
    func = te.create_prim_func([A, plus_one(doubled(A), "E")], index_dtype="int64")
    assert func.buffers[0].shape[0].dtype == "int64"
    x, result = numbers((4, 3)), tilewright.tensor(numpy.zeros((4, 3), "float32"))
    tilewright.build(func)(tilewright.tensor(x), result)
    numpy.testing.assert_array_equal(result.numpy(), x * 2 + 1)


def test_stages_keep_their_order_and_are_not_inlined_into_it():
    sch = tilewright.Schedule(between(), debug_mask=1)
    assert [sch.get(each).name_hint for each in sch.get_producers("D")] == ["B"]
    assert [sch.get(each).name_hint for each in sch.get_consumers("D")] == ["E"]
    for refused in (sch.compute_inline, sch.reverse_compute_inline):
        with pytest.raises(tilewright.UserError):
            refused("D")
    with pytest.raises(tilewright.UserError):
        sch.compute_inline("B")
    sch.parallel(sch.get_loops("B")[0])
    sch.vectorize(sch.get_loops("E")[1])
    x, result = numbers(), tilewright.tensor(numpy.zeros(SHAPE, "float32"))
    tilewright.build(sch.mod)(tilewright.tensor(x), result)
    numpy.testing.assert_array_equal(result.numpy(), (x + 1) * 2 + 1)


def test_in_a_graph():
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType(SHAPE, "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit_te(doubled, x))
    vm = relax.VirtualMachine(tilewright.compile(builder.get(), target="llvm"), tilewright.cpu())
    data = numbers()
    numpy.testing.assert_array_equal(vm["main"](tilewright.tensor(data)).numpy(), data * 2)


def test_scripts_hand_buffers_to_registered_functions():
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        T.call_packed("test.extern.double", A, B)

    x, result = numbers(), tilewright.tensor(numpy.zeros(SHAPE, "float32"))
    tilewright.build(main)(tilewright.tensor(x), result)
    numpy.testing.assert_array_equal(result.numpy(), x * 2)


def test_strides_and_offsets_reach_the_registered_function():
    @T.prim_func
    def main(A: T.Buffer((24,), "float32"), B: T.Buffer((2, 3), "float32")):
        view = T.decl_buffer((2, 3), "float32", data=A.data, strides=(8, 2), elem_offset=5)
        T.call_packed("test.extern.double", view, B)

    x = numpy.arange(24, dtype="float32")
    expected = numpy.array([[5, 7, 9], [13, 15, 17]], "float32") * 2
    for target in ("llvm", "c"):
        result = tilewright.tensor(numpy.zeros((2, 3), "float32"))
        tilewright.build(main, target=target)(tilewright.tensor(x), result)
        numpy.testing.assert_array_equal(result.numpy(), expected)
    result = numpy.zeros((2, 3), "float32")
    tir.interpret(main, x, result)
    numpy.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_extents_and_offsets_without_sign_are_not_negative(target):
    seen = []
    tilewright.register_func("test.extern.see", lambda x: seen.append(x.numpy().tolist()), override=True)

    @T.prim_func
    def main(A: T.Buffer((403,), "float32"), n: T.uint8):
        T.call_packed(
            "test.extern.see",
            T.tvm_stack_make_array(
                A.data,
                T.tvm_stack_make_shape(n),
                T.tvm_stack_make_shape(n - n + T.uint8(1)),
                1,
                T.float32(0),
                n,
            ),
        )

    x = numpy.arange(403, dtype="float32")
    tilewright.build(main, target=target)(tilewright.tensor(x), 200)
    assert seen == [x[200:400].tolist()]


@pytest.mark.parametrize("primitive", ["cache_read", "cache_write", "read_at", "write_at"])
def test_pointers_move_to_the_copy_of_a_buffer(primitive):
    sch = schedule.Schedule(between())
    if primitive.startswith("cache"):
        getattr(sch, primitive)("D", 0, "global")
    else:
        getattr(sch, primitive)(sch.add_unit_loop("D"), "D", 0, "global")
    func = sch.mod["main"]
    assert f"{'D_global' if 'write' in primitive else 'B_global'}.data" in func.script()
    x, result = numbers(), numpy.zeros(SHAPE, "float32")
    tir.interpret(func, x, result)
    numpy.testing.assert_array_equal(result, (x + 1) * 2 + 1)


def test_a_failing_function_is_the_error_of_the_call():
    def fail(*_):
        raise ValueError("not today")

    tilewright.register_func("test.extern.fail", fail, override=True)
    A = te.placeholder((3,), name="A")
    B = te.extern((3,), [A], lambda ins, outs: tir.call_packed("test.extern.fail", ins[0], outs[0]), name="B")
    func = tilewright.build(te.create_prim_func([A, B]))
    with pytest.raises(ValueError, match="not today"):
        func(*(tilewright.tensor(numpy.zeros(3, "float32")) for _ in range(2)))


def test_memory_that_calls_read_is_not_given_away_before():
    """The calls read views of the buffers between them, which no statement declares."""
    A = te.placeholder(SHAPE, name="A")
    first = plus_one(A, "B")
    third = doubled(doubled(doubled(first, "C"), "D"), "E")
    last = te.compute(SHAPE, lambda i, j: third[i, j] - doubled(first, "F")[i, j], name="G")
    x, result = numbers(), tilewright.empty(SHAPE)
    tilewright.build(te.create_prim_func([A, last]))["main"](tilewright.tensor(x), result)
    numpy.testing.assert_allclose(result.numpy(), 6 * (x + 1), rtol=1e-5)
