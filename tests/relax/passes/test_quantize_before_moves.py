"""quantize_before_moves: what only moves elements moves bytes, and gives the bits it gave."""

import numpy as np
import pytest
from graph_testing import operators, run

import tilewright
from tilewright.relax import transform
from tilewright.script import parse

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({shape}, "float32"), y: R.Tensor({shape}, "float32")):
        with R.dataflow():
            {body}
            R.output(result)
        return result
"""
QUANTIZE = 'result = R.quantize(m, R.const(0.04, "float32"), R.const(11, "uint8"), out_dtype="uint8")'


def program(body, shape=(2, 4, 6, 6)):
    lines = [*(line.strip() for line in body.strip().splitlines()), QUANTIZE]
    return parse(PROGRAM.format(shape=shape, body="\n            ".join(lines)))


def moved(module):
    return transform.dead_code_elimination()(transform.quantize_before_moves()(module))


def inputs(*shape):
    random = np.random.default_rng(3)
    return [random.uniform(-6, 12, shape).astype("float32") for _ in range(2)]


MOVES = {
    "concat": ("m = R.concat((x, y), axis=1)", ["R.quantize", "R.quantize", "R.concat"]),
    "permute_dims": ("m = R.permute_dims(x, axes=[0, 2, 3, 1])", ["R.quantize", "R.permute_dims"]),
    "pad": (
        "m = R.nn.pad(x, pad_width=[0, 0, 0, 0, 1, 2, 0, 1])",
        ["R.quantize", "R.nn.pad"],
    ),
    "max_pool": (
        "m = R.nn.max_pool2d(x, pool_size=(3, 3), strides=2, padding=1)",
        ["R.quantize", "R.nn.max_pool2d"],
    ),
    "several": (
        "a = R.concat((x, R.exp(y)), axis=0)\nm = R.reshape(a, R.shape([4, 144]))",
        ["R.quantize", "R.exp", "R.quantize", "R.concat", "R.reshape"],
    ),
    "resize": (
        'm = R.image.resize2d(x, R.shape([12, 9]), method="nearest_neighbor", out_dtype="float32")',
        ["R.quantize", "R.image.resize2d"],
    ),
}


@pytest.mark.parametrize("kind", MOVES)
def test_moves_bytes(kind):
    body, expected = MOVES[kind]
    module = program(body)
    changed = moved(module)
    assert sorted(operators(changed)) == sorted(expected)
    assert operators(changed)[-1] == expected[-1]
    assert transform.quantize_before_moves()(changed) is changed
    x, y = inputs(2, 4, 6, 6)
    for level in (0, 2):
        np.testing.assert_array_equal(run(changed, x, y, opt_level=level), run(module, x, y))


def test_open_extents():
    text = PROGRAM.format(
        shape='("n", 5, 7)', body=f"m = R.permute_dims(x, axes=[2, 1, 0])\n            {QUANTIZE}"
    )
    module = parse(text.replace("with R.dataflow", "n = T.int64()\n        with R.dataflow"))
    changed = moved(module)
    assert operators(changed) == ["R.quantize", "R.permute_dims"]
    for rows in (0, 1, 127):
        x, y = inputs(rows, 5, 7)
        np.testing.assert_array_equal(run(changed, x, y, opt_level=2), run(module, x, y))


LEFT = {
    "a slice": "m = R.strided_slice(x, axes=[0], begin=[0], end=[1])",
    "padding that is no zero": "m = R.nn.pad(x, pad_width=[0, 0, 0, 0, 1, 2, 0, 1], pad_value=0.5)",
    "interpolation": "m = R.image.resize2d(x, R.shape([12, 9]))",
    "no move": "m = R.add(x, y)",
}


@pytest.mark.parametrize("reason", LEFT)
def test_leaves(reason):
    module = program(LEFT[reason])
    assert transform.quantize_before_moves()(module) is module


def test_leaves_a_move_with_another_use():
    body = f"""
        m = R.permute_dims(x)
        {QUANTIZE.replace("result", "q")}
        result = (m, q)
    """
    text = PROGRAM.format(
        shape=(2, 4, 6, 6), body="\n            ".join(line.strip() for line in body.strip().splitlines())
    )
    module = parse(text)
    assert transform.quantize_before_moves()(module) is module


def test_leaves_scales_by_channel():
    module = program("m = R.permute_dims(x, axes=[0, 2, 3, 1])")
    script = module.script().replace(
        'R.const(0.04, "float32")', 'R.const([0.5, 0.25, 0.5, 0.125], "float32")'
    )
    by_channel = parse(script)
    assert transform.quantize_before_moves()(by_channel) is by_channel


def test_is_part_of_the_pipeline():
    module = program("m = R.concat((R.exp(x), R.exp(y)), axis=1)")
    executable = tilewright.compile(module)
    results = [line for line in executable.legalized.script().splitlines() if "R.call_tir(" in line]
    assert results and not any("float32" in line for line in results)
