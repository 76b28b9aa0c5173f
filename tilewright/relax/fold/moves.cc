#include "tilewright/relax/fold/moves.h"

#include <algorithm>
#include <numeric>

namespace tilewright::relax {

Moves::Moves(const std::vector<int64_t>& shape) : parts_(shape), order_(shape.size()), shape_(shape) {
  std::iota(order_.begin(), order_.end(), size_t{0});
}

void Moves::permute(const std::vector<int64_t>& axes) {
  std::vector<std::vector<size_t>> of_dimension;
  size_t next = 0;
  for (int64_t rest : shape_) {
    of_dimension.emplace_back();
    // parts of extent 1 join the dimension before them, or the first
    while (next < order_.size() && (rest > 1 || parts_[order_[next]] == 1)) {
      rest /= parts_[order_[next]];
      of_dimension.back().push_back(order_[next++]);
    }
  }
  std::vector<int64_t> shape;
  order_.clear();
  for (const int64_t axis : axes) {
    shape.push_back(shape_[static_cast<size_t>(axis)]);
    const std::vector<size_t>& parts = of_dimension[static_cast<size_t>(axis)];
    order_.insert(order_.end(), parts.begin(), parts.end());
  }
  shape_ = std::move(shape);
}

bool Moves::reshape(const std::vector<int64_t>& shape) {
  Moves changed = *this;
  size_t next = 0;
  for (int64_t rest : shape) {
    while (rest > 1) {
      const size_t part = changed.order_[next];
      const int64_t extent = changed.parts_[part];
      if (rest % extent == 0) {
        rest /= extent;
        ++next;
        continue;
      }
      if (extent % rest != 0) return false;
      // split the part in two; the first belongs to this dimension
      changed.parts_[part] = rest;
      changed.parts_.insert(changed.parts_.begin() + static_cast<std::ptrdiff_t>(part) + 1, extent / rest);
      for (size_t& other : changed.order_) other += other > part;
      changed.order_.insert(changed.order_.begin() + static_cast<std::ptrdiff_t>(next) + 1, part + 1);
    }
  }
  changed.shape_ = shape;
  *this = std::move(changed);
  return true;
}

Moves::Permutation Moves::permutation() const {
  // runs of parts that stay adjacent, by their first part
  std::vector<std::pair<size_t, int64_t>> runs;
  size_t last = parts_.size();
  for (const size_t part : order_) {
    if (parts_[part] == 1) continue;
    size_t before = part;  // the last part before this one with more than one element
    while (before > 0 && parts_[before - 1] == 1) --before;
    if (!runs.empty() && before > 0 && before - 1 == last)
      runs.back().second *= parts_[part];
    else
      runs.emplace_back(part, parts_[part]);
    last = part;
  }
  std::vector<size_t> places(runs.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::sort(places.begin(), places.end(), [&](size_t a, size_t b) { return runs[a].first < runs[b].first; });
  Permutation result;
  result.axes.resize(runs.size());
  for (size_t at = 0; at < places.size(); ++at) {
    result.view.push_back(runs[places[at]].second);
    result.axes[places[at]] = static_cast<int64_t>(at);
  }
  return result;
}

}  // namespace tilewright::relax
