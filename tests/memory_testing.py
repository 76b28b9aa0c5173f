"""Shared by the tests of lowered graphs: loop programs, modules of them, how they run."""

import re

from graph_testing import random

import tilewright


def parse(text):
    return tilewright.script.parse(text)


def compiled(mod, **context):
    """The executable of a module whose loop programs are not fused."""
    with tilewright.transform.PassContext(opt_level=0, **context):
        return tilewright.compile(mod)


def run(mod, *inputs):
    """Calls main with these arrays; returns an array, or a list of them."""
    result = tilewright.VirtualMachine(compiled(mod))["main"](*(tilewright.tensor(x) for x in inputs))
    return [item.numpy() for item in result] if isinstance(result, (list, tuple)) else result.numpy()


def main_text(mod):
    """The script of main with every binding in one line."""
    return re.sub(r"\s+", " ", mod["main"].script()).replace("( ", "(").replace(" )", ")")


EXP = """
    @T.prim_func
    def exp(x: T.Buffer((5, 7), "float32"), y: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj])
"""
# float32[n, 7] -> float32[n, 7]
DOUBLE = """
    @T.prim_func
    def double(x_handle: T.handle, y_handle: T.handle):
        n = T.int64()
        x = T.match_buffer(x_handle, (n, 7), "float32")
        y = T.match_buffer(y_handle, (n, 7), "float32")
        for i, j in T.grid(n, 7):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(2)
"""


def module(body, *programs, params='x: R.Tensor((5, 7), "float32")', dims=()):
    """A module of the loop programs and of main with the lines `body`."""
    indented = "\n".join(" " * 8 + line for line in body.strip().splitlines())
    declared = "".join(f"        {dim} = T.int64()\n" for dim in dims)
    return parse(
        "@I.ir_module\nclass Module:"
        + "".join(programs)
        + f"\n    @R.function(pure=False)\n    def main({params}):\n        cls = Module\n{declared}{indented}\n"
    )


X = random(5, 7)
OUT = 'R.Tensor((5, 7), "float32")'


CHAIN = module(
    f"""
a = R.call_tir(cls.exp, (x,), out_sinfo={OUT})
b = R.call_tir(cls.exp, (a,), out_sinfo={OUT})
c = R.call_tir(cls.exp, (b,), out_sinfo={OUT})
d = R.call_tir(cls.exp, (c,), out_sinfo={OUT})
return d
""",
    EXP,
)
SMALL = X * 0.01 - 2


BOUNDED = """
@I.ir_module
class Module:
{double}
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 7), "float32")):
        n = T.int64()
        R.func_attr({{"tir_var_upper_bound": {bounds}}})
        cls = Module
        a = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n, 7), "float32"))
        b = R.call_tir(cls.double, (a,), out_sinfo=R.Tensor((n, 7), "float32"))
        c = R.call_tir(cls.double, (b,), out_sinfo=R.Tensor((n, 7), "float32"))
        return c
"""


def bounded(bounds):
    return parse(BOUNDED.format(double=DOUBLE, bounds=bounds))


STORAGE = 'R.memory.alloc_storage(R.shape([{}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


def placed(storage, offset, shape="[5, 7]"):
    return f'R.memory.alloc_tensor({storage}, R.prim_value({offset}), R.shape({shape}), R.dtype("float32"))'
