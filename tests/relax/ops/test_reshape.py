"""reshape: sizes with negative numbers."""

import tilewright


def test_shapes_with_negative_numbers_print_and_parse():
    builder = tilewright.relax.BlockBuilder()
    x = tilewright.relax.Var("x", tilewright.relax.TensorType((5, 7), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(tilewright.relax.op.reshape(x, (7, -1))))
    module = builder.get()
    assert "R.shape([7, -1])" in module.script()
    tilewright.ir.assert_structural_equal(tilewright.script.parse(module.script()), module)
