"""docs/onnx.md lists what is imported."""

import re
from pathlib import Path

from tilewright.frontend.onnx import operators

PAGE = Path(__file__).resolve().parents[3] / "docs/onnx.md"


def test_the_page_lists_the_operators():
    text = PAGE.read_text()
    section = text[text.index("(`tests/frontend") : text.index("## Limits")]
    assert re.findall(r"(?:[a-z][\w.]*::)?[A-Z]\w+", section) == operators()
