"""The program behind `tilewright quantize`."""

import dataclasses
import json
import math
from pathlib import Path
from types import SimpleNamespace

from ..errors import UserError
from .file import ModelFile
from .program import run_program, threads_set
from .quantization import Quantized, quantize
from .runs import inputs_for, read_arrays


def report_of(made: Quantized) -> str:
    """The errors as JSON; an infinite SQNR is null."""
    layers = [dataclasses.asdict(layer) for layer in made.layers]
    for layer in layers:
        layer["sqnr_db"] = layer["sqnr_db"] if math.isfinite(layer["sqnr_db"]) else None
    return json.dumps({"layers": layers, "not_quantized": made.left, "notes": made.notes}, indent=2) + "\n"


def _run(asked: SimpleNamespace) -> int:
    model = ModelFile(asked.model)
    examples = inputs_for(model, read_arrays(asked.calibration), asked.calibration)
    with threads_set(asked.threads):
        made = quantize(
            model, examples, asked.output, method=asked.method, weight_bits=asked.weight_bits, keep=asked.keep
        )
    print(made)
    if asked.report:
        try:
            Path(asked.report).write_text(report_of(made))
        except OSError as error:
            raise UserError(
                f'"{asked.report}" cannot be written: {error.strerror}\nhelp: name another file'
            ) from None
    before = Path(asked.model).stat().st_size
    print(f"wrote {asked.output}: {len(made.data):,} bytes, {asked.model} has {before:,}")
    return 0


def main(options: str) -> int:
    """Runs the command with its options as JSON, which tilewright/cli/commands/quantize.cc writes; returns the exit code."""
    return run_program(_run, options)
