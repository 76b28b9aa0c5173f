"""fuse_attention: chains of products and softmax become one operator, with the same numbers."""

import numpy as np
import pytest
from attention_testing import attention, heads_first, random
from graph_testing import compile_graph, run_graph

import tilewright
from tilewright import relax
from tilewright.relax import transform
from tilewright.script import parse

GRAPH = """
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, 32, 3, 8), "float32"), k: R.Tensor((1, 20, 3, 8), "float32"), v: R.Tensor((1, 20, 3, 5), "float32"), m: R.Tensor((1, 1, 32, 20), "float32")):
        with R.dataflow():
            a = R.permute_dims(q, axes=[0, 2, 1, 3])
            b = R.permute_dims(k, axes=[0, 2, 3, 1])
            c = R.permute_dims(v, axes=[0, 2, 1, 3])
            {scores}
            p = R.nn.softmax(z, axis={axis})
            {mixed}
            R.output(y)
        return y
"""
SCORES = 's = R.matmul(a, b); x = R.divide(s, R.const(2.0, "float32")); z = R.add(x, m)'
MIXED = "o = R.matmul(p, c); y = R.permute_dims(o, axes=[0, 2, 1, 3])"


def graph(scores=SCORES, mixed=MIXED, axis=-1, dtype="float32"):
    def lines(text):
        return "\n            ".join(text.split("; "))

    return parse(GRAPH.format(scores=lines(scores), mixed=lines(mixed), axis=axis).replace("float32", dtype))


FORMS = {
    SCORES: (0.5, True),
    "s = R.matmul(a, b); z = R.add(m, s)": (1.0, True),
    'x = R.multiply(R.const(0.5, "float32"), a); s = R.matmul(x, b); z = R.add(s, m)': (0.5, True),
    'x = R.multiply(a, R.const(0.5, "float32")); w = R.multiply(b, R.const(3.0, "float32")); s = R.matmul(x, w); '
    "r = R.reshape(s, (3, 32, 20)); u = R.reshape(r, (1, 3, 32, 20)); z = R.add(u, m)": (1.5, True),
    'u = R.matmul(a, b); s = R.multiply(u, R.const([[0.5]], "float32")); z = R.multiply(s, R.const(3.0, "float32"))': (
        1.5,
        False,
    ),
}


@pytest.mark.parametrize("scores", FORMS)
def test_pass_changes_and_is_done(scores):
    scale, has_mask = FORMS[scores]
    module = graph(scores)
    changed = transform.FuseAttention()(module)
    operands = "q, k, v, m" if has_mask else "q, k, v"
    mask = ",11st" if has_mask else ""
    assert (
        changed.script().split("R.dataflow():\n")[1]
        == f"""\
            y: R.Tensor((1, 32, 3, 5), dtype="float32") = R.nn.attention_einsum(
                {operands}, causal_mask="", scale={scale}, softcap=0.0, subscripts="1shd,1thd,1the{mask}->1she"
            )
            R.output(y)
        return y
"""
    )
    assert transform.FuseAttention()(changed) is changed
    arrays = [random(*shape) for shape in ((1, 32, 3, 8), (1, 20, 3, 8), (1, 20, 3, 5), (1, 1, 32, 20))]
    query, key, value = map(heads_first, arrays[:3])
    expected = heads_first(attention(query, key, value, arrays[3] if has_mask else 0.0, scale))
    for each in (module, changed):
        main = tilewright.VirtualMachine(tilewright.compile(each))["main"]
        result = main(*map(tilewright.tensor, arrays)).numpy()
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-6)


def test_pass_permutes_constant_masks_once():
    module = transform.BindParams("main", {"m": random(1, 1, 32, 20)})(graph())
    changed = transform.FuseAttention()(module)
    assert 'subscripts="1shd,1thd,1the,11ts->1she"' in changed.script()


def test_pass_takes_dimensions_of_extent_1_and_other_users_of_permutes():
    module = parse("""
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((16, 8), "float32"), k: R.Tensor((20, 8), "float32"), v: R.Tensor((5, 20), "float32")):
        with R.dataflow():
            r = R.reshape(k, (1, 1, 20, 8))
            t = R.permute_dims(r, axes=[0, 1, 3, 2])
            b = R.reshape(t, (8, 20))
            s = R.matmul(q, b)
            z = R.reshape(s, (1, 1, 16, 20))
            p = R.nn.softmax(z, axis=3)
            w = R.reshape(p, (16, 20))
            c = R.permute_dims(v)
            y = R.matmul(w, c)
            R.output(y, b)
        return (y, b)
""")
    text = transform.FuseAttention()(module).script()
    assert (
        'R.nn.attention_einsum(q, k, v, causal_mask="", scale=1.0, softcap=0.0, subscripts="sd,td,et->se")'
        in " ".join(text.split()).replace("( ", "(").replace(" )", ")")
    )
    assert "R.permute_dims(r" in text and "R.nn.softmax" not in text


@pytest.mark.parametrize(
    "changes",
    [
        {"axis": 2},
        {
            "mixed": "o = R.matmul(p, c); w = R.permute_dims(o, axes=[0, 2, 1, 3]); y = (w, p)"
        },  # weights are used
        {"scores": SCORES.replace("z = R.add(x, m)", "n = R.add(x, s); z = R.add(n, m)")},  # and scores
        {"scores": 's = R.matmul(a, b); n = R.add(s, m); z = R.multiply(n, R.const(2.0, "float32"))'},
        {"scores": "s = R.matmul(a, b); z = R.multiply(s, m)"},  # no number
        {"scores": "s = R.matmul(a, b); n = R.add(s, m); z = R.add(n, m)"},
        {
            "scores": "s = R.matmul(a, b); n = R.broadcast_to(m, (1, 3, 32, 20)); z = R.add(s, n)"
        },  # masks of heads
        {"dtype": "float16"},
    ],
)
def test_pass_leaves_others(changes):
    module = graph(**changes)
    assert transform.FuseAttention()(module) is module


def test_limits_are_options():
    module = parse(
        GRAPH.format(scores="z = R.matmul(a, b)", mixed="y = R.matmul(p, c)", axis=-1)
        .replace("32", "21")
        .replace("float21", "float32")
    )
    assert transform.FuseAttention()(module) is module  # 21 of 32 lanes
    assert transform.FuseAttention(min_used_lanes=0.6)(module) is not module
    assert transform.FuseAttention(max_few=21)(module) is not module


@pytest.mark.parametrize("policy", ["bf16", "bf16x3", "bf16x6", "bf16x9"])
def test_policies_leave_the_operator_in_float32(policy):
    arrays = {name: random(1, 32, 3, 8) for name in "qkv"}
    shapes = {name: array.shape for name, array in arrays.items()}
    exact, found = (
        run_graph(compile_graph(relax.op.nn.attention, each, **shapes), *arrays.values())
        for each in ("exact", policy)
    )
    np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("policy", ["bf16", "bf16x3", "bf16x6", "bf16x9"])
def test_policies_leave_attention_in_float32(policy):
    arrays = [random(*shape) for shape in ((1, 32, 3, 8), (1, 20, 3, 8), (1, 20, 3, 5), (1, 1, 32, 20))]
    expected = heads_first(attention(*map(heads_first, arrays[:3]), arrays[3], 0.5))
    executable = tilewright.compile(graph(), precision=policy)
    assert any("attention" in name for name in map(str, executable.schedules))
    result = tilewright.VirtualMachine(executable)["main"](*map(tilewright.tensor, arrays)).numpy()
    np.testing.assert_allclose(result, expected, atol=1e-5)


def test_extents_known_at_run_time():
    module = parse("""
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor(("n", 3, "s", 8), "float32"), k: R.Tensor(("n", 3, 8, "t"), "float32"), v: R.Tensor(("n", 3, "t", 5), "float32")):
        with R.dataflow():
            s = R.matmul(q, k)
            p = R.nn.softmax(s, axis=-1)
            y = R.matmul(p, v)
            R.output(y)
        return y
""")
    for sizes in ({"s": "s", "t": 20}, {"s": 32, "t": "t"}, {"s": "s", "t": "t"}):
        fixed = {name: size for name, size in sizes.items() if size != name}
        known = transform.bind_symbolic_vars(binding_map=fixed)(module) if fixed else module
        executable = tilewright.compile(known)
        assert any("attention" in name for name in map(str, executable.schedules))
        main = tilewright.VirtualMachine(executable)["main"]
        for n, s, t in ((1, 5, 1), (2, 1, 70), (1, 70, 64), (0, 7, 9), (1, 7, 0)):
            s, t = fixed.get("s", s), fixed.get("t", t)
            query, key, value = random(n, 3, s, 8), random(n, 3, 8, t), random(n, 3, t, 5)
            result = main(*map(tilewright.tensor, (query, key, value))).numpy()
            expected = attention(query, key.swapaxes(-1, -2), value) if t else 0
            np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-6)


def test_twelve_layers_against_float64():
    """Each head's scores are masked by a constant; the residual keeps the values near 1."""
    width, heads, length = 64, 4, 64
    mask = np.triu(np.full((length, length), -1e9, "float32"), 1)
    weights = {
        f"w{n}": random(width, width)[:, np.random.default_rng(n).permutation(width)] / 16 for n in range(48)
    }
    params = ", ".join(f'{name}: R.Tensor(({width}, {width}), "float32")' for name in weights)
    lines, last = [], "x"
    for n in range(0, 48, 4):
        for k, letter in enumerate("qkv"):
            lines += [
                f"{letter}{n} = R.reshape(R.matmul({last}, w{n + k}), (1, {length}, {heads}, {width // heads}))"
            ]
            lines += [
                f"{letter}t{n} = R.permute_dims({letter}{n}, axes=[0, 2, {'3, 1' if letter == 'k' else '1, 3'}])"
            ]
        lines += [
            f'z{n} = R.add(R.multiply(R.matmul(qt{n}, kt{n}), R.const(0.25, "float32")), m)',
            f"o{n} = R.permute_dims(R.matmul(R.nn.softmax(z{n}), vt{n}), axes=[0, 2, 1, 3])",
            f"x{n} = R.add({last}, R.matmul(R.reshape(o{n}, ({length}, {width})), w{n + 3}))",
        ]
        last = f"x{n}"
    body = "\n            ".join(lines)
    module = parse(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({length}, {width}), "float32"), m: R.Tensor(({length}, {length}), "float32"), {params}):
        with R.dataflow():
            {body}
            R.output({last})
        return {last}
""")
    executable = tilewright.compile(transform.BindParams("main", weights | {"m": mask})(module))
    assert not any("softmax" in name for name in map(str, executable.schedules))
    x = random(length, width)
    found = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x)).numpy()
    expected = x.astype("float64")
    for n in range(0, 48, 4):
        q, k, v = (
            (expected @ weights[f"w{n + part}"].astype("float64")).reshape(length, heads, -1).swapaxes(0, 1)
            for part in range(3)
        )
        mixed = attention(q, k, v, mask, 0.25).swapaxes(0, 1).reshape(length, width)
        expected = expected + mixed @ weights[f"w{n + 3}"].astype("float64")
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("keys", [2, 7, 512])
def test_values_of_one_column(keys):
    """The sums of weights and of weighted values have as many terms then."""
    query, key, value = random(5, 3), random(3, keys), random(keys, 1)
    module = parse(f"""
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((5, 3), "float32"), k: R.Tensor((3, {keys}), "float32"), v: R.Tensor(({keys}, 1), "float32")):
        with R.dataflow():
            y = R.matmul(R.nn.softmax(R.matmul(q, k), axis=-1), v)
            R.output(y)
        return y
""")
    executable = tilewright.compile(module)
    assert any("attention" in name for name in map(str, executable.schedules))
    result = tilewright.VirtualMachine(executable)["main"](
        *map(tilewright.tensor, (query, key, value))
    ).numpy()
    np.testing.assert_allclose(result, attention(query, key.T, value), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ("R.matmul(R.multiply(q, R.const(1e-30, 'float32')), k)", "scale=1.0"),
        ("R.divide(R.matmul(q, k), R.const(1e-39, 'float32'))", "R.divide("),
    ],
)
def test_factors_that_keep_numbers_finite_stay(scores, kept):
    module = parse(f"""
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((16, 8), "float32"), k: R.Tensor((8, 32), "float32"), v: R.Tensor((32, 8), "float32")):
        with R.dataflow():
            y = R.matmul(R.nn.softmax({scores}, axis=-1), v)
            R.output(y)
        return y
""")
    assert kept in transform.fuse_attention()(module).script()
