"""Names of schedules, each with one program: tvm.lower, and tvm.build for this machine, and for OpenCL where PoCL runs it."""

import numpy as np
import pytest
import tvm
from tvm import te, topi

import tilewright

DATA = np.random.default_rng(0).standard_normal((3, 4, 7, 5), dtype="float32")
KERNEL = np.random.default_rng(1).standard_normal((6, 4, 3, 2), dtype="float32")


def add():
    x = te.placeholder(DATA.shape, name="x")
    return [x], topi.add(topi.nn.relu(x), 1.0)


def softmax():
    x = te.placeholder((5, 127), name="x")
    return [x], topi.nn.softmax(x)


def total():
    x = te.placeholder(DATA.shape, name="x")
    return [x], topi.sum(topi.multiply(x, x), axis=(1, -1))


def conv():
    x, w = te.placeholder(DATA.shape, name="x"), te.placeholder(KERNEL.shape, name="w")
    return [x, w], topi.nn.conv2d_nchw(x, w, 1, 1, 1)


def dense():
    x, w = te.placeholder((5, 7), name="x"), te.placeholder((3, 7), name="w")
    return [x, w], topi.nn.relu(topi.nn.dense(x, w))


def pool():
    x = te.placeholder(DATA.shape, name="x")
    return [x], topi.nn.pool(x, 2, 2, 0, "max")


def rows_in_order():
    x = te.placeholder((5, 7), name="x")
    return [x], topi.sort(x)


PROGRAMS = {
    "softmax": softmax,
    "reduce": total,
    "conv2d_nchw": conv,
    "dense": dense,
    "pool": pool,
    "sort": rows_in_order,
}
ON_THE_HOST = ("sort", "argsort", "topk", "unique", "nms", "non_max_suppression", "get_valid_counts")


def program_of(name: str):
    """(inputs, output) of the program that a schedule is tried with: that of its name, or what each of them can take."""
    return PROGRAMS.get(name.removeprefix("schedule_"), add)()


def names_of(module) -> list[str]:
    return sorted(
        name for name in vars(module) if name.startswith("schedule_") and not name.endswith("existing")
    )


def ran(function, inputs, output, device):
    rng = np.random.default_rng(2)
    arrays = [rng.standard_normal([int(e) for e in each.shape], dtype="float32") for each in inputs]
    result = tvm.nd.array(np.zeros([int(e) for e in output.shape], output.dtype), device)
    function(*[tvm.nd.array(each, device) for each in arrays], result)
    return arrays, result.numpy()


def expected(name: str, arrays):
    """The numbers of the same program without a schedule."""
    inputs, output = program_of(name)
    built = tvm.build(te.create_schedule(output.op), [*inputs, output], "llvm")
    result = tvm.nd.array(np.zeros([int(e) for e in output.shape], output.dtype))
    built(*[tvm.nd.array(each) for each in arrays], result)
    return result.numpy()


@pytest.mark.parametrize("name", names_of(topi.generic))
def test_schedule(name):
    inputs, output = program_of(name)
    with tvm.target.Target("llvm"):
        s = getattr(topi.generic, name)([output])
    assert "main" in str(tvm.lower(s, [*inputs, output], simple_mode=True))
    arrays, result = ran(tvm.build(s, [*inputs, output], "llvm"), inputs, output, tvm.cpu())
    np.testing.assert_allclose(result, expected(name, arrays), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("module", ["x86", "arm_cpu"])
def test_schedules_of_processors(module):
    own = getattr(topi, module)
    assert names_of(own) == names_of(topi.generic)
    inputs, output = add()
    s = own.schedule_injective(output)
    assert "T.parallel" in str(tvm.lower(s, [*inputs, output]))


def test_elements_are_computed_where_they_are_read():
    inputs, output = total()
    s = topi.generic.schedule_reduce(output)
    assert [stage.op.name for stage in s.stages if stage.attach_type == 2] == ["T_multiply"]


def everything():
    x = te.placeholder(DATA.shape, name="x")
    return [x], topi.sum(x)


def rows_of_open_extent():
    x = te.placeholder((te.var("n"), 7, 5), name="x")
    return [x], topi.sum(x, axis=2)


def columns_of_open_extent():
    x = te.placeholder((5, te.var("n"), 7), name="x")
    return [x], topi.max(x, axis=2)


ON_GPUS = {
    "injective": add,
    "softmax": softmax,
    "reduce": total,
    "conv2d_nchw": conv,
    "dense": dense,
    "pool": pool,
    "everything": everything,
    "rows": rows_of_open_extent,
    "columns": columns_of_open_extent,
}


def bound(name: str):
    """The inputs, the output and the schedule for threads of a GPU."""
    inputs, output = ON_GPUS[name]()
    schedule = getattr(topi.cuda, f"schedule_{name}", topi.cuda.schedule_reduce)
    return inputs, output, schedule([output])


@pytest.mark.parametrize("name", ON_GPUS)
def test_schedules_of_gpus_give_kernels(name):
    inputs, output, s = bound(name)
    assert "Idx.x" in str(tvm.lower(s, [*inputs, output]))
    assert "__global__" in tvm.build(s, [*inputs, output], "cuda").imports[0].inspect_source()


@pytest.mark.skipif(not tvm.opencl(0).exist, reason="there is no device of OpenCL here")
@pytest.mark.parametrize("name", ON_GPUS)
def test_schedules_of_gpus_run(name):
    inputs, output, s = bound(name)
    n = 9
    rng = np.random.default_rng(2)
    arrays = [rng.standard_normal(extents(each, n), dtype="float32") for each in inputs]
    results = []
    for function, device in (
        (tvm.build(s, [*inputs, output], "opencl"), tvm.opencl(0)),
        (tvm.build(te.create_schedule(output.op), [*inputs, output], "llvm"), tvm.cpu()),
    ):
        result = tvm.nd.array(np.zeros(extents(output, n), "float32"), device)
        function(*[tvm.nd.array(each, device) for each in arrays], result)
        results.append(result.numpy())
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)


def extents(tensor, n: int) -> list[int]:
    return [getattr(each, "value", n) for each in tensor.shape]


def test_the_target_chooses():
    inputs, output = add()
    with tvm.target.Target("cuda"):
        s = topi.generic.schedule_injective(output)
    assert "threadIdx.x" in str(tvm.lower(s, [*inputs, output]))


def test_what_a_gpu_does_not_call():
    _, output = rows_in_order()
    with pytest.raises(tilewright.Unsupported) as caught:
        topi.cuda.schedule_sort(output)
    text = 'T_sort is computed by a function of the host, which a GPU does not call\nhelp: schedule and build it for "llvm"'
    assert str(caught.value) == text


def test_a_schedule_takes_tensors():
    with pytest.raises(TypeError) as caught:
        topi.generic.schedule_pool("NCHW")
    assert str(caught.value) == "schedule_pool() takes the tensors to schedule, one or a list"


def test_the_layout_of_a_pool_changes_nothing():
    _, output = pool()
    assert len(topi.generic.schedule_pool([output], "NCHW").stages) == 2


def test_a_tensor_of_a_schedule_that_exists():
    inputs, output = add()
    s = te.create_schedule(output.op)
    assert topi.cuda.schedule_injective_from_existing(s, output) is s
    assert "blockIdx.x" in str(tvm.lower(s, [*inputs, output]))


@pytest.mark.parametrize("is_inlined", [False, True])
def test_default_schedule(is_inlined):
    _, output = total()
    s = topi.generic.default_schedule([output], is_inlined)
    assert sum(stage.attach_type == 2 for stage in s.stages) == is_inlined
