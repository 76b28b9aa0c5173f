// The C compiler of this machine.
#pragma once
#include <string>
#include <vector>

namespace tilewright::driver {

/// The relocatable object that `cc` makes of `source`, position independent, with the options `flags`.
/// Raises UserError if no C compiler is on the PATH, or if it refuses the text (an external function that was
/// given wrong types, an unknown CPU), with its messages.
std::string compile_c(const std::string& source, const std::vector<std::string>& flags);

/// The macros that `cc` defines with the options `flags`, a "#define NAME VALUE" on each line; "" if there is
/// no C compiler.  Raises UserError if it refuses the options.
std::string macros_of_c_compiler(const std::vector<std::string>& flags);

/// The LLVM IR that clang makes of `source` for a machine (codegen::NativeTarget has what LLVM calls it).
/// Raises UserError if there is no clang on the PATH, or if it refuses the text, with its messages.
std::string llvm_ir_of_c(const std::string& source, const std::string& triple, const std::string& cpu,
                         const std::string& features);

/// The object file of assembly for this machine; raises UserError if there is no C compiler to make it.
std::string assemble(const std::string& text);

}  // namespace tilewright::driver
