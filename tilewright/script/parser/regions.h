// Buffer accesses in text form: converts slices to vectors and regions.
#pragma once
#include "tilewright/script/parser/parser.h"

namespace tilewright::script {

/// The region that A[0:16, i], A[i] or A refers to.
BufferRegion to_region(Parser& parser, const Value& value, Place place);
/// The indices of a vector access: start:stop:step becomes a Ramp.
std::vector<PrimExpr> vector_indices(const BufferSlice& slice, const Span& span);

}  // namespace tilewright::script
