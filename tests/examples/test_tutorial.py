"""The numbered scripts of examples print what their pages in docs/tutorial show; measured numbers are left out."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("tutorial", ROOT / "tools/tutorial.py")
tutorial = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tutorial)

FRESH = """
import importlib.util
spec = importlib.util.spec_from_file_location("tutorial", {tool!r})
tutorial = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tutorial)
print(tutorial.page(tutorial.Path({script!r})), end="")
"""


@pytest.mark.parametrize("script", tutorial.scripts(), ids=lambda script: script.stem)
def test_the_page_shows_what_the_script_prints(script):
    program = FRESH.format(tool=str(ROOT / "tools/tutorial.py"), script=str(script))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = tutorial.page_of(script).read_text()
    assert tutorial.steady(done.stdout) == tutorial.steady(shown), "python tools/tutorial.py writes it anew"


def test_there_is_a_page_for_each_script():
    pages = {tutorial.page_of(script) for script in tutorial.scripts()}
    assert pages == set(tutorial.PAGES.glob("*.md"))
    assert [script.name[:2] for script in tutorial.scripts()] == [f"0{n + 1}" for n in range(len(pages))]
