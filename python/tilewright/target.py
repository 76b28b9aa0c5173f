"""Targets: what machine code is made for."""

from . import _core
from ._guard import guard
from .ir._nodes import classes

_TargetNode = classes["ir.Target"]


def Target(target, host=None):
    """The target that `target` describes: text ("llvm -mcpu=native"), a dict ({"kind": "llvm"}) or a Target.

    host     target of the host part of a device program; default none
    Raises   UserError for an unknown kind or attribute, naming the nearest
    >>> Target("llvm -num-cores=2")
    """
    if isinstance(target, _TargetNode):
        node = target
    elif isinstance(target, dict):
        import json

        node = _core.parse_target(json.dumps(target))
    else:
        node = _core.parse_target(str(target))
    return node.replace(host=Target(host)) if host is not None else node


_TargetNode.__str__ = lambda self: _core.target_str(self)
_TargetNode.__repr__ = lambda self: f'Target("{_core.target_str(self)}")'
_TargetNode.kind = property(lambda self: self.kind_name, doc='"llvm", "c", ...')


Target = guard("tilewright.Target", Target)
