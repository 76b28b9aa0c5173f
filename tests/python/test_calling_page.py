"""The examples of docs/calling.md run, in their order, and what it says of threads and forks holds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/calling.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_its_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "page"}
    for block in blocks("python"):
        exec(compile(block, "docs/calling.md", "exec"), scope)
    (program,), (command,) = blocks("c"), blocks("sh")
    (tmp_path / "program.c").write_text(program)
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=os.environ | {"TILEWRIGHT": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("16\n", "")


def run(program: str, timeout: int = 120) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PREAMBLE + program],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr[-2000:]
    return done.stdout


PREAMBLE = '''
import os, threading, time
import numpy as np
import tilewright

module = tilewright.script.parse("""
@R.function
def main(x: R.Tensor(("n", 127), "float32"), w: R.Tensor((127, 64), "float32")):
    return R.nn.softmax(R.matmul(x, w))
""")
machine = tilewright.VirtualMachine(tilewright.compile(module))
x, w = np.ones((5, 127), "float32"), np.random.rand(127, 64).astype("float32")
expected = machine["main"](x, w).numpy()

def check():
    np.testing.assert_array_equal(machine["main"](x, w).numpy(), expected)

check()  # numpy.testing is imported: a child must not find the lock of an import that another thread was at
'''

FORKS = """
running = True
def call():
    while running:
        check()
threads = [threading.Thread(target=call) for _ in range(8)]
for thread in threads:
    thread.start()
for _ in range(60):
    child = os.fork()
    if child == 0:
        check()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
running = False
for thread in threads:
    thread.join()
print("done")
"""


def test_sixty_forks_while_eight_threads_call():
    assert run(FORKS) == "done\n"


CALLS = """
import resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(1000):
    check()
before = peak()
for _ in range(100_000):
    machine["main"](x, w)
check()
print(peak() - before < 4096)
"""


@pytest.mark.slow
def test_a_hundred_thousand_calls_hold_no_memory():
    assert run(CALLS) == "True\n"


EXIT = """
def call():
    while True:
        check()
for _ in range(8):
    threading.Thread(target=call, daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0.01 * n for n in range(8)])
def test_a_process_ends_while_daemon_threads_call(seconds):
    run(EXIT.format(seconds=seconds))


COMPILES = """
def work():
    while True:
        tilewright.compile(module)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0.02 * n for n in range(6)])
def test_a_process_ends_while_daemon_threads_compile(seconds):
    run(COMPILES.format(seconds=seconds))


CALLBACKS = """
@tilewright.register_func("test.exit_callback")
def callback(a, out):
    out.copy_from(a)

program = tilewright.script.parse('''
@R.function
def main(x: R.Tensor((5, 127), "float32")):
    return R.call_dps_packed("test.exit_callback", (x,), out_sinfo=R.Tensor((5, 127), "float32"))
''')
calls = tilewright.VirtualMachine(tilewright.compile(program))["main"]
def call():
    while True:
        calls(x)
for _ in range(4):
    threading.Thread(target=call, daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0.01 * n for n in range(6)])
def test_a_process_ends_while_daemon_threads_call_back(seconds):
    run(CALLBACKS.format(seconds=seconds))


def onnx_model(op, shape, constants=(), **attributes):
    from onnx import helper, numpy_helper

    x, y = (helper.make_tensor_value_info(name, 1, dims) for name, dims in (("x", [5, 7]), ("y", shape)))
    names = [f"constant{n}" for n in range(len(constants))]
    arrays = [
        numpy_helper.from_array(np.array(value), name) for value, name in zip(constants, names, strict=True)
    ]
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *names], ["y"], **attributes)], "g", [x], [y], arrays
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def result_and_input(*model, read_only=False, **attributes):
    main = tilewright.VirtualMachine(tilewright.compile(onnx_model(*model, **attributes)))["main"]
    array = np.zeros((5, 7), "float32")
    array.flags.writeable = not read_only
    return np.from_dlpack(main(array)), array


@pytest.mark.parametrize(
    ("op", "shape", "constants", "attributes"),
    [
        ("Identity", [5, 7], (), {}),
        ("Dropout", [5, 7], (), {}),
        ("Reshape", [35], ([35],), {}),
        ("Flatten", [5, 7], (), {}),
        ("Unsqueeze", [1, 5, 7], ([0],), {}),
        ("Cast", [5, 7], (), {"to": 1}),
        ("Expand", [5, 7], ([5, 7],), {}),
    ],
)
def test_outputs_that_are_inputs(op, shape, constants, attributes):
    assert np.shares_memory(*result_and_input(op, shape, constants, **attributes))
    assert not np.shares_memory(*result_and_input(op, shape, constants, read_only=True, **attributes))


@pytest.mark.parametrize(
    ("op", "shape", "constants", "attributes"),
    [("Neg", [5, 7], (), {}), ("Cast", [5, 7], (), {"to": 11}), ("Expand", [2, 5, 7], ([2, 5, 7],), {})],
)
def test_outputs_that_are_computed(op, shape, constants, attributes):
    assert not np.shares_memory(*result_and_input(op, shape, constants, **attributes))
