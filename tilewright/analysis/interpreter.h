// The reference interpreter: runs loop programs slowly and exactly, and notices what a fast run would hide.
// It is the oracle of the tests and of Schedule::verify.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "tilewright/ir/module.h"
#include "tilewright/runtime/function.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// What a C function called by T.call_extern gets; pointers are addresses of elements in memory of the
/// program.
using ExternFunction = std::function<runtime::Value(runtime::Args)>;

struct InterpretOptions {
  bool check_uninitialised = true;  // an element that was never written is used; copies pass it on
  bool check_regions = true;        // a block reads or writes what its T.reads / T.writes leave out
  bool check_races =
      true;  // two iterations of a parallel, vectorized or thread loop touch one element, one writing
  bool check_axes = true;             // a block axis takes a value outside of its domain
  int64_t max_steps = 1'000'000'000;  // iterations of loops before the run is given up
  int64_t* num_steps = nullptr;  // if not null: grows by the iterations that were run, also where that raises
  /// Positions of arguments that hold nothing before the call; each element of them must be written.
  std::vector<size_t> outputs;
  /// C functions by name.
  std::map<std::string, ExternFunction> externs;
};

/// Runs `func` on `args`: a tensor for each buffer, a number for each scalar, in the order of the parameters.
/// Gives what T.ret returns, else none.
///
/// Any function runs, of blocks or lowered, with symbolic shapes.  Arithmetic is that of the program: float32
/// (float16, bfloat16, float8) is rounded after each operation, integers wrap, division by zero is an error.
/// Accesses outside of a buffer are always errors, also on the side of a T.Select that is not chosen;
/// T.if_then_else, `and` and `or` evaluate only what they need.  Loops run in order whatever their kind;
/// reads and writes of one block's iterations over a thread axis that it reduces are no race. Raises
/// UserError that names the buffer, the indices and the iteration that show the fault, with the caret on the
/// expression; Unsupported for operators that have no meaning here (barriers between threads that exchange
/// data, hardware intrinsics).
runtime::Value interpret(const PrimFunc& func, runtime::Args args, const InterpretOptions& options = {});
/// The same for function `name` of a module, whose functions may call each other.
runtime::Value interpret(const IRModule& module, std::string_view name, runtime::Args args,
                         const InterpretOptions& options = {});

}  // namespace tilewright::analysis
