"""README's section Use runs as it is printed: in the folder of a clone, and anywhere with the wheel (test_wheel.py)."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "build/bin/tilewright").exists() or not (ROOT / ".venv/bin/tilewright").exists(),
    reason="`make demo` did not run here",
)


def blocks(language: str) -> list[str]:
    """The blocks of README's section Use."""
    text = (ROOT / "README.md").read_text()
    section = text[text.index("## Use") : text.index("## What is different here")]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def as_a_user(script: str, folder: Path) -> str:
    """Returns the output of `script` after the command that README begins with."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    # an environment that several clones share activates that of the clone it was made in
    ours = f"PATH={ROOT}/.venv/bin:$PATH\n" if (ROOT / ".venv").is_symlink() else ""
    done = subprocess.run(
        ["bash", "-e", "-c", blocks("sh")[0] + ours + script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(code: str) -> str:
    return f"python - <<'END'\n{code}END\n"


FIRST = (
    "[TensorInfo(name='x', shape=('n', 784), dtype='float32', type='float32[n, 784]'), "
    "TensorInfo(name='weight', shape=(784, 10), dtype='float32', type='float32[784, 10]')] (5, 10) 0.1\n"
)


def test_the_first_snippet_runs_in_the_clone():
    assert as_a_user(python(blocks("python")[0]), ROOT) == FIRST


def test_the_model_of_the_clone_compiles():
    code = "import numpy as np\nimport tilewright\n" + blocks("python")[1]
    assert as_a_user(python(code), ROOT).endswith(" (1, 10)\n")


def test_the_command_is_on_the_path():
    assert as_a_user("tilewright --version\n", ROOT).startswith("tilewright 0.1.0")


def test_the_sources_are_not_taken_for_the_package():
    """The folder tilewright/ of the clone has no __init__.py: a package that comes later on the path wins."""
    code = "import tilewright\nprint(tilewright.__file__)\n"
    assert as_a_user(python(code), ROOT) == f"{ROOT}/build/python/tilewright/__init__.py\n"
