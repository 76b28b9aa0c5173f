"""Operators by default schedules on devices: their numbers are those of the CPU.

OpenCL runs where there is a device of it (PoCL); CUDA runs in test_emulation.py, in a process that has the emulation's driver.
"""

import numpy as np
import pytest
from devices.programs import PROGRAMS, data_for, graph, on_cpu, results
from devices.targets import TARGETS

import tilewright as tw

#: dtype of the result -> (relative, absolute) difference: sums are in another order, exp and tanh are the device's own
TOLERANCES = {"float32": (2e-5, 2e-5), "float16": (4e-3, 4e-3)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_the_cpu(name, target):
    program, cpu = tw.VirtualMachine(tw.compile(graph(name), target=target)), on_cpu(name)
    for arguments in data_for(name):
        for found, expected in zip(results(program, arguments), results(cpu, arguments), strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            relative, absolute = TOLERANCES.get(str(found.dtype), (0, 0))
            np.testing.assert_allclose(found, expected, rtol=relative, atol=absolute)
