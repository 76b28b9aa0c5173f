"""annotate_tir_op_pattern: loop programs say how they fuse."""

from graph_programs import Transposed

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


def test_programs_say_how_they_fuse():
    legal = transform.legalize_ops()(Transposed)
    result = transform.annotate_tir_op_pattern()(legal)
    patterns = {
        var.name_hint: func.attrs["op_pattern"]
        for var, func in result.functions.items()
        if var.name_hint != "main"
    }
    assert patterns == {
        "permute_dims": 2,
        "matmul": 4,
        "permute_dims1": 2,
        "matmul1": 4,
        "permute_dims2": 2,
        "matmul2": 4,
    }
    assert transform.annotate_tir_op_pattern()(result) is result
    softmax = transform.annotate_tir_op_pattern()(transform.legalize_ops()(Softmax))
    assert softmax["softmax"].attrs["op_pattern"] == 8


@I.ir_module
class Softmax:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")):
        with R.dataflow():
            gv = R.nn.softmax(x)
            R.output(gv)
        return gv
