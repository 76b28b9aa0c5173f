"""Models in forked children, some one after the other in each: a crash is a result, and the others go on."""

import contextlib
import os
import pickle
import select
import signal
import struct
import time
from collections.abc import Iterator

from .check import Result, check
from .generate import generate

BATCH, LIMIT_S = 25, 120


class Child:
    """A fork that checks `seeds` until `end`, and writes what it does, and results, to a pipe."""

    def __init__(self, seeds: list[int], end: float):
        self.seeds, self.began, self.is_done = seeds, None, False
        self.heard = time.monotonic()
        self.pipe, writing = os.pipe()
        self.buffer = b""
        self.pid = os.fork()
        if self.pid:
            os.close(writing)
            return
        with contextlib.suppress(BaseException):
            os.close(self.pipe)
            for seed in list(seeds):
                if time.monotonic() < end:
                    send(
                        writing, check(generate(seed), lambda stage, seed=seed: send(writing, (seed, stage)))
                    )
        os._exit(0)

    def results(self) -> Iterator[Result]:
        """Returns the lines that have come since the last call."""
        piece = os.read(self.pipe, 1 << 16)
        self.buffer += piece
        self.heard = time.monotonic()
        while len(self.buffer) >= 4 and len(self.buffer) >= 4 + self._size():
            message = pickle.loads(self.buffer[4 : 4 + self._size()])
            self.buffer = self.buffer[4 + self._size() :]
            if isinstance(message, Result):
                self.seeds.remove(message.seed)
                self.began = None
                yield message
            else:
                self.began = message
        if not piece:
            yield from self._ended()

    def _size(self) -> int:
        return struct.unpack("<I", self.buffer[:4])[0]

    def _ended(self) -> Iterator[Result]:
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        self.is_done = True
        if self.began is None:
            return
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status}"
        seed, stage = self.began
        self.seeds.remove(seed)
        result = Result(seed, generate(seed).operator)
        if stage == "ours":
            result.problems = [f"CRASH: {how}"]
        else:
            result.unsupported = f"onnxruntime: {how}"
        yield result

    def kill_if_it_hangs(self) -> None:
        if time.monotonic() - self.heard > LIMIT_S:
            os.kill(self.pid, signal.SIGKILL)


def send(pipe: int, message) -> None:
    data = pickle.dumps(message)
    data = struct.pack("<I", len(data)) + data
    while data:
        data = data[os.write(pipe, data) :]


def run_seeds(seeds, processes: int, seconds: float | None) -> Iterator[Result]:
    """The results, in the order in which they come; no new model begins after `seconds`."""
    end = time.monotonic() + seconds if seconds else float("inf")
    waiting = [list(seeds[n : n + BATCH]) for n in range(0, len(seeds), BATCH)][::-1]
    running: dict[int, Child] = {}
    while True:
        while waiting and len(running) < processes and time.monotonic() < end:
            child = Child(waiting.pop(), end)
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
