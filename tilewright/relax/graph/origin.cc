#include "tilewright/relax/graph/origin.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace tilewright::relax {

Span origin_of(const std::vector<std::string>& nodes) {
  if (nodes.empty()) return {};
  // one name a line; line 0 says that this is no place in a text
  return Span{Ref<Source>(new Source(fmt::format("{}", fmt::join(nodes, "\n")), ""))};
}

std::vector<std::string> origin_names(const Span& span) {
  std::vector<std::string> names;
  if (!span.source || span.line != 0) return names;
  std::istringstream lines(span.source->name);
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

Span joined_origins(const Span& first, const Span& second) {
  std::vector<std::string> names = origin_names(first);
  const size_t count = names.size();
  for (const std::string& name : origin_names(second)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names.size() == count ? first : origin_of(names);
}

}  // namespace tilewright::relax
