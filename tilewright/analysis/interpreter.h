// The reference interpreter: runs loop programs slowly and exactly, and detects faults that a fast run would
// hide. Tests and Schedule::verify use it as the reference.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "tilewright/ir/module.h"
#include "tilewright/runtime/function.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// A C function called by T.call_extern; pointer arguments are addresses of elements in the program's memory.
using ExternFunction = std::function<runtime::Value(runtime::Args)>;

struct InterpretOptions {
  bool check_uninitialised = true;  // use of an element that was never written; copies pass the state on
  bool check_regions = true;        // an access by a block outside of its T.reads / T.writes
  // two iterations of a parallel or vectorized loop, two blocks, or two threads with no barrier between, touch one
  // element and one of them writes
  bool check_races = true;
  bool check_axes = true;             // a value of a block axis outside of its domain
  int64_t max_steps = 1'000'000'000;  // maximum number of loop iterations before the run is aborted
  // if not null: incremented by the iterations that were run, also if interpret raises
  int64_t* num_steps = nullptr;
  /// Positions of arguments that are uninitialised before the call; every element of them must be written.
  std::vector<size_t> outputs;
  /// C functions by name.
  std::map<std::string, ExternFunction> externs;
};

/// Runs `func` on `args`: a tensor for each buffer, a number for each scalar, in the order of the parameters.
/// Returns the value of T.ret, else none.
///
/// Any function can be run, with blocks or lowered, and with symbolic shapes.  Arithmetic is that of the
/// program: float32 (float16, bfloat16, float8) is rounded after each operation, integers wrap around,
/// division by zero is an error.  Accesses outside of a buffer are always errors, also in the operand of a
/// T.Select that is not selected; T.if_then_else, `and` and `or` evaluate only the operands they need.  Loops
/// run in order, but those over blocks and threads of a GPU: blocks run one after the other, and so do the threads
/// of a block from one barrier to the next.  In a program with blocks (T.block), which has no barriers yet,
/// each statement of a sequence begins when all threads have ended the one before.  Threads over which a block reduces
/// add to one sum, which all of them have afterwards, also in memory of their own.  Threads that write the same number
/// are not a race.
/// Threads of a warp meet for shuffles; asynchronous copies end when the thread has waited for them.
/// Raises UserError that names the buffer, the indices and the iteration or threads that show the fault, with
/// the caret on the expression: also for a barrier that not all threads of a block reach.  Raises Unsupported
/// for operators that the interpreter cannot run (hardware intrinsics) and for blocks of more than 4,096 threads.
runtime::Value interpret(const PrimFunc& func, runtime::Args args, const InterpretOptions& options = {});
/// The same for function `name` of a module, whose functions may call each other.
runtime::Value interpret(const IRModule& module, std::string_view name, runtime::Args args,
                         const InterpretOptions& options = {});

}  // namespace tilewright::analysis
