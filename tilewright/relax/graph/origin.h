// Which nodes of a model file a call computes.  The importer writes their names into the span of the call, and passes
// that make one call of several join them, so that profiles and reports can name the nodes of a kernel.
#pragma once
#include <string>
#include <vector>

#include "tilewright/support/span.h"

namespace tilewright::relax {

/// A span without a place in a text that carries the names of nodes.
Span origin_of(const std::vector<std::string>& nodes);
/// The names that `span` carries; none if it is a place in a text.
std::vector<std::string> origin_names(const Span& span);
/// The names of both, each once; `first` itself if `second` has no others.
Span joined_origins(const Span& first, const Span& second);

}  // namespace tilewright::relax
