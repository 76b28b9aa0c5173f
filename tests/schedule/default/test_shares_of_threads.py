"""Default schedules give each thread its share: rows of images, panels of weights, elements."""

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright.testing import whole_numbers


def convolution(x, w):
    """A convolution of channels-last images, step 1, with numpy."""
    height, width = x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1
    return sum(
        x[:, i : i + height, j : j + width] @ w[i, j] for i in range(w.shape[0]) for j in range(w.shape[1])
    )


def checked_trace(body, *arrays, expected, threads=2):
    """The schedule of the only kernel of `body`, of x0, x1, ..., made for as many cores; its numbers are checked."""
    parameters = ", ".join(f'x{n}: R.Tensor({a.shape}, "float32")' for n, a in enumerate(arrays))
    module = tw.script.parse(f"""
@R.function
def main({parameters}):
    with R.dataflow():
        y = {body}
        R.output(y)
    return y
""")
    executable = tw.compile(module, target=f"llvm -num-cores={threads}")
    result = tw.VirtualMachine(executable)["main"](*arrays).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
    (trace,) = executable.schedules.values()
    return str(trace)


CONVOLUTION = 'R.nn.conv2d(x0, x1, data_layout="NHWC", kernel_layout="HWIO")'


@pytest.mark.parametrize(
    ("height", "width", "channels", "outputs", "is_by_rows"),
    [
        (28, 28, 64, 64, True),  # 200 kB of image, 16 kB of weights
        (27, 127, 16, 33, True),  # an odd number of rows: 14 and 13
        (2, 127, 64, 32, True),  # a row for each of two threads; for three only numbers are checked
        (1, 512, 64, 32, True),  # parts of a row
        (7, 7, 256, 256, False),  # weights are larger
        (5, 5, 7, 3, False),  # too little work
    ],
)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_of_images(height, width, channels, outputs, is_by_rows, threads):
    x, w = whole_numbers((1, height, width, channels)), whole_numbers((1, 1, channels, outputs))
    trace = checked_trace(CONVOLUTION, x, w, expected=convolution(x, w), threads=threads)
    has_chunks = f"factors=[{threads}, None]" in trace or f"factors=[{threads}, None, " in trace
    if threads == 1:
        assert "sch.parallel" not in trace
    elif height >= threads or height == 1:
        assert has_chunks == is_by_rows, trace


@pytest.mark.parametrize(
    ("height", "channels", "is_by_rows"),
    [
        (14, 272, True),  # found: threads had groups, and read what the other had written
        (15, 68, True),
        (1, 2720, False),  # weights are more than five times as much
        (1, 136, True),  # parts of a row
        (3, 8, False),  # too little work
    ],
)
@pytest.mark.parametrize("threads", [2, 3])
def test_groups_of_channels(height, channels, is_by_rows, threads):
    x, w = whole_numbers((1, height, 127, channels)), whole_numbers((1, 1, channels // 4, channels))
    body = 'R.nn.conv2d(x0, x1, data_layout="NHWC", kernel_layout="HWIO", groups=4)'
    groups = zip(np.split(x, 4, axis=3), np.split(w, 4, axis=3), strict=True)
    expected = np.concatenate([part @ weight[0, 0] for part, weight in groups], axis=3)
    trace = checked_trace(body, x, w, expected=expected, threads=threads)
    assert (f"factors=[{threads}, None" in trace) == is_by_rows, trace


@pytest.mark.parametrize(
    ("height", "outputs", "is_inside"),
    [
        (127, 256, True),  # 16 MB of results: line after line, all panels near
        (127, 200, True),  # the last panel is smaller
        (2, 256, False),  # results stay in L2
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_panels_are_inside_of_rows_whose_results_are_far(height, outputs, is_inside, threads):
    # found: 56 x 56 places with 256 results and residuals were stored 128 bytes at a time, a kilobyte apart
    x, w, r = (
        whole_numbers((1, height, 127, 32)),
        whole_numbers((1, 1, 32, outputs)),
        whole_numbers((1, height, 127, outputs)),
    )
    body = f"R.add({CONVOLUTION}, x2)"
    trace = checked_trace(body, x, w, r, expected=convolution(x, w) + r, threads=threads)
    panels = re.search(r"(l\d+), l\d+, l\d+ = sch.split\(loop=l\d+, factors=\[None, \d+, 16\]\)", trace)
    rows = re.search(r"(l\d+), l\d+ = sch.split\(loop=l\d+, factors=\[None, \d+\]\)", trace)
    order = re.search(r"sch.reorder\((.*)\)", trace)[1].split(", ")
    if panels and rows:  # machines have vectors of 16, and tiles of several rows
        assert (order.index(panels[1]) > order.index(rows[1])) == is_inside, trace


def test_rows_of_pooling():
    x = whole_numbers((1, 56, 56, 64))
    body = 'R.nn.max_pool2d(x0, pool_size=(2, 2), strides=(2, 2), layout="NHWC")'
    expected = x.reshape(1, 28, 2, 28, 2, 64).max(axis=(2, 4))
    assert "sch.parallel" in checked_trace(body, x, expected=expected)


@pytest.mark.parametrize(("elements", "is_parallel"), [(49152, True), (49151, False)])
def test_elements(elements, is_parallel):
    # memory is what they take: 192 kB in, 192 kB out
    x = whole_numbers((elements,))
    assert ("sch.parallel" in checked_trace("R.add(x0, x0)", x, expected=x + x)) == is_parallel
