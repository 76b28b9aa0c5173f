"""Silero's voice activity detector: If and LSTM, run step by step with its state."""

from pathlib import Path

import numpy as np
import pytest

import tilewright

FOLDER = Path(__file__).resolve().parents[3] / "shared/models/silero_vad"
MODEL = FOLDER / "silero_vad_16k_op15.onnx"

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="../shared/models/silero_vad is not there")


@pytest.mark.parametrize("shapes", [{"batch": 1, "sequence": 576}, {}], ids=["fixed", "open"])
def test_200_steps_with_state(shapes):
    main = tilewright.VirtualMachine(tilewright.compile(MODEL, shapes=shapes))["main"]
    expected = np.load(FOLDER / "io_first200.npz")
    state, rate = np.zeros((2, 1, 128), "float32"), np.array(16000)
    for n in range(200):
        probability, state = main(expected["input"][n : n + 1], state, rate)
        np.testing.assert_allclose(probability.numpy().ravel(), expected["prob"][n : n + 1], atol=2e-5)
        np.testing.assert_allclose(state.numpy()[:, 0], expected["state_after"][:, n], atol=1e-4)
