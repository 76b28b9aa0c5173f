"""The example of docs/device-code.md runs; device_test.cc compares its texts."""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs/device-code.md").read_text()


def test_its_example_runs(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "docs/device-code.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == "[3. 6. 9.]\n"
