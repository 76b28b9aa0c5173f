"""tvm.target.Target: a class whose objects are tilewright's targets, and the current one of a `with` statement."""

import tilewright as tw
from tilewright._stack import ContextStack
from tilewright.errors import UserError
from tilewright.ir._nodes import classes

_TargetNode = classes["ir.Target"]
_open = ContextStack()


class _TargetClass(type):
    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, _TargetNode)


class Target(metaclass=_TargetClass):
    """Target("llvm -num-cores 2"), Target({"kind": "llvm"}), Target("llvm", host="llvm")."""

    def __new__(cls, target, host=None):
        return tw.Target(target, host)

    @staticmethod
    def current(allow_none: bool = True):
        """The target of the innermost `with` statement; None outside of any, or an error without allow_none."""
        if _open.top is not None or allow_none:
            return _open.top
        raise UserError("there is no current target\nhelp: write it inside `with Target(...):`")


def _enter(self):
    return _open.push(self)


def _exit(self, *exception) -> None:
    _open.pop()


def target_or_current(target):
    """`target`, else the current one, else llvm."""
    return target or Target.current() or "llvm"


def add() -> None:
    """Lets targets stand in `with` statements."""
    _TargetNode.__enter__, _TargetNode.__exit__ = _enter, _exit
