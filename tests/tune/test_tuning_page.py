"""The programs of docs/tuning.md run, one after the other."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/tuning.md"


def test_the_programs_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
    out = capsys.readouterr().out
    assert out.startswith("8 True\n")
    assert "sample_perfect_tile" in out
    assert "<svg" in (tmp_path / "tune.html").read_text()
