"""alias_slices: parts of concats are written where they belong, parts of tensors are read where they lie."""

import random as rng
import re

import numpy as np
import pytest
from graph_testing import FUSION, random

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform


def main_of(body, params, dims=()):
    lines = "".join(f"            {line}\n" for line in body.strip().splitlines())
    declared = "".join(f"        {dim} = T.int64()\n" for dim in dims)
    return tilewright.script.parse(
        f"@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n{declared}"
        f"        with R.dataflow():\n{lines}            R.output(out)\n        return out\n"
    )


def tensor(name, *shape):
    return f'{name}: R.Tensor({tuple(shape)}, "float32")'


def in_programs(module):
    for name in FUSION:
        module = getattr(transform, name)()(module)
    return module


def placed(module):
    return transform.dead_code_elimination()(transform.alias_slices()(module))


def calls(module):
    """Of each call of a loop program: what is called, with which numbers."""
    text = re.sub(r"\s+", " ", module.script())
    found = re.findall(r"cls\.(\w+),((?:(?!cls\.|R\.output).)*)", text)
    numbers = [re.search(r"tir_vars=R\.shape\(\[(.*?)\]\)", rest) for _, rest in found]
    return [f"{name}@{n.group(1)}" if n else name for (name, _), n in zip(found, numbers, strict=True)]


def run(module, *inputs, **context):
    with tilewright.transform.PassContext(**context):
        vm = tilewright.VirtualMachine(tilewright.compile(module))
    result = vm["main"](*(tilewright.tensor(x) for x in inputs))
    return [item.numpy() for item in result] if isinstance(result, (list, tuple)) else [result.numpy()]


def check(module, want_calls, *inputs):
    """The pass leaves these calls and a module that prints and parses; all levels give the numbers of level 0."""
    before = in_programs(module)
    after = placed(before)
    assert calls(after) == want_calls
    assert transform.alias_slices()(after) is after
    assert tilewright.relax.analysis.well_formed(after)
    assert_structural_equal(tilewright.script.parse(after.script()), after)
    want = run(module, *inputs, opt_level=0)
    for level in (2, 3):
        for got, expected in zip(run(module, *inputs, opt_level=level), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    for level in (0, 2):
        for got, expected in zip(run(after, *inputs, opt_level=level), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    return want


# ---------------------------------------------------------------- before and after as programs

BEFORE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((5, 7), "float32"))
            b = R.call_tir(cls.double, (y,), out_sinfo=R.Tensor((5, 3), "float32"))
            out = R.call_tir(cls.concat, (a, b), out_sinfo=R.Tensor((5, 10), "float32"))
            R.output(out)
        return out

    @T.prim_func(private=True)
    def exp(x: T.Buffer((5, 7), "float32"), y: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj])

    @T.prim_func(private=True)
    def double(x: T.Buffer((5, 3), "float32"), y: T.Buffer((5, 3), "float32")):
        for i, j in T.grid(5, 3):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(2)

    @T.prim_func(private=True)
    def concat(a: T.Buffer((5, 7), "float32"), b: T.Buffer((5, 3), "float32"), c: T.Buffer((5, 10), "float32")):
        for i, j in T.grid(5, 10):
            with T.block("concat"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = T.if_then_else(vj < 7, a[vi, vj], b[vi, vj - 7])
"""
AFTER = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(
                cls.exp_in_10, (x,), out_sinfo=R.Tensor((5, 10), "float32"), tir_vars=R.shape([0])
            )
            out = R.call_tir_inplace(
                cls.double_in_10, (y, a), inplace_indices=[1], out_sinfo=R.Tensor((5, 10), "float32"),
                tir_vars=R.shape([7]),
            )
            R.output(out)
        return out

    @T.prim_func(private=True)
    def exp_in_10(x: T.Buffer((5, 7), "float32"), whole: T.Buffer((5, 10), "float32"), begin: T.int64):
        T.func_attr({"views_are_inside": True})
        with T.block("root"):
            T.reads()
            T.writes()
            y = T.match_buffer(whole[0:5, T.Cast("int32", begin):T.Cast("int32", begin) + 7], (5, 7), strides=(10, 1))
            for i, j in T.grid(5, 7):
                with T.block("exp"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    y[vi, vj] = T.exp(x[vi, vj])

    @T.prim_func(private=True)
    def double_in_10(x: T.Buffer((5, 3), "float32"), whole: T.Buffer((5, 10), "float32"), begin: T.int64):
        T.func_attr({"views_are_inside": True})
        with T.block("root"):
            T.reads()
            T.writes()
            y = T.match_buffer(whole[0:5, T.Cast("int32", begin):T.Cast("int32", begin) + 3], (5, 3), strides=(10, 1))
            for i, j in T.grid(5, 3):
                with T.block("double"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    y[vi, vj] = x[vi, vj] * T.float32(2)
"""


def test_parts_are_written_where_they_belong():
    before, after = tilewright.script.parse(BEFORE), tilewright.script.parse(AFTER)
    result = placed(before)
    assert_structural_equal(result, after)
    assert transform.alias_slices()(result) is result
    x, y = random(5, 7), random(5, 3)
    want = np.concatenate([np.exp(x), y * 2], axis=1)
    for module in (before, result):
        for level in (0, 2):
            np.testing.assert_allclose(run(module, x, y, opt_level=level)[0], want, rtol=1e-6)


# ---------------------------------------------------------------- concats


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("size", [1, 5, 127])
def test_every_axis_and_odd_extents(axis, size):
    a_shape, b_shape = [5, 7, 3], [5, 7, 3]
    b_shape[axis] = size
    whole = a_shape[axis] + size
    module = main_of(
        f"a = R.nn.softmax(x)\nb = R.nn.softmax(y)\nout = R.concat((a, b), axis={axis})",
        f"{tensor('x', *a_shape)}, {tensor('y', *b_shape)}",
    )
    x, y = random(*a_shape), random(*b_shape)
    second = "softmax" if size == a_shape[axis] else "softmax1"
    want = check(module, [f"softmax_in_{whole}@0", f"{second}_in_{whole}@{a_shape[axis]}"], x, y)
    parts = [np.exp(each) / np.exp(each).sum(axis=2, keepdims=True) for each in (x, y)]
    np.testing.assert_allclose(want[0], np.concatenate(parts, axis=axis), rtol=1e-5)


def test_equal_programs_at_different_places_are_one():
    module = main_of(
        "a = R.nn.softmax(x)\nb = R.nn.softmax(a)\nc = R.nn.softmax(b)\nout = R.concat((a, b, c), axis=1)",
        tensor("x", 5, 7),
    )
    check(module, ["softmax_in_21@0", "softmax_in_21_1@0, 7", "softmax_in_21_1@7, 14"], random(5, 7))


def test_a_concat_of_concats_is_one_tensor():
    module = main_of(
        """
a = R.nn.softmax(x)
b = R.nn.log_softmax(x)
c = R.concat((a, b), axis=1)
d = R.nn.softmax(c)
e = R.nn.softmax(x, axis=0)
f = R.concat((c, e), axis=1)
g = R.nn.softmax(f)
out = (R.concat((d, f), axis=1), g)
""",
        tensor("x", 5, 7),
    )
    want = [
        "softmax_in_35@14",
        "log_softmax_in_35@21",
        "softmax1_in_35@14, 0",
        "softmax2_in_35@28",
        "softmax3_of_35@14",
    ]
    check(module, want, random(5, 7))


def test_a_concat_along_another_axis_is_written_as_a_part():
    module = main_of(
        """
a = R.nn.softmax(x)
b = R.nn.softmax(a)
c = R.concat((a, b), axis=0)
d = R.nn.softmax(y)
e = R.nn.softmax(c)
out = (R.concat((c, d), axis=1), e)
""",
        f"{tensor('x', 5, 7)}, {tensor('y', 10, 3)}",
    )
    want = ["softmax", "softmax", "concat_in_10@0", "softmax1_in_10@7", "softmax2_of_10@0"]
    check(module, want, random(5, 7), random(10, 3))


def test_others_read_a_part_where_it_lies():
    module = main_of(
        """
a = R.nn.softmax(x)
b = R.nn.softmax(a)
c = R.concat((a, b), axis=1)
d = R.nn.softmax(a)
out = (R.nn.softmax(c), d)
""",
        tensor("x", 5, 7),
    )
    want = ["softmax_in_14@0", "softmax_in_14_1@0, 7", "softmax_of_14@0", "softmax1"]
    check(module, want, random(5, 7))


def test_nothing_is_copied_inside_of_one_tensor():
    module = in_programs(main_of("a = R.nn.softmax(x)\nout = R.concat((a, a), axis=1)", tensor("x", 5, 7)))
    assert transform.alias_slices()(module) is module


def test_a_part_of_two_concats_is_copied_to_the_other():
    module = main_of(
        """
a = R.nn.softmax(x)
b = R.nn.softmax(a)
c = R.nn.softmax(b)
out = (R.concat((a, b), axis=1), R.concat((a, c), axis=1))
""",
        tensor("x", 5, 7),
    )
    want = ["softmax_in_14@0", "softmax_in_14_1@0, 7", "softmax_in_14_1@7, 7", "copy_in_14@0, 0"]
    check(module, want, random(5, 7))


def test_a_part_that_is_returned_stays():
    module = main_of(
        "a = R.nn.softmax(x)\nb = R.nn.softmax(a)\nc = R.nn.softmax(b)\nd = R.concat((a, b, c), axis=1)\nout = (a, d)",
        tensor("x", 5, 7),
    )
    check(module, ["softmax", "softmax_in_21@7", "softmax_in_21_1@7, 14", "copy_in_21@0"], random(5, 7))


def test_a_parameter_is_copied_to_its_place():
    module = main_of("a = R.nn.softmax(x)\nout = R.concat((x, a), axis=1)", tensor("x", 5, 7))
    check(module, ["softmax_in_14@7", "copy_in_14@0"], random(5, 7))


def test_nothing_is_gained_if_more_is_copied_than_placed():
    module = in_programs(
        main_of(
            "a = R.nn.softmax(x)\nout = R.concat((y, a), axis=1)", f"{tensor('x', 5, 3)}, {tensor('y', 5, 7)}"
        )
    )
    assert transform.alias_slices()(module) is module


def test_parameters_alone_stay_a_concat():
    module = in_programs(main_of("out = R.concat((x, x), axis=1)", tensor("x", 5, 7)))
    assert transform.alias_slices()(module) is module


def test_a_concat_with_more_work_stays():
    module = in_programs(
        main_of("a = R.nn.softmax(x)\nb = R.concat((a, a), axis=1)\nout = R.exp(b)", tensor("x", 5, 7))
    )
    assert transform.alias_slices()(module) is module


def test_what_constants_alone_give_is_not_written_in_place():
    module = main_of(
        """
a = R.nn.softmax(R.const([[1, 1, 1, 1]], "float32"))
b = R.nn.softmax(x)
c = R.nn.softmax(b)
out = R.concat((a, b, c), axis=0)
""",
        tensor("x", 5, 4),
    )
    want = ["softmax", "softmax1_in_11@1", "softmax1_in_11_1@1, 6", "copy_in_11@0"]
    check(module, want, random(5, 4))


def test_functions_that_write_into_arguments_are_left_alone():
    after = tilewright.script.parse(AFTER)
    assert transform.alias_slices()(after) is after


def test_registered_functions_read_no_parts():
    module = main_of(
        'a = R.nn.softmax(x)\nb = R.nn.softmax(a)\nc = R.call_pure_packed("f", a, sinfo_args=R.Tensor((5, 7), "float32"))\n'
        "d = R.concat((a, b), axis=1)\nout = (c, d)",
        tensor("x", 5, 7),
    )
    assert calls(placed(in_programs(module))) == ["softmax", "softmax_in_14@7", "copy_in_14@0"]


@pytest.mark.parametrize("axis", [1, 2])
def test_a_symbolic_batch(axis):
    module = main_of(
        f"a = R.nn.softmax(x)\nb = R.nn.softmax(a)\nc = R.concat((a, b), axis={axis})\nout = R.nn.softmax(c)",
        'x: R.Tensor(("n", 5, 7), "float32")',
        dims=["n"],
    )
    width = 10 if axis == 1 else 14
    check(
        module,
        [f"softmax_in_{width}@0", f"softmax_in_{width}_1@0, {width // 2}", "softmax1"],
        random(3, 5, 7),
    )


def test_numbers_of_a_program_come_before_its_places():
    module = tilewright.script.parse(
        BEFORE.replace("(x,), out_sinfo", "(x,), tir_vars=R.shape([3]), out_sinfo")
        .replace('y: T.Buffer((5, 7), "float32")):', 'y: T.Buffer((5, 7), "float32"), k: T.int64):')
        .replace("T.exp(x[vi, vj])", 'x[vi, vj] * T.Cast("float32", k)')
    )
    result = placed(module)
    assert calls(result) == ["exp_in_10@3, 0", "double_in_10@7"]
    x, y = random(5, 7), random(5, 3)
    for level in (0, 2):
        got = run(result, x, y, opt_level=level)[0]
        np.testing.assert_allclose(got, np.concatenate([x * 3, y * 2], axis=1), rtol=1e-6)


def test_a_symbolic_axis_stays():
    module = in_programs(
        main_of(
            "a = R.nn.softmax(x)\nb = R.nn.softmax(a)\nout = R.concat((a, b), axis=0)",
            'x: R.Tensor(("n", 7), "float32")',
            dims=["n"],
        )
    )
    assert transform.alias_slices()(module) is module


# ---------------------------------------------------------------- slices


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_split_parts_are_read_where_they_lie(axis):
    module = main_of(
        f"s = R.split(x, [2, 5], axis={axis})\na = R.nn.softmax(s[0])\nb = R.nn.softmax(s[1])\nout = (a, b)",
        tensor("x", 7, 11, 13),
    )
    x = random(7, 11, 13)
    whole = x.shape[axis]
    check(module, [f"softmax_of_{whole}@0", f"softmax1_of_{whole}@2"], x)


def test_a_split_whose_part_is_returned_stays():
    module = in_programs(
        main_of("s = R.split(x, [2], axis=1)\na = R.nn.softmax(s[0])\nout = (a, s[1])", tensor("x", 5, 7))
    )
    assert transform.alias_slices()(module) is module


def test_a_slice_of_a_slice():
    module = main_of(
        "a = R.strided_slice(x, [1], [2], [9])\nb = R.strided_slice(a, [1], [1], [6])\nc = R.nn.softmax(a)\nout = (R.nn.softmax(b), c)",
        tensor("x", 5, 11),
    )
    check(module, ["softmax_of_11@2", "softmax1_of_11@3"], random(5, 11))


def test_a_strided_slice_stays():
    module = in_programs(
        main_of("a = R.strided_slice(x, [1], [0], [9], [2])\nout = R.nn.softmax(a)", tensor("x", 5, 11))
    )
    assert not any("_of_" in name for name in calls(placed(module)))


def test_a_shuffle_of_halves():
    module = main_of(
        "s = R.split(x, 2, axis=1)\na = R.nn.softmax(s[0])\nout = R.concat((s[1], a), axis=1)",
        tensor("x", 5, 14),
    )
    check(module, ["softmax_in_14@0, 7", "copy_in_14@7, 0"], random(5, 14))


# ---------------------------------------------------------------- convolutions, threads, targets

INCEPTION = """
t = R.nn.relu(R.nn.conv2d(x, w0, padding=[1, 1], data_layout="NHWC", kernel_layout="HWIO"))
a = R.nn.relu(R.nn.conv2d(t, w1, data_layout="NHWC", kernel_layout="HWIO"))
b = R.nn.relu(R.nn.conv2d(t, w2, padding=[1, 1], data_layout="NHWC", kernel_layout="HWIO"))
p = R.nn.max_pool2d(t, pool_size=[3, 3], padding=[1, 1], layout="NHWC")
c = R.concat((a, b, p), axis=3)
d = R.nn.conv2d(c, w3, data_layout="NHWC", kernel_layout="HWIO")
e = R.concat((c, d), axis=3)
out = R.nn.conv2d(e, w4, data_layout="NHWC", kernel_layout="HWIO")
"""
SHAPES = {
    "x": (1, 13, 11, 7),
    "w0": (3, 3, 7, 24),
    "w1": (1, 1, 24, 17),
    "w2": (3, 3, 24, 40),
    "w3": (1, 1, 81, 16),
    "w4": (1, 1, 97, 5),
}


def inception():
    module = main_of(INCEPTION, ", ".join(tensor(name, *shape) for name, shape in SHAPES.items()))
    weights = {name: tilewright.tensor(random(*shape) / 9) for name, shape in SHAPES.items() if name != "x"}
    return transform.BindParams("main", weights)(module)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_convolutions_and_pools(level, threads):
    x = random(*SHAPES["x"])
    want = run(inception(), x, opt_level=0)[0]
    with tilewright.transform.PassContext(opt_level=level):
        executable = tilewright.compile(inception(), target=f"llvm -num-cores={threads}")
    got = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_the_default_pipeline_places_parts():
    executable = tilewright.compile(inception())
    profile = tilewright.VirtualMachine(executable).profile("main", random(*SHAPES["x"]))
    names = [row.name for row in profile.calls]
    assert not any(name.startswith(("concat", "copy")) for name in names)
    assert sum("_in_97" in name for name in names) == 4


def test_target_c():
    x = random(*SHAPES["x"])
    want = run(inception(), x, opt_level=0)[0]
    vm = tilewright.VirtualMachine(tilewright.compile(inception(), target="c"))
    np.testing.assert_allclose(vm["main"](tilewright.tensor(x)).numpy(), want, rtol=1e-4, atol=1e-5)


VIEW = """
@T.prim_func
def main(x: T.Buffer((5, 48), "float32"), whole: T.Buffer({whole}, "float32"), begin: T.int64):
    with T.block("root"):
        y = T.match_buffer(whole[{region}], (5, 48), "float32"{strides})
        for i, j in T.grid(5, 48):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(2)
"""


def test_rules_make_one_loop_of_a_compact_part():
    func = tilewright.script.parse(
        VIEW.format(whole="(20, 48)", region="begin:begin + T.int64(5), 0:48", strides="")
    )
    assert "fuse" in str(tilewright.schedule.by_rules(func, "llvm -num-cores=1").trace)


def test_rules_keep_rows_of_a_part_apart():
    func = tilewright.script.parse(
        VIEW.format(whole="(5, 127)", region="0:5, begin:begin + T.int64(48)", strides=", strides=[127, 1]")
    )
    sch = tilewright.schedule.by_rules(func, "llvm -num-cores=1")
    assert "fuse" not in str(sch.trace) and "vectorize" in str(sch.trace)
    x, whole = random(5, 48), np.zeros((5, 127), "float32")
    given = tilewright.tensor(whole)
    tilewright.compile(sch.mod)["main"](tilewright.tensor(x), given, 67)
    whole[:, 67:115] = x * 2
    np.testing.assert_array_equal(given.numpy(), whole)


# ---------------------------------------------------------------- random graphs


class Graph:
    """Elementwise work, softmax, concats and splits of tensors [3, *, 5]."""

    def __init__(self, seed):
        self.rng = rng.Random(seed)
        self.lines = []
        self.widths = {"x": self.rng.choice([2, 3, 8]), "y": self.rng.choice([1, 4, 7])}
        self.inputs = dict(self.widths)
        for n in range(self.rng.randint(4, 12)):
            self.step(f"v{n}")
        names = [name for name in self.widths if name not in self.inputs]
        results = self.rng.sample(names, min(len(names), self.rng.randint(1, 3)))
        self.lines.append(f"out = ({', '.join(results)},)")

    def emit(self, name, value, width):
        self.lines.append(f"{name} = {value}")
        self.widths[name] = width

    def step(self, name):
        pick = lambda: self.rng.choice(list(self.widths)[-5:])  # noqa: E731
        kind = self.rng.choice(
            ["unary", "unary", "softmax", "softmax", "concat", "concat", "split", "slice", "add"]
        )
        a = pick()
        width = self.widths[a]
        if kind == "unary":
            self.emit(name, f"R.{self.rng.choice(['tanh', 'negative'])}({a})", width)
        elif kind == "softmax":
            self.emit(name, f"R.nn.softmax({a}, axis={self.rng.choice([0, 1, 2])})", width)
        elif kind == "concat":
            parts = [pick() for _ in range(self.rng.randint(2, 4))]
            self.emit(name, f"R.concat(({', '.join(parts)}), axis=1)", sum(self.widths[p] for p in parts))
        elif kind == "split" and width > 1:
            at = self.rng.randint(1, width - 1)
            self.lines.append(f"{name}_s = R.split({a}, [{at}], axis=1)")
            self.emit(f"{name}_0", f"{name}_s[0]", at)
            self.emit(f"{name}_1", f"{name}_s[1]", width - at)
        elif kind == "slice" and width > 1:
            at = self.rng.randint(1, width - 1)
            self.emit(name, f"R.strided_slice({a}, [1], [{at}], [{width}])", width - at)
        else:
            self.emit(
                name, f"R.add({a}, {a})" if self.rng.random() < 0.3 else f"R.nn.softmax(R.tanh({a}))", width
            )

    def module(self):
        return main_of("\n".join(self.lines), ", ".join(tensor(n, 3, w, 5) for n, w in self.inputs.items()))


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs_give_the_numbers_of_level_0(seed):
    graph = Graph(seed)
    module = graph.module()
    inputs = [random(3, width, 5) for width in graph.inputs.values()]
    want = run(module, *inputs, opt_level=0)
    for level in (2, 3):
        for got, expected in zip(run(module, *inputs, opt_level=level), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg="\n".join(graph.lines))
    after = placed(in_programs(module))
    assert tilewright.relax.analysis.well_formed(after)
    assert_structural_equal(tilewright.script.parse(after.script()), after)
    for got, expected in zip(run(after, *inputs, opt_level=0), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg="\n".join(graph.lines))


def test_parts_whose_dimension_is_said_later_are_left_alone():
    """The whole could not be said where the first part is made."""
    script = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def concat(a: T.handle, b: T.handle, c: T.handle):
        k = T.int64()
        A = T.match_buffer(a, (k, 5))
        B = T.match_buffer(b, (k, 3))
        C = T.match_buffer(c, (k, 8))
        for i, j in T.grid(k, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.if_then_else(vj < 5, A[vi, vj], B[vi, vj - 5])
    @R.function
    def main(x: R.Tensor(("n", 5), "float32"), y: R.Tensor((7, 3), "float32")):
        m = T.int64()
        cls = M
        with R.dataflow():
            a = R.nn.softmax(x)
            z = R.match_cast(y, R.Tensor((m, 3), "float32"))
            b = R.nn.softmax(z)
            c = R.call_tir(cls.concat, (a, b), out_sinfo=R.Tensor((m, 8), "float32"))
            R.output(c)
        return c
"""
    x, y = np.ones((7, 5), "float32"), np.ones((7, 3), "float32")
    executable = tilewright.compile(tilewright.script.parse(script))
    result = tilewright.VirtualMachine(executable)["main"](x, y).numpy()
    np.testing.assert_allclose(result[:, [0, 5]], [[1 / 5, 1 / 3]] * 7, rtol=1e-6)
