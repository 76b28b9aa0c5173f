"""Targets: what machine code is made for."""

from typing import NamedTuple

from . import _core
from ._guard import guard
from .errors import UserError
from .ir._nodes import classes

_TargetNode = classes["ir.Target"]


def Target(target, host=None):
    """The target that `target` describes: text ("llvm -mcpu=native"), a dict ({"kind": "llvm"}) or a Target.

    host     target of the host part of a device program, in a dict also its item "host"; default none, this machine
    Raises   UserError for an unknown kind or attribute, naming the nearest, and for a host that is a GPU
    >>> Target("llvm -num-cores=2")
    """
    if isinstance(target, _TargetNode):
        node = target
    elif isinstance(target, dict):
        import json

        attrs = {name: value for name, value in target.items() if name != "host"}
        node = _core.parse_target(json.dumps(attrs))
        host = target.get("host") if host is None else host
    else:
        node = _core.parse_target(str(target))
    if host is None:
        return node
    host = Target(host)
    if _core.is_gpu(host):
        raise UserError(
            f'Target: the host of {_core.target_str(node)} is {host.kind_name}, a GPU\nhelp: name what launches kernels, e.g. host="llvm"'
        )
    return node.replace(host=host)


_TargetNode.__str__ = lambda self: _core.target_str(self)
_TargetNode.__repr__ = lambda self: f'Target("{_core.target_str(self)}")'
_TargetNode.kind = property(lambda self: self.kind_name, doc='"llvm", "c", ...')


def from_device(device, host=None) -> _TargetNode:
    """The target of a device of this machine, with the properties that its driver tells.

    device  a device or its name, e.g. "cuda:0"; "cpu" gives "llvm"
    host    target of the host part; default none
    Raises  UserError if there is no such device
    >>> tilewright.Target.from_device("cpu:0")
    """
    found = _core.Device(device)
    if not found.exist:
        raise UserError(
            f"Target.from_device: there is no device {found}\n"
            'help: name the machine instead, e.g. Target("nvidia/nvidia-h100")'
        )
    return Target(_core.target_of_device(found, "Target.from_device"), host)


Target = guard("tilewright.Target", Target)
Target.from_device = guard("tilewright.Target.from_device", from_device)


class Feature(NamedTuple):
    """One fact about a machine: a number or a bool, its unit, its meaning and its source."""

    value: int | float | bool
    unit: str
    doc: str
    source: str


def features(target="llvm") -> dict[str, Feature]:
    """The facts that default schedules and graph passes use about the machine that `target` makes code for, by name.

    target   text, a dict or a Target; default this machine
    Raises   UserError and Unsupported as Target and build do
    >>> tilewright.target.features("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")["l1_bytes"].value
    32768
    """
    return {name: Feature(*feature) for name, *feature in _core.target_features(Target(target))}


features = guard("tilewright.target.features", features)


def costs() -> dict[str, Feature]:
    """The numbers of the estimates that decide how fast code is and that no description of hardware gives, by name.

    Each was measured once, or fitted: its `source` says on what. They are the same for all targets, and fixed.

    >>> tilewright.target.costs()["packed_uses"].value
    4
    """
    return {name: Feature(*cost) for name, *cost in _core.target_costs()}


costs = guard("tilewright.target.costs", costs)
