// What a candidate may be before it is built: so that a build takes seconds at most, and no tile spills.
#pragma once
#include "tilewright/schedule/default/reason.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/target/features.h"

namespace tilewright::tune {

struct CodeLimits {
  /// Of statements after unrolling: what the instruction cache holds of vector statements.
  int64_t most_statements = 1024;
  /// Of one store: vectors longer than that are cut into as many statements anyway.
  int64_t most_vector_bytes = 256;
  /// Of results that are kept in scope "local" while their terms are added.
  int64_t register_bytes = 512;
};

/// The limits on a machine.
CodeLimits limits_of(const target::Features& features);

/// Why a candidate is not worth building; nothing if it is.
std::optional<schedule::Reason> why_beyond(const schedule::Schedule& sch, const CodeLimits& limits);

}  // namespace tilewright::tune
