"""docs/te-schedules.md: its programs run as they stand, one after the other."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/te-schedules.md"


def test_page():
    names: dict = {}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for program in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
            exec(program, names)
    text = out.getvalue()
    assert "note: this is vectorize(k) of stage C" in text
    assert "if T.likely(i_outer * 32 + i_inner < rows):" in text
    assert "void add_one_kernel" in text
    assert "add8(" in text
    assert "v_t = T.axis.scan((1, m), 1 + t)" in text
    assert "for (int result_idx = 0; result_idx < m - 1; ++result_idx)" in text, text
    assert "error: te.scan: eager at step t reads state[t, i], which is not computed yet" in text
