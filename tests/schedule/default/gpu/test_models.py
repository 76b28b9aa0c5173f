"""Every kernel of trained networks gets threads from the rules for GPUs."""

import pytest
from gpu_checking import MODELS, PASSES, kernels, passes, scheduled

from tilewright.frontend.onnx import from_onnx

pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is absent")


@pytest.mark.parametrize(
    "path",
    [
        "fashion_mnist/mlp.onnx",
        "kwt1/kwt1_keyword_transformer_fp32.onnx",
        "mlperf_tiny/vww96_mobilenetv1_fp32.onnx",
        "mlperf_tiny/vww96_mobilenetv1_int8_qdq.onnx",
        "ultraface/version-RFB-320.onnx",
        "zoo/mnist_8/model.onnx",
        "zoo/super_resolution_10/model.onnx",
    ],
)
def test_no_loop_nest_is_left_without_threads(path):
    found = kernels(passes(from_onnx(str(MODELS / path)), PASSES))
    assert found
    for _, func in found:
        sch = scheduled(func)
        # products of matrices and convolutions have tiles, or say why not
        assert not [each for each in sch.rejections if each[1] == "tiles" and "InternalError" in each[2]]
