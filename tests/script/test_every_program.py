"""Every program that a test, an example or a page of the documentation writes is the same after printing and parsing,
and has the same hash in another process.  `python test_every_program.py` prints the hashes."""

import ast
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tilewright
from tilewright.ir import assert_structural_equal, structural_hash
from tilewright.script import parse

ROOT = Path(__file__).resolve().parents[2]
SIGN = re.compile(r"^\s*@[\w.]*(prim_func|ir_module|R\.function)\b", re.MULTILINE)
RAW_STRING = re.compile(r'R"(\w*)\((.*?)\)\1"', re.DOTALL)
CODE_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def texts_of_python(text: str):
    """Decorated definitions and strings that hold programs."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
            lines = text.splitlines()[node.decorator_list[0].lineno - 1 : node.end_lineno]
            yield "\n".join(lines)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def texts_of(file: Path):
    text = file.read_text()
    if file.suffix == ".py":
        return texts_of_python(text)
    pattern = CODE_BLOCK if file.suffix == ".md" else RAW_STRING
    return [match[match.lastindex] for match in pattern.finditer(text)]


def programs() -> dict:
    """{"file:number": program} of every text that is a program without names of Python."""
    files = [
        file
        for folder, suffixes in {
            "tests": ("py", "cc", "h"),
            "examples": ("py",),
            "docs": ("md",),
            ".": ("md",),
        }.items()
        for suffix in suffixes
        for file in sorted((ROOT / folder).glob(f"*.{suffix}" if folder == "." else f"**/*.{suffix}"))
    ]
    found = {}
    for file in files:
        for number, text in enumerate(texts_of(file)):
            if not SIGN.search(text):
                continue
            try:
                program = parse(textwrap.dedent(text.strip("\n")) + "\n", check_well_formed=False)
            except (tilewright.UserError, tilewright.Unsupported):
                continue  # of a test of refusals, or with names of Python
            found[f"{file.relative_to(ROOT)}:{number}"] = program
    return found


PROGRAMS = programs()


def test_programs_are_found():
    assert len(PROGRAMS) > 250


@pytest.mark.parametrize("dialect", ["native", "0.23", "0.27"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_parse_of_print_is_the_program(name, dialect):
    program = PROGRAMS[name]
    again = parse(program.script(dialect=dialect, show_meta=True), check_well_formed=False)
    assert_structural_equal(again, program)
    assert structural_hash(again) == structural_hash(program)


def test_hashes_are_those_of_another_process():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == {name: structural_hash(program) for name, program in PROGRAMS.items()}


if __name__ == "__main__":
    print(json.dumps({name: structural_hash(program) for name, program in PROGRAMS.items()}))
