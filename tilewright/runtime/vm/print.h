// Prints the executable as text, for `tilewright inspect` and for tests.
#pragma once
#include <string>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

/// "main(x: float32[n, 7], y: float32[7]) -> float32[n, 7]"
std::string signature(const BytecodeFunction& function);
/// "the function is main(...)": the help line of errors about arguments.
std::string usage(const BytecodeFunction& function);
/// One line per instruction: `  3: r4 = arena_tensor(0, float32, i0, 7)`; the function's signature above.
std::string to_text(const Executable& executable, const BytecodeFunction& function);
/// All functions, with a blank line between them.
std::string to_text(const Executable& executable);
/// The same as Python code with one builder call per instruction: `ib.emit("kill", ib.r(3))`.
std::string to_python(const Executable& executable);

}  // namespace tilewright::runtime::vm
