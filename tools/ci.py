"""Runs the checks and tests in stages, one line each, and stops at the first stage that fails.

python tools/ci.py              the default stages, in the order below
python tools/ci.py cpp python   only these, in the order below
The output of a stage is in build/ci/STAGE.log; the end of it is printed if the stage fails.

Where TILEWRIGHT_CI_S says how many seconds there are (.ci/run does), the stages slow, sanitizers and threads, which come in another
order each day, are left out if they would not end in time on this machine; a line says so.
"""

import concurrent.futures
import dataclasses
import datetime
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "ci"
SANITIZER_RUNTIME = "libclang_rt.asan-x86_64.so"
#: seconds of the stage python on two free cores of an EPYC (Zen 4), by which the time of other stages is scaled
PYTHON_S = 1100
# pytest's exit code if a selection contains no test
NO_TESTS = 5


@dataclasses.dataclass
class Counts:
    """Test cases by outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclasses.dataclass
class Stage:
    """One stage of the report: commands that run one after the other; those of a list run two at a time."""

    name: str
    title: str
    commands: Callable[[], list["Command | list[Command]"]]
    limit_s: int
    is_default: bool = True  # False: runs only when named, e.g. make test STAGES=tidy
    expected_s: int = 0  # on a machine that needs PYTHON_S for the stage python; 0: it is never left out


@dataclasses.dataclass
class Command:
    words: list[str]
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    is_pytest: bool = False


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.splitlines() if (ROOT / name).exists()]


def environment(build: str) -> dict[str, str]:
    """The environment in which `import tilewright` and the command line use a build folder."""
    return {
        "PYTHONPATH": str(ROOT / build / "python"),
        "PATH": f"{ROOT / build / 'bin'}:{os.environ['PATH']}",
    }


def pytest(label: str, *words: str, build: str = "build", env: dict[str, str] | None = None) -> Command:
    results = f"--junitxml={LOGS / label}.xml"
    return Command(
        [sys.executable, "-m", "pytest", "-q", results, *words],
        environment(build) | (env or {}),
        is_pytest=True,
    )


def ctest(label: str, build: str, *words: str) -> Command:
    # each GoogleTest program reports its cases; ctest alone would count programs
    env = {"GTEST_OUTPUT": f"xml:{LOGS}/{label}-gtest/"}
    shutil.rmtree(LOGS / f"{label}-gtest", ignore_errors=True)
    return Command(
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=ignore", *words],
        environment(build) | env,
    )


def format_commands() -> list[Command]:
    return [
        Command(["clang-format-19", "--dry-run", "--Werror", *tracked("*.cc", "*.h", "*.c")]),
        Command([sys.executable, "-m", "ruff", "format", "--check", "."]),
        Command([sys.executable, "-m", "ruff", "check", "."]),
        Command(
            [
                sys.executable,
                "-m",
                "codespell_lib",
                *tracked("*.cc", "*.h", "*.py", "*.md", "*.txt", "*.toml"),
            ]
        ),
    ]


def layout_commands() -> list[Command]:
    return [
        Command([sys.executable, f"tools/{tool}.py"])
        for tool in ("check_layers", "check_includes", "check_sizes", "check_tests", "error_inventory")
    ]


def python_commands() -> list[Command]:
    slow_folders = [f"--ignore=tests/{folder}" for folder in ("models", "examples", "install")]
    return [pytest("python", "-n", "2", "--round-trip", "-m", "not slow", *slow_folders, "tests")]


def sanitizer_commands() -> list[Command]:
    """The C++ tests and, each day, an eighth of the fast Python tests under the address and undefined behaviour sanitizers.

    Of a test with many cases some run.
    make test STAGES=sanitizers TILEWRIGHT_SANITIZED_ONE_OF=1                                     each test
    make test STAGES=sanitizers TILEWRIGHT_SANITIZED_ONE_OF=1 TILEWRIGHT_SANITIZED_CASES=1000     all cases
    """
    find_runtime = ["clang++-19", f"-print-file-name={SANITIZER_RUNTIME}"]
    runtime = subprocess.run(find_runtime, capture_output=True, text=True, check=True).stdout.strip()
    # Python itself is not instrumented, so the sanitizer's runtime must be loaded first, and Python's leaks
    # are ignored
    env = {"ASAN_OPTIONS": "detect_leaks=0:detect_odr_violation=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    # these mostly run compiled code, which is not instrumented
    left_out = ("models", "examples", "install", "tools", "devices", "emulation", "compat/test_course.py")
    folders = [f"--ignore=tests/{name}" for name in left_out]
    python = pytest(
        "sanitizers",
        "-n",
        "2",
        f"--one-of={os.environ.get('TILEWRIGHT_SANITIZED_ONE_OF', '8')}",
        f"--cases-per-test={os.environ.get('TILEWRIGHT_SANITIZED_CASES', '2')}",
        "-m",
        "not slow and not peers",
        *folders,
        "tests",
        build="build-asan",
        env=env,
    )
    python.env["LD_PRELOAD"] = runtime
    return [
        Command(["tools/build.sh", "asan-ubsan"]),
        ctest("sanitizers-cpp", "build-asan", "-j2"),
        python,
    ]


def threads_commands() -> list[Command]:
    """The layers that start threads, under the thread sanitizer."""
    tests = [folder for folder in ("runtime", "tune") if list((ROOT / "tests" / folder).glob("*_test.cc"))]
    if not tests:
        return []
    return [
        Command(["tools/build.sh", "tsan", *[f"{name}_test" for name in tests]]),
        ctest("threads", "build-tsan", "-R", "^(" + "|".join(tests) + ")$"),
    ]


def existing(*folders: str) -> list[str]:
    return [folder for folder in folders if (ROOT / folder).is_dir()]


def example_commands() -> list[Command]:
    """The demo as a user runs it, and the tests of examples and installation."""
    folders = existing("tests/examples", "tests/install")
    demo = Command([sys.executable, "examples/fashion_mnist/demo.py"], environment("build"))
    return [demo] + ([pytest("examples", *folders)] if folders else [])


def no_llvm_commands() -> list[Command]:
    """Only target c: CMake's TILEWRIGHT_LLVM=OFF."""
    return [
        Command(["tools/build.sh", "no-llvm"]),
        pytest("no-llvm", "tests/driver/test_without_llvm.py", build="build-no-llvm"),
    ]


def model_commands() -> list[list[Command]]:
    """Real models; random ones with symbolic extents, called with matching and contradicting shapes; random single nodes
    beside two references; files that were made to do harm.  Of what is random a different sample each day.

    Whole campaigns: python -m random_nodes 0 5000, python -m hostile_files 0 20000
    """
    env = environment("build")
    env["PYTHONPATH"] += f":{ROOT / 'tests'}"
    return [
        [
            pytest("models", "tests/models"),
            Command([sys.executable, "-m", "open_models", "--today", "40"], env),
            Command([sys.executable, "-m", "random_nodes", "--today", "20", "--processes", "1"], env),
            Command([sys.executable, "-m", "hostile_files", "--today", "20", "--processes", "1"], env),
        ]
    ]


def slow_commands() -> list[Command]:
    """All tests marked slow, and the fuzzers for longer than in the fast set.

    TILEWRIGHT_FUZZ_SEED=fresh make test STAGES=slow    uses new seeds each time; they are in the log
    """
    # the examples stage ran the tests of examples and install, one after the other since they share dist/
    elsewhere = [f"--ignore=tests/{folder}" for folder in ("examples", "install")]
    fuzzers = [
        Command(
            [f"build/bin/{program}", f"--gtest_filter={tests}", f"--gtest_output=xml:{LOGS}/{program}.xml"],
            env,
        )
        for program, tests, env in FUZZERS
    ]
    return [pytest("slow", "-n", "2", "-m", "slow", *elsewhere, "tests"), fuzzers]


# test program, its tests, how long: about a million cases of arithmetic, thousands of schedules and files
FUZZERS = [
    ("fuzz_test", "*", {"TILEWRIGHT_FUZZ_CASES": "100000"}),
    ("file_fuzz_test", "*", {"TILEWRIGHT_FUZZ_CASES": "20000"}),
    ("schedule_test", "*Fuzz*", {"TILEWRIGHT_FUZZ_RUNS": "40"}),
    ("lower_test", "Steps.*", {"TILEWRIGHT_FUZZ_RUNS": "40"}),
    ("codegen_test", "*Fuzz*", {"TILEWRIGHT_FUZZ_CASES": "40"}),
]

STAGES = [
    Stage("format", "formatters and linters", format_commands, 120),
    Stage("layout", "layers, sizes, tests, error inventory", layout_commands, 120),
    Stage("build", "build, warnings are errors", lambda: [Command(["tools/build.sh", "release"])], 2400),
    Stage("cpp", "C++ tests", lambda: [ctest("cpp", "build", "-j2")], 600),
    Stage("python", "fast Python tests", python_commands, 2700),
    Stage("examples", "the demo, examples, install", example_commands, 2400),
    Stage("models", "real, random and hostile models", model_commands, 1200),
    Stage("slow", "slow tests and fuzzers", slow_commands, 2100, expected_s=750),
    Stage(
        "sanitizers", "address and undefined behaviour sanitizers", sanitizer_commands, 3000, expected_s=1000
    ),
    Stage("threads", "thread sanitizer", threads_commands, 1200, expected_s=450),
    Stage("no-llvm", "a build without LLVM", no_llvm_commands, 2400, False),
    Stage(
        "tidy",
        "clang-tidy on changed files",
        lambda: [Command([sys.executable, "tools/tidy.py"])],
        900,
        False,
    ),
]


def run_beside(commands: list[Command], log, limit_s: float) -> str:
    """'' if all commands, run two at a time, succeeded, else the reason of one.  `log` gets the output of each as a whole."""

    def run(command: Command) -> tuple[str, str]:
        with tempfile.TemporaryFile("w+", errors="replace") as own_log:
            failure = run_command(command, own_log, limit_s)
            own_log.seek(0)
            return failure, own_log.read()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        # the end of the log is shown: failures come last
        results = sorted(pool.map(run, commands), key=lambda result: bool(result[0]))
    for _, printed in results:
        log.write(printed)
    return results[-1][0]


def run_command(command: Command | list[Command], log, limit_s: float) -> str:
    """'' if the command succeeded, else the reason.  Its whole process group ends with it."""
    if isinstance(command, list):
        return run_beside(command, log, limit_s)
    log.write(f"$ {' '.join(command.words)[:400]}\n")
    log.flush()
    env = os.environ | command.env
    process = subprocess.Popen(
        command.words,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        code = process.wait(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"did not end within its stage's {limit_s:.0f} s"
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if code == 0 or (command.is_pytest and code == NO_TESTS):
        return ""
    return f"exit code {code}"


def read_counts(file: Path) -> Counts:
    """Adds up the suites of one JUnit XML file; pytest's and GoogleTest's forms."""
    counts = Counts()
    for suite in xml.etree.ElementTree.parse(file).getroot().iter("testsuite"):
        number = {
            key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped", "disabled")
        }
        failed = number["failures"] + number["errors"]
        skipped = number["skipped"] + number["disabled"]
        counts += Counts(number["tests"] - failed - skipped, failed, skipped)
    return counts


def collect_counts(since: float) -> Counts:
    counts = Counts()
    for file in LOGS.rglob("*.xml"):
        if file.stat().st_mtime >= since:
            counts += read_counts(file)
    return counts


def run_stage(stage: Stage) -> tuple[bool, Counts]:
    start, started_at = time.monotonic(), time.time() - 1
    log_file = LOGS / f"{stage.name}.log"
    for old in LOGS.rglob("*.xml"):
        old.unlink()
    failure = ""
    with log_file.open("w") as log:
        for command in stage.commands():
            failure = run_command(command, log, stage.limit_s - (time.monotonic() - start))
            if failure:
                break
    counts = collect_counts(started_at)
    number = f"{counts.passed} passed" if counts.passed or counts.skipped else ""
    if counts.skipped:
        number += f", {counts.skipped} skipped"
    if counts.failed:
        number += f", {counts.failed} failed"
    verdict = "FAILED" if failure else "ok"
    print(f"{stage.title:<45}{verdict:<8}{time.monotonic() - start:7.1f} s  {number}", flush=True)
    if failure:
        tail = log_file.read_text(errors="replace").splitlines()[-40:]
        print("\n".join(f"    {line}" for line in tail))
        print(f"    {stage.name}: {failure}; all of it is in {log_file.relative_to(ROOT)}", flush=True)
        counts.failed = max(counts.failed, 1)
    return not failure, counts


def in_order_of_day(stages: list[Stage], day: int) -> list[Stage]:
    """Those that may be left out last, another one of them first each day."""
    first = [stage for stage in stages if not stage.expected_s]
    last = [stage for stage in stages if stage.expected_s]
    turn = day % len(last) if last else 0
    return first + last[turn:] + last[:turn]


def is_left_out(stage: Stage, elapsed_s: float, python_s: float, budget_s: float) -> bool:
    """True if the stage would not end within the budget on a machine that took `python_s` for the stage python."""
    return bool(stage.expected_s) and elapsed_s + stage.expected_s * python_s / PYTHON_S > budget_s


def main() -> int:
    wanted = sys.argv[1:]
    unknown = sorted(set(wanted) - {stage.name for stage in STAGES})
    if unknown:
        print(
            f"ci: unknown stage {unknown[0]}; there are {' '.join(stage.name for stage in STAGES)}",
            file=sys.stderr,
        )
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    total, ok = Counts(), True
    budget_s, python_s = float(os.environ.get("TILEWRIGHT_CI_S", "inf")), float(PYTHON_S)
    today = datetime.datetime.now(tz=datetime.UTC).toordinal()
    for stage in in_order_of_day(STAGES, today):
        if stage.name not in wanted and (wanted or not stage.is_default):
            continue
        began = time.monotonic()
        if is_left_out(stage, began - start, python_s, budget_s):
            print(f"{stage.title:<45}left out: {began - start:.0f} of {budget_s:.0f} s are over", flush=True)
            continue
        ok, counts = run_stage(stage)
        if stage.name == "python":
            python_s = time.monotonic() - began
        total += counts
        if not ok:
            break
    print(f"total {time.monotonic() - start:.0f} s")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
