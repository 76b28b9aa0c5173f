"""The examples of docs/gpu.md run, in their order."""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs/gpu.md").read_text()


def test_its_examples_run(capsys):
    scope = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/gpu.md", "exec"), scope)
    printed = capsys.readouterr().out
    assert printed.count("samples; ") == 2
    assert "[ 7.  6.  5.  4.  3.  2.  1.  0. 15. 14. 13. 12. 11. 10.  9.  8.]\n" in printed
    assert "coalescing: a warp reads A in 32 sectors of 32 bytes where 4 would do" in printed
