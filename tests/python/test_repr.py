"""repr() shows programs, traces and what objects are; long programs are cut."""

import subprocess
import sys

import tilewright
from tilewright import relax

FUNCTION = """
@T.prim_func
def add_one(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] + T.float32(1)
"""
GRAPH = """
@R.function
def main(x: R.Tensor((5, 7), "float32")):
    return R.nn.relu(x)
"""


def test_functions_and_modules_are_their_programs():
    func, graph = tilewright.script.parse(FUNCTION), tilewright.script.parse(GRAPH)
    assert repr(func) == str(func) == func.script()
    assert repr(graph) == str(graph) == graph.script()
    module = tilewright.IRModule({"add_one": func})
    assert repr(module) == str(module) == module.script()


def test_long_programs_are_cut():
    body = "".join(f"    A[{n}] = T.float32({n})\n" for n in range(127))
    func = tilewright.script.parse(f'@T.prim_func\ndef f(A: T.Buffer((127,), "float32")):\n{body}')
    shown, lines = repr(func).splitlines(), str(func).splitlines()
    assert shown == [*lines[:100], f"# ... {len(lines) - 100} more lines: print() shows them"]


def test_a_schedule_is_its_trace():
    program = f"""
import tilewright
sch = tilewright.Schedule(tilewright.script.parse('''{FUNCTION}'''))
print(repr(sch))
sch.parallel(sch.get_loops("B")[0])
print(repr(sch))
"""  # a process of its own: tilewright.compat prints traces in TVM's form
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "Schedule of add_one\n# no steps\n"
        'Schedule of add_one\nb0 = sch.get_block(name="B", func_name="add_one")\n'
        "l1, = sch.get_loops(block=b0)\nsch.parallel(loop=l1)\n"
    )


def test_what_was_compiled():
    lib = tilewright.build(tilewright.script.parse(FUNCTION))
    assert repr(lib) == "<Module jit: add_one>"
    executable = tilewright.compile(tilewright.script.parse(GRAPH))
    assert repr(executable) == (
        "<Executable main(x: float32[5, 7]) -> output: float32[5, 7]; 1 kernel, 0 bytes of constants>"
    )
    assert repr(tilewright.VirtualMachine(executable)) == (
        "<VirtualMachine main(x: float32[5, 7]) -> output: float32[5, 7]>"
    )


def test_passes_and_targets():
    assert repr(relax.transform.fold_constant()) == "fold_constant()"
    assert repr(tilewright.Target("llvm -mcpu=x86-64")) == 'Target("llvm -mcpu=x86-64")'
