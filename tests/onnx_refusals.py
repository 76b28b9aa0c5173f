"""Why cases of ONNX are refused, and which compute something else: the tables behind docs/onnx-coverage.md."""

import re

#: what is different, and why
DIFFERENT = {
    "test_causal_conv_with_state_silu_fp16_expanded": "rounds to float16 after fusing, not after each step",
    "test_celu_bfloat16": "is computed in float32, the expected value in bfloat16",
    "test_celu_bfloat16_expanded": "is computed in float32, the expected value in bfloat16",
}
# the standard leaves the generator open: expected are numpy's numbers
for name in ("bernoulli", "bernoulli_double", "bernoulli_seed"):
    DIFFERENT[f"test_{name}"] = DIFFERENT[f"test_{name}_expanded"] = "random numbers of another generator"
for name in ("default", "default_mask"):
    DIFFERENT[f"test_training_dropout_{name}"] = "random numbers of another generator"
DIFFERENT["test_training_dropout"] = DIFFERENT["test_training_dropout_mask"] = (
    "random numbers of another generator"
)
# of a scale that makes no whole number of elements, 0.6 of 4; onnxruntime and PyTorch do as the text says
for method in ("linear", "cubic"):
    DIFFERENT[f"test_resize_downsample_scales_{method}_align_corners"] = (
        "divides by the number of elements less 1, as the operator's text says, not by 1.4"
    )

#: what the text of a refusal contains, and the reason in words of the case; {0} is the first group
REASONS = [
    (r"operators that cannot be imported: ([\w.:]+)", "the operator {0} is not imported"),
    (r"the model has opset (\d+), supported are", "the model has opset {0}, newer than the reader"),
    (r"has element type (\w+)", "an element type that programs do not have: {0}"),
    (r"training_mode is not the constant False", "training, not inference"),
    (r"is not a tensor, or has no dtype", "an input that is no tensor: a sequence, or an optional value"),
    (r"quantized values of dtype (\w+), only integers are supported", "quantized values of {0}"),
    (r"a compressed picture \(JPEG, PNG, ...\) is no tensor", "a compressed picture"),
    (r"it asks for the gradient of a part of the graph", "the gradient of a part of the graph"),
    (r"is known only at run time", "a computed value that must be known when the model is imported"),
]


def reason_of(text: str) -> str:
    """The reason of a refusal; "" if no row has it."""
    for pattern, reason in REASONS:
        if found := re.search(pattern, text):
            return reason.format(*found.groups())
    return ""
