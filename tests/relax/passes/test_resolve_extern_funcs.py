"""resolve_extern_funcs: functions of the registry are called by their own names."""

from extern_testing import TENSOR, Module

from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import relax as R


def test_resolve_extern_funcs_puts_the_names_into_the_calls():
    @I.ir_module
    class After:
        @R.function(pure=False)
        def main(x: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
            y = R.call_packed("tests.extern.doubled", x, sinfo_args=R.Tensor((5,), "float32"))
            z = R.ExternFunc("tests.extern.doubled", R.Callable((TENSOR,), TENSOR, True))(y)
            with R.dataflow():
                w = R.call_dps_packed("tests.extern.copied", (z,), out_sinfo=R.Tensor((5,), "float32"))
                gv = R.exp(w)
                R.output(gv)
            return gv

    assert_structural_equal(relax.transform.resolve_extern_funcs()(Module), After)
    assert relax.transform.resolve_extern_funcs()(After)["main"].same_as(After["main"])
