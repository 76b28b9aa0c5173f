// Runs the C compiler of this machine.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// The relocatable object that `cc` makes from `source`, position independent, with the options `flags`.
/// Raises UserError, with the compiler's messages, if no C compiler is on the PATH or it rejects the text
/// (for example an external function with wrong types, or an unknown CPU).
std::string compile_c(const std::string& source, const std::vector<std::string>& flags);

/// The macros that `cc` defines with the options `flags`, a "#define NAME VALUE" per line; "" if there is no
/// C compiler.  Raises UserError if it rejects the options.
std::string macros_of_c_compiler(const std::vector<std::string>& flags);

/// The LLVM IR that clang makes from `source` for a machine, named as in codegen::NativeTarget.  Raises
/// UserError, with the compiler's messages, if no clang is on the PATH or it rejects the text.
std::string llvm_ir_of_c(const std::string& source, const std::string& triple, const std::string& cpu,
                         const std::string& features);

/// The object file of an assembly text for this machine; raises UserError if there is no C compiler to
/// assemble it.
std::string assemble(const std::string& text);

}  // namespace tilewright::driver
