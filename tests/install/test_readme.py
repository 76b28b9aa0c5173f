"""README.md says what is true: its snippets run as printed after `make demo`, its table is what was measured, it fits a screen."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()

after_demo = pytest.mark.skipif(
    not (ROOT / "build/bin/tilewright").exists() or not (ROOT / ".venv/bin/tilewright").exists(),
    reason="`make demo` did not run here",
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


ACTIVATE = re.search(r"`(\. \S+)`", README)[1] + "\n"
(COMMANDS,) = blocks("sh")
RUN_A_MODEL, WRITE_A_KERNEL = blocks("python")


def as_a_user(script: str) -> subprocess.CompletedProcess:
    """The script in the folder of the clone, after the command that README begins with."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    # an environment that several clones share activates that of the clone it was made in
    ours = f"PATH={ROOT}/.venv/bin:$PATH\n" if (ROOT / ".venv").is_symlink() else ""
    words = ["bash", "-e", "-c", ACTIVATE + ours + script]
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def printed(script: str) -> str:
    done = as_a_user(script)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@after_demo
def test_a_model_runs():
    assert printed(f"python - <<'END'\n{RUN_A_MODEL}END\n") == "image: float32[n, 1, 28, 28] (5, 10)\n"


@after_demo
def test_a_kernel_is_verified_and_the_error_is_the_one_that_is_shown(tmp_path):
    script = tmp_path / "total.py"
    script.write_text(WRITE_A_KERNEL)
    done = as_a_user(f"python {script}")
    assert re.fullmatch(r"total: 3 samples; \d+ iterations of loops\n", done.stdout)
    assert done.stderr.replace(f"{tmp_path}/", "").rstrip().endswith(blocks("text")[0].rstrip())


@after_demo
def test_the_commands_run():
    assert "sch.vectorize(" in printed(COMMANDS.splitlines()[0])
    assert "arithmetic" in printed(COMMANDS.splitlines()[1] + " --quiet")


@after_demo
def test_the_command_is_on_the_path():
    assert printed("tilewright --version\n").startswith("tilewright 0.1.0")


@after_demo
def test_the_sources_are_not_taken_for_the_package():
    """The folder tilewright/ of the clone has no __init__.py: a package that comes later on the path wins."""
    code = "import tilewright\nprint(tilewright.__file__)\n"
    assert printed(f"python - <<'END'\n{code}END\n") == f"{ROOT}/build/python/tilewright/__init__.py\n"


def cells(line: str) -> list[str]:
    return [cell.strip(" *") for cell in line.strip().strip("|").split("|")]


def test_the_table_is_what_was_measured():
    measured = (ROOT / re.search(r"\[all rows\]\((.*?)\)", README)[1]).read_text()
    lines = [cells(line) for line in measured.splitlines() if line.startswith("| ")]
    columns = lines[0]
    rows = {
        line[0]: dict(zip(columns, line, strict=True))
        for line in reversed(lines)
        if line[1:2] == ["1"] and len(line) == len(columns)
    }
    table = [line for line in README.splitlines() if line.startswith("| ")][1:]
    assert len(table) == 8
    for line in table:
        case, *values = cells(line)
        for peer, value in zip(
            ("tilewright", "onnxruntime", "openvino", "torch", "apache_tvm"), values, strict=True
        ):
            found = rows[case][peer].split(" ")[0]
            assert value == found or abs(float(value) - float(found)) <= 0.5 + 1e-9, (case, peer)
        best = min((value for value in values if value != "-"), key=float)
        assert f"**{best}**" in line


def test_it_fits_a_screen():
    assert len(README.splitlines()) <= 80
