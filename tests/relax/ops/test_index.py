"""nn.pad and strided_slice, against numpy."""

import numpy as np
import pytest
from op_images import X, t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional


def test_padding_and_shuffling():
    width = [0, 0, 0, 0, 2, 1, 1, 3]
    pairs = [(width[2 * n], width[2 * n + 1]) for n in range(4)]
    for mode, numpy_mode in [
        ("constant", "constant"),
        ("reflect", "reflect"),
        ("replicate", "edge"),
        ("circular", "wrap"),
    ]:
        check_op("nn.pad", [X], {"pad_width": width, "pad_mode": mode}, np.pad(X, pairs, numpy_mode))
    check_op("nn.pixel_shuffle", [X], {"upscale_factor": 2}, F.pixel_shuffle(t(X), 2).numpy())
