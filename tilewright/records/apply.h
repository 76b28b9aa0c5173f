// Schedules a kernel as a record says.
#pragma once
#include "tilewright/records/record.h"
#include "tilewright/schedule/default/reason.h"
#include "tilewright/schedule/trace.h"

namespace tilewright::records {

/// What attempts call the database, beside the rules of schedule/default.
inline constexpr std::string_view kRule = "records";
/// Traces of records call the function that they schedule so.
inline constexpr const char* kFunction = "main";

struct Applied {
  tir::PrimFunc func;  // null: the trace does not apply
  schedule::Trace trace;
  std::optional<schedule::Reason> reason;  // why not
};

/// `func` after the steps of the record's trace.
Applied apply(const Record& record, const tir::PrimFunc& func);

}  // namespace tilewright::records
