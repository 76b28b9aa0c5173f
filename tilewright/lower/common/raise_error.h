// Statements that report an error with run-time values and leave the function.
#pragma once
#include <string>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// `text` as a printf format: each % is doubled.
std::string escaped(const std::string& text);

/// Raises the error text that printf makes of `format`; without values, `format` is still a printf format.
/// kind: one of TilewrightHost::set_error (runtime/kernel_abi.h).
tir::Stmt raise_error(const char* kind, std::string format, const std::vector<tir::PrimExpr>& values);

}  // namespace tilewright::lower
