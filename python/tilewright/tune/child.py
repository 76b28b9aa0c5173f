"""Processes in which candidates run: one that crashes, hangs or takes all memory ends, and nothing else does."""

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from ..errors import Error


class ChildFailed(Exception):
    """The child ended or was ended; the text says why."""


def reason_of(error: Exception) -> str:
    """The first line of an error's text, after the name of its class if it is neither tilewright's nor ChildFailed."""
    lines = str(error).splitlines()
    text = lines[0].removeprefix("error: ") if lines else ""
    if text and isinstance(error, Error | ChildFailed):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _end_of(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    texts = {
        "SIGSEGV": "it read or wrote outside of memory",
        "SIGILL": "it used an instruction that this processor lacks",
        "SIGKILL": "it was killed, e.g. for lack of memory",
        "SIGFPE": "it divided by zero",
        "SIGABRT": "it aborted",
    }
    return f"{texts.get(name, 'it ended')} ({name})"


class Child:
    """One process that serves jobs, and starts again after one that ended it.

    memory_mb  limit of its address space in MiB; default 0: none
    """

    def __init__(self, memory_mb: int = 0):
        self.memory_mb = memory_mb
        self._process = None
        self._lock = threading.Lock()

    def _start(self) -> None:
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        environment = os.environ | {
            "TILEWRIGHT_TUNE_FDS": f"{to_child},{from_child}",
            "TILEWRIGHT_TUNE_MEMORY_MB": str(self.memory_mb),
            "PYTHONPATH": os.pathsep.join(
                [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tilewright.tune.worker"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # so that output of candidates does not mix with that of the program
            stderr=subprocess.DEVNULL,
            env=environment,
            pass_fds=(to_child, from_child),
            start_new_session=True,
        )
        os.close(to_child)
        os.close(from_child)

    def _receive(self, count: int, deadline: float) -> bytes:
        data = b""
        while len(data) < count:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            piece = os.read(self._read, count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def run(self, job, timeout: float):
        """The result of `job`, a tuple that the worker knows; `timeout` is in seconds.

        Raises ChildFailed if the process ended or took too long, or the job raised an error.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._close()
                self._start()
            message = pickle.dumps(job)
            try:
                # a new process imports the package first
                deadline = time.monotonic() + timeout + 30
                os.write(self._write, struct.pack("<Q", len(message)))
                sent = 0
                while sent < len(message):
                    sent += os.write(self._write, message[sent : sent + 65536])
                self._receive(1, deadline)  # the job begins
                deadline = time.monotonic() + timeout
                (size,) = struct.unpack("<Q", self._receive(8, deadline))
                failed, result = pickle.loads(self._receive(size, deadline))
            except TimeoutError:
                self._kill()
                raise ChildFailed(f"it took longer than {timeout:g} s") from None
            except (EOFError, BrokenPipeError):
                code = self._process.wait()
                self._close()
                raise ChildFailed(_end_of(code)) from None
            except BaseException:  # e.g. Ctrl-C: its answer must not be taken for that to the next job
                self._kill()
                raise
            if failed:
                raise ChildFailed(result)
            return result

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        if self._process is not None:
            os.close(self._read)
            os.close(self._write)
            self._process = None

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            if self._process is not None:
                self._kill()
