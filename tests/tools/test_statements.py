"""What a new statement of loop programs costs: CONTRIBUTING.md says which files name each kind."""

import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tilewright"
COMMANDS = ROOT / "build/compile_commands.json"

# The most files that may name a kind.  May only shrink, but for kernels of GPUs, which came with steps of lowering and
# printers of their own: walks over statements are in tir/stmt.h.  Loops, blocks and
# stores are not here, as schedules are about them.
MOST_FILES = {
    "While": 16,
    "AssertStmt": 15,
    "AttrStmt": 33,  # kernels of GPUs in the interpreter
    "Evaluate": 31,
    "SeqStmt": 36,  # software pipelines
    "DeclBuffer": 34,
    "AllocBuffer": 48,  # trees keep the nodes of a group of rows
    "IfThenElse": 54,  # guards of open tiles, hints in C around them, plans by extent, and the cost of candidates
    "LetStmt": 55,
}

# A statement that nothing else speaks of: the compiler asks these files for it,
ASKED = (
    "tilewright/analysis/interpreter/compile_stmt.cc",
    "tilewright/codegen/llvm/stmt.cc",
    "tilewright/codegen/source/stmt.cc",
    "tilewright/script/printer/tir_stmt.cc",
)
# and these, which walk over statements, take it as it is.
NOT_ASKED = (
    "tilewright/analysis/block_info.cc",
    "tilewright/analysis/sure_accesses.cc",
    "tilewright/arith/simplify_program.cc",
    "tilewright/schedule/core/state.cc",
)


def recipe() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return re.split(r"\n##+ ", text.split("### A statement of loop programs\n")[1])[0]


def statements() -> list[str]:
    return re.findall(r"^STMT\((\w+)\)$", (SOURCES / "ir/nodes.inc").read_text(), re.MULTILINE)


def files_with(name: str) -> list[str]:
    word = re.compile(rf"\b{name}Node\b")
    files = [file for ending in ("cc", "h") for file in SOURCES.rglob(f"*.{ending}")]
    return sorted(str(file.relative_to(ROOT)) for file in files if word.search(file.read_text()))


@pytest.mark.parametrize("name", MOST_FILES)
def test_the_files_that_name_a_kind_do_not_grow(name):
    assert name in statements()
    files = files_with(name)
    assert len(files) <= MOST_FILES[name], "\n".join(files)


def test_the_recipe_lists_the_files_that_a_statement_needs():
    files = re.findall(r"`(\w+/[\w/.]+)`", recipe())
    named = {f"tilewright/{file}" for file in files if not file.startswith("tests/")}
    headers = {"tilewright/ir/nodes.inc", "tilewright/tir/tir.h", "tilewright/tir/stmt.h"}
    assert named == headers | {*ASKED, "tilewright/script/parser/tir_stmt.cc"}
    for file in named - {"tilewright/ir/nodes.inc", "tilewright/script/parser/tir_stmt.cc"}:
        text = (ROOT / file).read_text()
        assert [name for name in statements() if not re.search(rf"\b{name}Node\b", text)] == [], file


def with_new_statement(folder: Path) -> None:
    """Headers with a statement more, which says how often it runs what is inside."""
    changes = {
        "ir/nodes.inc": ("GROUP_END(Stmt)", "STMT(Again)\nGROUP_END(Stmt)"),
        "tir/tir.h": (
            "/// T.evaluate(value)\n",
            """struct AgainNode final : Node<AgainNode, StmtNode, Kind::kAgain> {
  Stmt body;
  static constexpr auto fields() {
    return std::tuple{field<&AgainNode::body>("body", "run again"),
                      field<&AgainNode::span>("span", "where it was written", Role::kIgnore)};
  }
};

/// T.evaluate(value)
""",
        ),
        "tir/stmt.h": (
            "[](const ForNode*) { return Runs::kCounted; },",
            "[](const AgainNode*) { return Runs::kOpen; }, [](const ForNode*) { return Runs::kCounted; },",
        ),
    }
    for name, (before, after) in changes.items():
        text = (SOURCES / name).read_text()
        assert text.count(before) == 1, name
        file = folder / "tilewright" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(before, after))


def errors_of(command: str, folder: Path) -> list[str]:
    """The errors of a compiler's command with the headers of `folder` before those of the tree."""
    words = shlex.split(command)
    for flag in ("-include-pch",):  # holds the headers of the tree
        while flag in words:
            at = words.index(flag)
            del words[at - 1 : at + 3]
    at = words.index("-o")
    del words[at : at + 2]
    done = subprocess.run(
        [words[0], f"-I{folder}", "-fsyntax-only", *words[1:]],
        capture_output=True,
        text=True,
        cwd=ROOT / "build",
        check=False,
    )
    return [line for line in done.stderr.splitlines() if " error: " in line]


@pytest.mark.slow
@pytest.mark.skipif(not COMMANDS.exists(), reason="nothing is built")
def test_the_compiler_asks_for_a_new_statement_where_it_means_something(tmp_path):
    with_new_statement(tmp_path)
    commands = {
        str(Path(entry["file"]).relative_to(ROOT)): entry["command"]
        for entry in json.loads(COMMANDS.read_text())
        if Path(entry["file"]).is_relative_to(SOURCES)
    }
    files = [file for file in ASKED + NOT_ASKED if file in commands]  # builds without LLVM lack one
    with ThreadPoolExecutor(2) as pool:
        errors = dict(
            zip(files, pool.map(lambda file: errors_of(commands[file], tmp_path), files), strict=True)
        )
    for file in files:
        if file in NOT_ASKED:
            assert errors[file] == []
        else:
            assert any("no matching function" in line for line in errors[file]), file
