"""Reads hostile files in forked children and says what was not refused with an error, or took too much memory."""

import contextlib
import dataclasses
import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from .generate import generate

BATCH, LIMIT_S = 50, 60
#: of a process with Python, numpy, onnx and tilewright in it
MOST_KB = 1 << 20


@dataclasses.dataclass
class Result:
    """What a file did: "" in `problem` if an error of ours, or a model, came of it."""

    seed: int
    kind: str
    problem: str = ""
    is_refused: bool = False


def check(seed: int, folder: Path) -> Result:
    """Imports the file of a seed, and compiles every tenth that is a model."""
    import tilewright
    from tilewright.frontend.onnx import from_onnx

    made = generate(seed)
    result = Result(seed, made.kind)
    path = folder / f"{os.getpid()}.onnx"
    path.write_bytes(made.data)
    try:
        module = from_onnx(path)
        if made.must_fail:
            result.problem = "it was imported"
        elif seed % 10 == 0:
            with contextlib.suppress(tilewright.UserError, tilewright.Unsupported):
                tilewright.compile(module)
    except (tilewright.UserError, tilewright.Unsupported):
        result.is_refused = True
    except BaseException as error:
        result.problem = f"{type(error).__name__}: {str(error)[:300]}"
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if most > MOST_KB and not result.problem:
        result.problem = f"{most >> 10} MB of memory"
    return result


class Child:
    """A fork that checks seeds and writes the number of each before, and its result after."""

    def __init__(self, seeds: list[int], folder: Path):
        self.seeds, self.began, self.is_done = seeds, None, False
        self.heard, self.buffer = time.monotonic(), b""
        self.pipe, writing = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(writing)
            return
        with contextlib.suppress(BaseException):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for seed in list(seeds):
                send(writing, seed)
                result = check(seed, folder)
                send(writing, result)
                if "of memory" in result.problem:
                    break  # the others begin with little memory again
        os._exit(0)

    def results(self) -> Iterator[Result]:
        piece = os.read(self.pipe, 1 << 16)
        self.heard = time.monotonic()
        self.buffer += piece
        while len(self.buffer) >= 4 and len(self.buffer) >= 4 + (size := int.from_bytes(self.buffer[:4])):
            message, self.buffer = pickle.loads(self.buffer[4 : 4 + size]), self.buffer[4 + size :]
            if isinstance(message, Result):
                self.seeds.remove(message.seed)
                self.began = None
                yield message
            else:
                self.began = message
        if not piece:
            yield from self._ended()

    def _ended(self) -> Iterator[Result]:
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        self.is_done = True
        if self.began is None:
            return
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status}"
        self.seeds.remove(self.began)
        yield Result(self.began, generate(self.began).kind, f"the process ended: {how}")


def send(pipe: int, message) -> None:
    data = pickle.dumps(message)
    data = len(data).to_bytes(4) + data
    while data:
        data = data[os.write(pipe, data) :]


def run_seeds(seeds, processes: int, folder: Path, seconds: float | None = None) -> Iterator[Result]:
    """The results in the order in which they come; no new batch begins after `seconds`."""
    end = time.monotonic() + seconds if seconds else float("inf")
    waiting = [list(seeds[n : n + BATCH]) for n in range(0, len(seeds), BATCH)][::-1]
    running: dict[int, Child] = {}
    while True:
        while waiting and len(running) < processes and time.monotonic() < end:
            child = Child(waiting.pop(), folder)
            running[child.pipe] = child
        if not running:
            return
        ready, _, _ = select.select(list(running), [], [], 1)
        for pipe, child in list(running.items()):
            if pipe in ready:
                yield from child.results()
            elif time.monotonic() - child.heard > LIMIT_S:
                os.kill(child.pid, signal.SIGKILL)
            if child.is_done:
                del running[pipe]
                if child.seeds:
                    waiting.append(child.seeds)
