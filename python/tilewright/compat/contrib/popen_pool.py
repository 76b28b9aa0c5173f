"""tvm.contrib.popen_pool: Python functions run in worker processes, with a time limit."""

import concurrent.futures
import enum
import multiprocessing
import os


class StatusKind(enum.Enum):
    """How a call ended."""

    RUNNING = 0
    COMPLETE = 1
    EXCEPTION = 2
    TIMEOUT = 3


class MapResult:
    """The end of one call: `status`, and its `value` or exception."""

    def __init__(self, status: StatusKind, value):
        self.status = status
        self.value = value


def _answer(pipe, func, args, kwargs) -> None:
    try:
        pipe.send((True, func(*args, **kwargs)))
    except BaseException as error:  # whatever happens in the worker is told
        pipe.send((False, error))


class PopenWorker:
    """One call at a time in a process of its own."""

    def __init__(self, initializer=None, initargs=(), maximum_uses=None, stdout=None, stderr=None):
        self._process = self._pipe = self._timeout = None

    def send(self, fn, args=(), kwargs=None, timeout=None) -> None:
        """Starts fn(*args, **kwargs) in a new process; it is ended after `timeout` seconds."""
        self.kill()
        self._pipe, theirs = multiprocessing.Pipe()
        self._timeout = timeout
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=_answer, args=(theirs, fn, args, kwargs or {}), daemon=True)
        self._process.start()
        theirs.close()

    def recv(self):
        """The result; raises what the call raised, TimeoutError, or ChildProcessError if the process died."""
        if not self._pipe.poll(self._timeout):
            self.kill()
            raise TimeoutError()
        try:
            is_result, value = self._pipe.recv()
        except EOFError:
            raise ChildProcessError("the worker process died") from None
        if not is_result:
            raise value
        return value

    def is_alive(self) -> bool:
        """True if the process runs."""
        return self._process is not None and self._process.is_alive()

    def kill(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


class PopenPoolExecutor:
    """Calls in up to `max_workers` processes at once, each given `timeout` seconds."""

    def __init__(
        self,
        max_workers=None,
        timeout=None,
        initializer=None,
        initargs=(),
        maximum_process_uses=None,
        stdout=None,
        stderr=None,
    ):
        self._timeout = timeout
        self._threads = concurrent.futures.ThreadPoolExecutor(max_workers or os.cpu_count())

    def _call(self, fn, args, kwargs):
        worker = PopenWorker()
        worker.send(fn, args, kwargs, self._timeout)
        try:
            return worker.recv()
        finally:
            worker.kill()

    def submit(self, fn, *args, **kwargs):
        """A future of fn(*args, **kwargs)."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def map_with_error_catching(self, fn, iterator):
        """A MapResult for each element of `iterator`, in order."""
        for future in [self.submit(fn, value) for value in iterator]:
            try:
                yield MapResult(StatusKind.COMPLETE, future.result())
            except TimeoutError as error:
                yield MapResult(StatusKind.TIMEOUT, error)
            except Exception as error:  # an exception of the call is its result
                yield MapResult(StatusKind.EXCEPTION, error)


NAMES = {
    "StatusKind": StatusKind,
    "MapResult": MapResult,
    "PopenWorker": PopenWorker,
    "PopenPoolExecutor": PopenPoolExecutor,
}
