"""Exports of twenty networks by torch's two exporters run, six of them with open batch and length, against torch.

The networks are small, with random weights: made of configurations of the package transformers (tests/export_testing.py).
"""

import contextlib
import io

import numpy as np
import pytest

import tilewright

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
EXPORTERS = {"legacy": False, "dynamo": True}
NETWORKS = [
    "Bert", "DistilBert", "Roberta", "GPT2", "Llama", "Qwen2", "T5 encoder", "T5", "ViT", "CLIP vision", "Swin", "SegFormer", "ConvNext",
    "MobileNetV2", "ResNet", "DPT", "Wav2Vec2", "Whisper encoder", "Yolos", "Mamba",
]  # fmt: skip
OPEN_NETWORKS = ["Bert with mask", "GPT2 with cache", "Llama with cache", "ViT", "T5", "Whisper decoder"]


@pytest.fixture(scope="module")
def networks():
    """The module with the networks, which is imported only where it is used: that takes seconds."""
    for package in ("torch", "transformers", "onnxscript"):
        pytest.importorskip(package)
    import export_testing

    return export_testing


def exported(networks, *args, **options) -> bytes:
    with contextlib.redirect_stdout(io.StringIO()):  # of one exporter's progress
        return networks.exported(*args, **options)


def check(main, network, inputs):
    import torch

    with torch.no_grad():
        expected = network(*inputs)
    results = main(*[each.numpy() for each in inputs])
    expected = expected if isinstance(expected, tuple) else (expected,)
    results = results if isinstance(results, tuple | list) else (results,)
    for result, right in zip(results, expected, strict=True):
        assert result.shape == tuple(right.shape)
        np.testing.assert_allclose(result.numpy(), right.numpy(), rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_network(networks, name, exporter):
    network, inputs = networks.network_of(name)
    model = exported(networks, network, inputs, EXPORTERS[exporter])
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    check(main, network, inputs)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", OPEN_NETWORKS)
def test_open_network(networks, name, exporter):
    """Three sizes: batch, length, and past or length of the other sequence."""
    network, inputs, names = networks.open_network_of(name)
    is_dynamo = EXPORTERS[exporter]
    dimensions = networks.dimensions(network, names, is_dynamo)
    model = exported(networks, network, inputs(2, 5, 3), is_dynamo, **dimensions)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for sizes in ((1, 5, 0), (2, 1, 1), (3, 4, 17)):
        check(main, network, inputs(*sizes))


def test_all_networks_are_tested(networks):
    assert NETWORKS == list(networks.NETWORKS)
    assert OPEN_NETWORKS == list(networks.OPEN_NETWORKS)
