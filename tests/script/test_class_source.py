"""A class is read where it was written, whatever else has its name."""

import linecache

import numpy as np
import pytest

import tilewright
from tilewright.script import ir as I
from tilewright.script import tir as T


@I.ir_module
class Same:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 1.0


first = Same


@I.ir_module(
    check_well_formed=True,
)
class Same:  # noqa: F811
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 2.0


def either(is_first):
    if is_first:

        @I.ir_module
        class Chosen:
            @T.prim_func
            def main(A: T.Buffer((4,), "float32")):
                for i in range(4):
                    A[i] = 3.0
    else:

        @I.ir_module
        class Chosen:
            @T.prim_func
            def main(A: T.Buffer((4,), "float32")):
                for i in range(4):
                    A[i] = 4.0

    return Chosen


def test_inner():
    """A class in a function of the same name as another's."""

    @I.ir_module
    class Same:
        @T.prim_func
        def main(A: T.Buffer((4,), "float32")):
            for i in range(4):
                A[i] = 5.0

    assert run(Same) == 5


def run(module):
    a = np.zeros(4, "float32")
    tilewright.build(module)["main"](a)
    assert (a == a[0]).all()
    return a[0]


@pytest.mark.parametrize(("module", "value"), [(first, 1), (Same, 2), (either(True), 3), (either(False), 4)])
def test_classes_of_one_name(module, value):
    """Found: the second class of a name was read as the first, without a word."""
    assert run(module) == value


CELL = """
from tilewright.script import ir as I
from tilewright.script import tir as T
{command}
@I.ir_module
class Cell:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 1.0
@I.ir_module
class Cell:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 2.0
"""


@pytest.mark.parametrize("command", ["", "%time"])
def test_cells_of_notebooks(command):
    """Also with commands that are no Python, which the notebook takes out."""
    name, text = "<cell>", CELL.format(command=command)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": "cell"}
    exec(compile(text.replace("%time", ""), name, "exec"), names)
    assert run(names["Cell"]) == 2
