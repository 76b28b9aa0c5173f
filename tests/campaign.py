"""Checks many seeds in forked children, some after each other in every child: a crash is a result, and the others go on."""

import argparse
import collections
import contextlib
import dataclasses
import datetime
import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator


@dataclasses.dataclass(frozen=True)
class Campaign:
    """What is done with a seed.

    check    of (seed, tell): its result, any object that pickle takes; tell(stage) names what the child does now
    crashed  of (seed, stage, how): the result of a seed whose child ended
    is_last  of a result: the child ends after it, and the seeds that are left get a new one
    batch    seeds of one child
    limit_s  a child that says nothing for so long is killed
    today    seeds of one day
    """

    check: Callable
    crashed: Callable
    is_last: Callable = lambda result: False
    batch: int = 50
    limit_s: float = 60
    today: int = 10_000

    def results(self, seeds, processes: int, seconds: float | None = None) -> Iterator:
        """The results, in the order in which they come; no new batch begins after `seconds`."""
        end = time.monotonic() + seconds if seconds else float("inf")
        waiting = [list(seeds[n : n + self.batch]) for n in range(0, len(seeds), self.batch)][::-1]
        running: dict[int, Child] = {}
        while True:
            while waiting and len(running) < processes and time.monotonic() < end:
                child = Child(self, waiting.pop(), end)
                running[child.pipe] = child
            if not running:
                return
            ready, _, _ = select.select(list(running), [], [], 1)
            for pipe, child in list(running.items()):
                if pipe in ready:
                    yield from child.results()
                else:
                    child.kill_if_it_hangs()
                if child.is_done:
                    del running[pipe]
                    if child.seeds:
                        waiting.append(child.seeds)


class Child:
    """A fork that checks `seeds` until `end`; it writes what it does, and results, to a pipe."""

    def __init__(self, campaign: Campaign, seeds: list[int], end: float):
        self.campaign, self.seeds, self.is_done = campaign, seeds, False
        self.began: tuple | None = None  # the seed that it is at, and the stage
        self.heard, self.buffer = time.monotonic(), b""
        self.pipe, writing = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(writing)
            return
        with contextlib.suppress(BaseException):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.close(self.pipe)
            self._work(writing, end)
        os._exit(0)

    def _work(self, pipe: int, end: float) -> None:
        for seed in list(self.seeds):
            if time.monotonic() > end:
                return
            send(pipe, ("began", seed, ""))
            result = self.campaign.check(seed, lambda stage, seed=seed: send(pipe, ("began", seed, stage)))
            send(pipe, ("result", seed, result))
            if self.campaign.is_last(result):
                return

    def results(self) -> Iterator:
        """The results that have come since the last call."""
        piece = os.read(self.pipe, 1 << 16)
        self.heard = time.monotonic()
        self.buffer += piece
        while len(self.buffer) >= 4 and len(self.buffer) >= 4 + (size := int.from_bytes(self.buffer[:4])):
            kind, seed, said = pickle.loads(self.buffer[4 : 4 + size])
            self.buffer = self.buffer[4 + size :]
            if kind == "began":
                self.began = (seed, said)
            else:
                self.seeds.remove(seed)
                self.began = None
                yield said
        if not piece:
            yield from self._ended()

    def _ended(self) -> Iterator:
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        self.is_done = True
        if self.began is None:
            return
        code = os.waitstatus_to_exitcode(status)
        how = signal.Signals(-code).name if code < 0 else f"exit {code}"
        seed, stage = self.began
        self.seeds.remove(seed)
        yield self.campaign.crashed(seed, stage, how)

    def kill_if_it_hangs(self) -> None:
        if time.monotonic() - self.heard > self.campaign.limit_s:
            os.kill(self.pid, signal.SIGKILL)


def send(pipe: int, message) -> None:
    data = pickle.dumps(message)
    data = len(data).to_bytes(4) + data
    while data:
        data = data[os.write(pipe, data) :]


class Command:
    """The command line of a campaign: FIRST [COUNT], --today SECONDS, --processes N."""

    def __init__(self, name: str, text: str, campaign: Campaign):
        self.campaign = campaign
        self.parser = argparse.ArgumentParser(prog=name, description=text)
        self.parser.add_argument("first", type=int, nargs="?", default=0)
        self.parser.add_argument("count", type=int, nargs="?", default=1)
        self.parser.add_argument(
            "--today", type=float, metavar="SECONDS", help="seeds of this day, for so long"
        )
        self.parser.add_argument("--processes", type=int, default=2)

    def parse(self) -> None:
        self.options = self.parser.parse_args()
        if self.options.today:
            day = datetime.datetime.now(tz=datetime.UTC).toordinal()
            self.options.first, self.options.count = day * 100_000, self.campaign.today

    def seeds(self) -> range:
        return range(self.options.first, self.options.first + self.options.count)

    def results(self, seeds) -> Iterator:
        self.began = time.monotonic()
        yield from self.campaign.results(seeds, self.options.processes, self.options.today)

    def summary(self, kind: str) -> str:
        """ "models from seed 7 on in 60 s"."""
        return f"{kind} from seed {self.options.first} on in {time.monotonic() - self.began:.0f} s"


def print_left_out(reasons_of: dict[str, collections.Counter]) -> int:
    """Prints why models of each operator were left out, one reason of each, and returns their number."""
    for operator, reasons in sorted(reasons_of.items()):
        reason, _ = reasons.most_common(1)[0]
        print(f"left out: {reasons.total()} of {operator}, e.g. {reason}")
    return sum(reasons.total() for reasons in reasons_of.values())
