"""Names of other alphabets."""

import numpy as np

import tilewright as tw

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func
    def ф(Größe: T.Buffer((4,), "float32")):
        for i in range(4):
            Größe[i] = T.float32(1)

    @T.prim_func
    def ж(数: T.Buffer((4,), "float32")):
        for i in range(4):
            数[i] = T.float32(2)
"""


def test_names_print_read_back_and_are_called():
    module = tw.script.parse(PROGRAM)
    assert PROGRAM.strip() in module.script()
    assert tw.ir.structural_equal(module, tw.script.parse(module.script()))
    library = tw.build(module)
    result = tw.runtime.empty((4,))
    library["ж"](result)
    np.testing.assert_array_equal(result, np.full(4, 2, "float32"))
