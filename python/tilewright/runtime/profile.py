"""The cost of each call of a graph: VirtualMachine.profile."""

import dataclasses


@dataclasses.dataclass
class CallProfile:
    """All calls of one kernel or packed function.

    name         as in the compiled module
    num_calls    >= 1
    duration_us  of all its calls, microseconds
    bytes        of the tensors that its calls were given, read or written; 0 of packed functions
    nodes        names of the nodes of a model that it computes, of all its calls; none where no importer gave names
    """

    name: str
    num_calls: int
    duration_us: float
    bytes: int
    nodes: list[str] = dataclasses.field(default_factory=list)

    @property
    def gigabytes_per_s(self) -> float:
        """Bytes per time, in 10**9 bytes a second; 0 for a call too short to time."""
        return self.bytes / (self.duration_us * 1e3) if self.duration_us else 0.0


class Profile:
    """The cost of one call of a function, kernel by kernel, the longest first; str() is a table.

    calls        list of CallProfile
    duration_us  of the call as a whole, microseconds
    """

    def __init__(self, records, duration_us: float, nodes_of=lambda name: []):
        rows: dict = {}
        for name, nanoseconds, size in records:
            if name not in rows:
                rows[name] = CallProfile(name, 0, 0.0, 0, nodes_of(name))
            row = rows[name]
            row.num_calls += 1
            row.duration_us += nanoseconds / 1e3
            row.bytes += size
        self.calls = sorted(rows.values(), key=lambda row: (-row.duration_us, row.name))
        self.duration_us = duration_us

    def __str__(self) -> str:
        width = max([len("kernel"), *(len(row.name) for row in self.calls)])
        has_nodes = any(row.nodes for row in self.calls)
        lines = [f"{'kernel':<{width}}  calls  time (us)   share    GB/s{'  nodes' if has_nodes else ''}"]
        for row in self.calls:
            share = row.duration_us / self.duration_us if self.duration_us else 0.0
            lines.append(
                f"{row.name:<{width}}  {row.num_calls:>5}  {row.duration_us:>9.2f}  {share:>5.1%}  {row.gigabytes_per_s:>6.1f}  {_shown(row.nodes)}".rstrip()
            )
        rest = self.duration_us - sum(row.duration_us for row in self.calls)
        lines.append(f"{'between calls':<{width}}         {rest:>9.2f}")
        return "\n".join(lines)

    def as_json(self) -> str:
        """The same as JSON: {"duration_us": ..., "calls": [{"name", "num_calls", "duration_us", "bytes", "nodes"}]}."""
        import json

        return json.dumps({"duration_us": self.duration_us, "calls": [vars(row) for row in self.calls]})


def _shown(nodes: list[str]) -> str:
    """At most four names."""
    return ", ".join([*nodes[:4], f"... {len(nodes)} nodes"] if len(nodes) > 4 else nodes)
