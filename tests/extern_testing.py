"""A module with names of its own for functions of the registry."""

from tilewright.script import ir as I
from tilewright.script import relax as R

TENSOR = R.Tensor((5,), "float32")


@I.ir_module
class Module:
    ext = R.ExternFunc("tests.extern.doubled")
    typed = R.ExternFunc("tests.extern.doubled", R.Callable((TENSOR,), TENSOR, True))
    copy = R.ExternFunc("tests.extern.copied")

    @R.function(pure=False)
    def main(x: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        cls = Module
        y = cls.ext(x, sinfo_args=R.Tensor((5,), "float32"))
        z = cls.typed(y)
        with R.dataflow():
            w = R.call_dps_packed(cls.copy, (z,), out_sinfo=R.Tensor((5,), "float32"))
            gv = R.exp(w)
            R.output(gv)
        return gv
