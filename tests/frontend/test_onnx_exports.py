"""What torch's two exporters write of twenty networks runs, and of six with open batch and length, against torch.

The networks are small, with random weights: made of configurations of the package transformers (networks.py).
"""

import contextlib
import io

import numpy as np
import pytest

import tilewright

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("onnxscript")
import export_testing as networks  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
EXPORTERS = {"legacy": False, "dynamo": True}


def exported(*args, **options) -> bytes:
    with contextlib.redirect_stdout(io.StringIO()):  # of one exporter's progress
        return networks.exported(*args, **options)


def check(main, network, inputs):
    with torch.no_grad():
        expected = network(*inputs)
    results = main(*[each.numpy() for each in inputs])
    expected = expected if isinstance(expected, tuple) else (expected,)
    results = results if isinstance(results, tuple | list) else (results,)
    for result, right in zip(results, expected, strict=True):
        assert result.shape == tuple(right.shape)
        np.testing.assert_allclose(result.numpy(), right.numpy(), rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_network(name, exporter):
    network, inputs = networks.network_of(name)
    model = exported(network, inputs, EXPORTERS[exporter])
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    check(main, network, inputs)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", networks.OPEN_NETWORKS)
def test_open_network(name, exporter):
    """Three sizes: batch, length, and past or length of the other sequence."""
    network, inputs, names = networks.open_network_of(name)
    is_dynamo = EXPORTERS[exporter]
    model = exported(network, inputs(2, 5, 3), is_dynamo, **networks.dimensions(network, names, is_dynamo))
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for sizes in ((1, 5, 0), (2, 1, 1), (3, 4, 17)):
        check(main, network, inputs(*sizes))
