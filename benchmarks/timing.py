"""Measures calls, processes and programs."""

import json
import os
import statistics
import subprocess
import sys
import time

SLICE_S = 0.1
PAUSE_S = 0.02


class Worker:
    """A process that prints "ready", and then answers each line of input with a line of JSON; it ends when the pipe is closed."""

    def __init__(self, words: list[str], env: dict[str, str]):
        self.process = subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        while (line := self.process.stdout.readline()).strip() != "ready":  # other output may come before
            if not line:
                raise RuntimeError(f"{words[1]} ended with code {self.process.wait()}")

    def ask(self, question: str):
        print(question, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def times_of_slice(self, seconds: float) -> list[float]:
        return self.ask(f"slice {seconds}")


def summary(times: list[float]) -> dict[str, float]:
    """Median and spread in microseconds."""
    values = sorted(value * 1e6 for value in times)
    last = len(values) - 1
    return {
        "median_us": statistics.median(values),
        "p10_us": values[round(last * 0.1)],
        "p90_us": values[round(last * 0.9)],
        "num_calls": len(values),
    }


def times_of_calls(call, seconds: float) -> list[float]:
    """Seconds of successive calls, after one warm-up call."""
    times = []
    call()
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        call()
        times.append(time.perf_counter() - start)
    return times


def times_of_slice(call) -> list[float]:
    """Times of calls during SLICE_S, after a pause in which the previous peer's threads go to sleep."""
    time.sleep(PAUSE_S)
    if hasattr(call, "times_of_slice"):  # a peer in another process
        return call.times_of_slice(SLICE_S)
    return times_of_calls(call, SLICE_S)


def time_in_rounds(calls: dict, seconds: float) -> dict[str, dict]:
    """Alternates slices of all peers until each has had `seconds`: "figures" of all calls and medians of the "rounds"."""
    times: dict[str, list[float]] = {peer: [] for peer in calls}
    rounds: dict[str, list[float]] = {peer: [] for peer in calls}
    for round_number in range(1 + max(1, round(seconds / SLICE_S))):
        for peer, call in calls.items():
            slice_times = times_of_slice(call)
            if round_number > 0:  # the first round is a warm-up
                times[peer] += slice_times
                rounds[peer].append(statistics.median(slice_times) * 1e6)
    return {"figures": {peer: summary(values) for peer, values in times.items()}, "rounds": rounds}


def seconds_of_process(code: str, cache: str = "") -> float:
    """Seconds that a new process takes; compiled kernels are cached in the folder `cache`, or not at all."""
    env = os.environ | ({"TILEWRIGHT_CACHE_DIR": cache, "TILEWRIGHT_CACHE_MB": "500"} if cache else {})
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdin=subprocess.DEVNULL, env=env)
    return time.perf_counter() - start


def seconds_of_call(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak_bytes(code: str) -> int:
    """The peak memory of a process that runs this program."""
    # VmHWM counts this program alone; ru_maxrss would include the parent before exec
    code += "; print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    process = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return int(process.stdout.split()[-1]) * 1024


def time_calls(call) -> dict[str, float]:
    """Seconds per call, one figure per thousand calls, so that the time to read the clock does not matter."""
    times = []
    for _ in range(200):
        start = time.perf_counter()
        for _ in range(1000):
            call()
        times.append((time.perf_counter() - start) / 1000)
    return summary(times)


def seconds_of_benchmark(program: str, name: str) -> list[float]:
    """Seconds per call according to 20 runs of a benchmark of a C++ program."""
    flags = ["--benchmark_repetitions=20", "--benchmark_min_time=0.05", "--benchmark_format=json"]
    done = subprocess.run(
        [program, f"--benchmark_filter=^{name}$", *flags], capture_output=True, text=True, check=True
    )
    runs = json.loads(done.stdout)["benchmarks"]
    return [run["real_time"] * 1e-9 for run in runs if run["run_type"] == "iteration"]
