// Statements that report an error and leave the function, with numbers that are known when it runs.
#pragma once
#include <string>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// `text` for a format of printf, whose % are doubled.
std::string escaped(const std::string& text);

/// The error that printf makes of `format`; without values it is the text that it would make.  kind: one of
/// TilewrightHost::set_error (runtime/kernel_abi.h).
tir::Stmt raise_error(const char* kind, std::string format, const std::vector<tir::PrimExpr>& values);

}  // namespace tilewright::lower
