"""Bring your model: what of it runs, what to do if something is missing, where numbers differ, and models of 8 bits.

The model stands for yours: the one of `make demo`. The commands are those of the shell.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tilewright
from tilewright import models

MODEL = Path(__file__).parent / "fashion_mnist/fashion_mnist.onnx"
FOLDER = tempfile.TemporaryDirectory()
folder = Path(FOLDER.name)
(folder / "model.onnx").write_bytes(MODEL.read_bytes())


def shell(line: str) -> None:
    """Runs a command as in a shell and prints what it prints; its Python is this one."""
    print(f"$ {line}")
    env = os.environ | {"TILEWRIGHT_PYTHON": sys.executable}
    done = subprocess.run(line.split(), cwd=folder, capture_output=True, text=True, env=env, check=False)
    print(done.stdout + done.stderr)


# ## What of it runs
#
# `inspect --coverage` reads the file and says what becomes of each node, before anything is built; `--json` has the names of all nodes.

shell("tilewright inspect model.onnx --coverage")

# The same of a model with an operator that nobody but its author knows:

known = models.ModelFile(MODEL)
for node in known.nodes:
    if node.op == "Softmax":
        node.message.set(4, "Sharpen").set(7, "my.company")
(folder / "mine.onnx").write_bytes(known.changed(known.nodes, {}))
shell("tilewright inspect mine.onnx --coverage")

# Values that "only a run knows" are inputs of operators that need them when the model is imported, such as the axes of a sum. Make them
# constants where the model is exported. Open dimensions become numbers by `--fix n=1`. [What of ONNX runs](../onnx.md) has the operators
# and their limits, and [their outcomes](../onnx-coverage.md) every case of ONNX's own tests.
#
# ## If an operator is missing
#
# Export the model with other operators, if you can: most exporters write an operator of another domain only because an optimiser put it there,
# and the file before that step runs. Or cut the model at the operator and compute that yourself. Parts of a model are models:

mine = models.ModelFile(folder / "mine.onnx")
place = next(n for n, node in enumerate(mine.nodes) if node.op == "my.company::Sharpen")
missing = mine.nodes[place]
before = mine.part(mine.nodes[:place], missing.inputs)
machine = tilewright.VirtualMachine(tilewright.compile(before))
pictures = np.random.default_rng(0).random((5, 1, 28, 28), "float32")
scores = machine["main"](pictures).numpy()
sharpened = np.exp(scores - scores.max(axis=1, keepdims=True))
sharpened /= sharpened.sum(axis=1, keepdims=True)

whole = tilewright.VirtualMachine(tilewright.compile(MODEL))["main"](pictures).numpy()
print("the parts give what the whole gives:", np.allclose(sharpened, whole, atol=1e-6))

# What comes after the operator is `mine.part(mine.nodes[place + 1:], mine.outputs, {name: array})`, with arrays of the values that it reads.
#
# ## If numbers differ
#
# `diff` runs the model beside a reference: `onnxruntime` where that is installed, or `interpreter`, which runs each operator alone in plain
# loops with every access checked, and needs nothing.

np.savez(folder / "x.npz", image=pictures[:1])
shell("tilewright diff model.onnx --reference interpreter --input x.npz")

# Here the reference is a file of values that another program wrote; one of them is off by a quarter. The first operator that differs is named,
# with how far it is off and what it read. What is written runs again by the command at the end, with the same result each time.
# The output depends on the machine.

names = [node.outputs[0] for node in models.ModelFile(MODEL).nodes]
shell(f"tilewright diff model.onnx --input x.npz --dump {' --dump '.join(names)} -o values.npz")
values = dict(np.load(folder / "values.npz"))
values[names[4]] = values[names[4]] + np.float32(0.25)
np.savez(folder / "others.npz", **values)
shell("tilewright diff model.onnx --input x.npz --reference others.npz -o wrong")

# `--watch nan` needs no reference: it names the first node whose results have a NaN, with the ranges of what it read.

shell("tilewright diff model.onnx --input x.npz --watch nan")

# ## Weights and activations of 8 bits
#
# `quantize` rounds the weights of convolutions and matrix products by channel, and what they read by its ranges over examples. The file has
# ordinary operators of ONNX, which other runtimes read, too. The error of each layer has all rounding before it in it; a layer that is off
# too far stays as it is by `--keep NAME`. The output depends on the machine.

np.savez(folder / "examples.npz", image=np.random.default_rng(1).random((64, 1, 28, 28), "float32"))
shell("tilewright quantize model.onnx --calibration examples.npz -o q.onnx")
rounded = tilewright.VirtualMachine(tilewright.compile(folder / "q.onnx"))["main"](pictures).numpy()
print("same classes:", (rounded.argmax(axis=1) == whole.argmax(axis=1)).all())

# From here it is a model like others: [compile, run, profile, export](04-model.md), [what limits a kernel](07-explain.md),
# [measured schedules](../tuning.md).

FOLDER.cleanup()
