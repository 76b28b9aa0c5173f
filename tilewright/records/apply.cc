#include "tilewright/records/apply.h"

#include "tilewright/ir/module.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/support/error.h"

namespace tilewright::records {

Applied apply(const Record& record, const tir::PrimFunc& func) {
  schedule::Schedule sch(ir::with_function(ir::IRModuleNode::make(), kFunction, func),
                         {.errors = schedule::ErrorDetail::kFast});
  try {
    schedule::Trace trace = schedule::Trace::load_json(record.trace);
    trace.apply_to(sch);
    return {ir::ref_as<tir::PrimFuncNode>(sch.module()->functions[0]), std::move(trace), std::nullopt};
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return {{}, {}, schedule::Reason(schedule::Reason::kRefused, "record {}: {}", record.id, error.text())};
  }
}

}  // namespace tilewright::records
