"""The state of a schedule: its tree of loops and blocks, dependences, properties of blocks."""


class State:
    """The program of a schedule as steps see it; asking leaves no trace.

    print(sch.state) shows functions, loops and blocks, and behind # the handles that point at them; the letters of a block are
    its axes: S spatial, R reduce, C scan, O opaque.
    """

    def __init__(self, schedule):
        self._schedule = schedule

    def __str__(self) -> str:
        return self._schedule._core.tree_text()

    __repr__ = __str__

    @property
    def mod(self):
        """The program as it is now."""
        return self._schedule.mod

    def dependences(self, scope="root") -> list[tuple[str, str, str, str]]:
        """(block, later block, "RAW" | "WAR" | "WAW", buffer) for blocks directly inside of block `scope`, by whole buffers.

        scope  a block, by handle or name; default the root block
        >>> tilewright.Schedule(MyModule).state.dependences()
        """
        return self._schedule._core.dependences(scope)

    def properties(self, block) -> dict[str, str]:
        """{property that steps ask of a block: the reason why it does not hold, "" if it does}.

        block  by handle or name
        >>> tilewright.Schedule(MyModule).state.properties("C")
        """
        return dict(self._schedule._core.properties(block))
