"""Errors of hybrid scripts: the text, the place, the line and a caret below it."""

from tilewright.errors import Unsupported, UserError


class Source:
    """Where the function of a hybrid script is written."""

    def __init__(self, filename: str, first_line: int, lines: list, removed: int):
        self.filename, self.first_line, self.lines, self.removed = filename, first_line, lines, removed

    def _text(self, node, message: str, help_text: str) -> str:
        line = self.lines[node.lineno - 1].rstrip("\n")
        number = self.first_line + node.lineno - 1
        start = node.col_offset
        end = node.end_col_offset if node.end_lineno == node.lineno else len(line)
        shown = f"{number:>4} | {line}\n     | {' ' * start}{'^' * max(end - start, 1)}"
        place = f"  {self.filename}:{number}:{start + self.removed + 1}"
        return f"{message}\n{place}\n{shown}" + (f"\nhelp: {help_text}" if help_text else "")

    def error(self, node, message: str, help_text: str = "") -> UserError:
        """What is wrong with the program at `node`."""
        return UserError("error: " + self._text(node, message, help_text))

    def unsupported(self, node, message: str, help_text: str = "") -> Unsupported:
        """What a hybrid script cannot say at `node`."""
        return Unsupported("unsupported: " + self._text(node, message, help_text))
