"""A model: compile, run, export, profile.

The model is the one of `make demo`: two convolutions and two dense layers in an ONNX file, which tells pictures of clothes apart.
"""

import tempfile
from pathlib import Path

import numpy as np

import tilewright

MODEL = Path(__file__).parent / "fashion_mnist/fashion_mnist.onnx"

# ## Compile and run
#
# The batch size of the model is open: it is called n. Inputs are given by position or by name.

executable = tilewright.compile(MODEL)
machine = tilewright.VirtualMachine(executable)
print("inputs: ", *executable.inputs)
print("outputs:", *executable.outputs)

pictures = np.random.default_rng(0).random((5, 1, 28, 28), "float32")
probability = machine["main"](image=pictures)
print("result: ", probability.shape, "rows add up to", np.round(probability.numpy().sum(axis=1), 4).tolist())

# `shapes=` makes open sizes numbers; kernels are then made for these.

fixed = tilewright.compile(MODEL, shapes={"n": 5})
print("inputs: ", *fixed.inputs)

# ## Errors of a call

try:
    machine["main"](np.zeros((5, 28, 28), "float32"))
except tilewright.UserError as error:
    print(error)

# ## Where the time goes
#
# `profile` runs a call and times each kernel of it: one convolution, its bias and its activation are one kernel.

profile = machine.profile("main", pictures)
for call in sorted(profile.calls, key=lambda call: call.name):
    print(f"{call.name:24} {call.num_calls} call  {call.duration_us:.1f} us")

# `print(profile)` is a table with shares and bandwidths, the longest kernel first. `executable.times` has the time that each step of the
# compiler took.

for step, seconds in executable.times:
    print(f"{step:24} {seconds * 1e3:.1f} ms")

# ## A library that runs without the compiler
#
# The library needs the runtime alone, from Python, C or C++ ([calling](../calling.md)).

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.so"
    executable.export_library(path)
    loaded = tilewright.VirtualMachine(tilewright.load_module(path))
    print("the same:", np.array_equal(loaded["main"](pictures).numpy(), probability.numpy()))
