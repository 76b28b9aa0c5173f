"""Checks that every error text a user can see is asserted by a test.

Collects the format text of every UserError and Unsupported in tilewright/ and of every `raise` in python/, and looks for its
longest literal part in tests/.  tools/untested_errors.txt lists the texts that no test provokes yet; it may only shrink: a
listed text that is tested now or no longer exists must be removed.

python tools/error_inventory.py           prints one line per violation; exit code 1 if there are any
python tools/error_inventory.py --list    prints every text, with + if it is tested
python tools/error_inventory.py --shrink  removes tested and vanished texts from the list
"""

import ast
import dataclasses
import re
import sys
from collections.abc import Iterator
from pathlib import Path

LIST = Path("tools/untested_errors.txt")
LIST_HEADER = (
    "# Error texts that no test provokes yet; this list may only shrink.  See tools/error_inventory.py.\n"
)
THROWN = re.compile(
    r"\b(?:UserError|Unsupported|refuse|refuse_if|fail|fail_here|require(?:\.equal|\.holds)?)\s*[({]"
)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|R"\((.*?)\)"', re.DOTALL)
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*')
PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclasses.dataclass(frozen=True, order=True)
class Message:
    """One error text, with {} for its values."""

    path: str
    text: str

    @property
    def fragment(self) -> str:
        """The longest part between values, which a test that asserts the text must contain."""
        plain = self.text.replace("{{", "\0").replace("}}", "\1")
        parts = [part.strip().replace("\0", "{").replace("\1", "}") for part in PLACEHOLDER.split(plain)]
        return max(parts, key=len)

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


def unescape(literal: str) -> str:
    return literal.replace("\\n", " ").replace("\\", "")


def first_literal(code: str, start: int) -> str | None:
    """The first string (adjacent ones joined) among the arguments that begin at `start`, None if there is none."""
    depth, at = 1, start
    while at < len(code) and depth > 0:
        match = LITERAL.match(code, at)
        if match:
            text = ""
            while match:
                text += match[2] if match[2] is not None else unescape(match[1])
                at = match.end()
                at += len(code[at:]) - len(code[at:].lstrip())
                match = LITERAL.match(code, at)
            return text
        depth += (code[at] in "({[") - (code[at] in ")}]")
        if code[at] == ";":
            return None
        at += 1
    return None


def messages_of_cpp(path: str, code: str) -> Iterator[Message]:
    """Texts of the errors thrown in one C++ file, except those that are built elsewhere and passed in."""
    code = COMMENT.sub(lambda match: match[1] or "", code)
    for match in THROWN.finditer(code):
        text = first_literal(code, match.end())
        if text and re.search(r"[A-Za-z]", text):
            yield Message(path, text)


def literal_text(node: ast.expr) -> str | None:
    """A Python string expression with {} for its values, None if it is not a string."""
    if isinstance(node, ast.Constant):
        return node.value.replace("{", "{{").replace("}", "}}") if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(literal_text(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [literal_text(node.left), literal_text(node.right)]
        return (
            None if sides == [None, None] else "".join(side if side is not None else "{}" for side in sides)
        )
    return None


def messages_of_python(path: str, code: str) -> Iterator[Message]:
    """Texts of the exceptions raised in one Python file."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            text = literal_text(node.exc.args[0])
            if text and re.search(r"[A-Za-z]", PLACEHOLDER.sub("", text)):
                yield Message(path, " ".join(text.split()))


def collect(root: Path) -> list[Message]:
    """Every error text of the product, sorted, without duplicates."""
    found = set()
    for file in root.joinpath("tilewright").rglob("*"):
        if file.suffix in (".cc", ".h") and file.name != "error.h":
            found.update(messages_of_cpp(str(file.relative_to(root)), file.read_text()))
    for file in root.joinpath("python").rglob("*.py"):
        found.update(messages_of_python(str(file.relative_to(root)), file.read_text()))
    return sorted(found)


def normalise(text: str) -> str:
    """The text without escapes, with adjacent string literals joined and runs of blanks replaced by one."""
    text = re.sub(r'"\s*\n\s*[rfR]*"', "", text)
    return " ".join(text.replace("\\n", " ").replace("\\", "").split())


def tests_text(root: Path) -> str:
    files = [
        file
        for file in root.joinpath("tests").rglob("*")
        if file.suffix in (".py", ".cc", ".h", ".txt", ".c")
    ]
    return "\n".join(normalise(file.read_text(errors="replace")) for file in sorted(files))


def read_list(root: Path) -> list[str]:
    file = root / LIST
    if not file.exists():
        return []
    return [line for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]


def main() -> int:
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    folders = [word for word in sys.argv[1:] if not word.startswith("--")]
    root = Path(folders[0]) if folders else Path(__file__).resolve().parent.parent
    messages, tests, listed = collect(root), tests_text(root), read_list(root)
    untested = {str(message): message for message in messages if normalise(message.fragment) not in tests}

    if "--list" in options:
        for message in messages:
            print(" " if str(message) in untested else "+", message)
        return 0
    if "--shrink" in options:
        (root / LIST).write_text(LIST_HEADER + "".join(line + "\n" for line in listed if line in untested))
        return 0
    problems = [
        f"{line}: no test asserts `{message.fragment}`"
        for line, message in untested.items()
        if line not in listed
    ]
    problems += [
        f"{LIST}: tested or gone, take it off (--shrink): {line}" for line in listed if line not in untested
    ]
    summary = f"errors: {len(messages)} texts, {len(messages) - len(untested)} tested, {len(listed)} listed as untested"
    print("\n".join([*problems, summary]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
