#include "tilewright/tune/footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewright::tune {

namespace {

// One dimension of an access while some loops run: it moves over `span` places and stands on `values` of them.
struct Reach {
  double span = 0, values = 1;
  double step = 0;  // the smallest, in elements
};

class BoxMaker {
 public:
  BoxMaker(const NestBuffer& buffer, const Access& access, const target::Features& features)
      : buffer_(buffer), access_(access), features_(features), reaches_(access.indices.size()) {
    for (size_t dim = 0; dim < reaches_.size(); ++dim) {
      if (const double spread = access.spread[dim]; spread > 0) {
        const double refs = std::max(1, access.loads + access.stores);
        reaches_[dim] = {spread, std::min(refs, spread + 1), spread / std::max(refs - 1, 1.0)};
      }
    }
  }

  // The loop runs, too.
  void add(int32_t loop) {
    if (buffer_.is_local && loop <= buffer_.home) return;  // memory of its own in each iteration
    for (size_t dim = 0; dim < reaches_.size(); ++dim) {
      for (const Term& term : access_.indices[dim].terms) {
        if (term.loop != loop || term.extent <= 1) continue;
        Reach& reach = reaches_[dim];
        const double step = std::abs(term.coef);
        reach.span =
            access_.indices[dim].is_known ? reach.span + step * (term.extent - 1) : buffer_.extents[dim];
        reach.values *= term.extent;
        reach.step = reach.step == 0 ? step : std::min(reach.step, step);
      }
    }
  }

  Box box() const {
    const double line = static_cast<double>(features_.line_bytes);
    double run = buffer_.element_bytes, elements = 1, pieces = 1, pitch = 0, rows = 1;
    bool is_whole = true;  // what was seen so far is one run of neighbours
    for (size_t dim = std::min(reaches_.size(), buffer_.extents.size()); dim-- > 0;) {
      const Reach& reach = reaches_[dim];
      const double width = std::min(reach.span + 1, buffer_.extents[dim]),
                   values = std::min(reach.values, width);
      elements *= values;
      if (is_whole && (reach.step <= 1 || reach.step * run < line)) {
        run *= width;
        is_whole = width >= buffer_.extents[dim];
        continue;
      }
      is_whole = false;
      if (pitch == 0 && values > 1) {
        pitch = buffer_.strides[dim] * buffer_.element_bytes * std::max(reach.step, 1.0);
        rows = values;
      }
      pieces *= values;
    }
    const double each = std::ceil(run / line);
    return {elements, pieces, pieces * each, std::max(pieces * each, crowded(pitch, rows, each, pieces))};
  }

 private:
  // Rows `pitch` bytes apart begin in few of L1's sets, if that is a large power of two.
  double crowded(double pitch, double rows, double lines_of_row, double pieces) const {
    const double line = static_cast<double>(features_.line_bytes);
    const auto way = static_cast<int64_t>(features_.l1_bytes / features_.l1_ways);
    if (rows <= 1 || std::fmod(pitch, line) != 0 || pitch > 0x1p40) return 0;
    const double sets = static_cast<double>(way) / line;
    const double starts = static_cast<double>(way / std::gcd(static_cast<int64_t>(pitch), way));
    const double used = std::min(sets, std::min(starts, rows) * lines_of_row);
    const double in_set = rows * lines_of_row / used;
    return in_set > static_cast<double>(features_.l1_ways) ? in_set * sets * (pieces / rows) : 0;
  }

  const NestBuffer& buffer_;
  const Access& access_;
  const target::Features& features_;
  std::vector<Reach> reaches_;
};

}  // namespace

Footprints::Footprints(const Nest& nest, const target::Features& features)
    : nest_(nest), features_(features) {
  for (const NestStore& store : nest.stores) add(store);
  add_up();
}

void Footprints::add(const NestStore& store) {
  first_.push_back(footprints_.size());
  const std::vector<int32_t>& chain = chains_.emplace_back(nest_.chain_of(store));
  for (const Access& access : store.accesses) {
    BoxMaker maker(nest_.buffers[static_cast<size_t>(access.buffer)], access, features_);
    Footprint& made = footprints_.emplace_back();
    made.boxes.reserve(chain.size() + 1);
    made.boxes.push_back(maker.box());
    for (const int32_t loop : chain) {
      maker.add(loop);
      made.boxes.push_back(maker.box());
    }
  }
}

// Stores in one iteration of a loop touch the same parts of a buffer, mostly: the largest counts.
void Footprints::add_up() {
  const size_t places = nest_.loops.size() + 1, buffers = nest_.buffers.size();
  std::vector<Inside> table(places * buffers), own(buffers);
  const double line = static_cast<double>(features_.line_bytes);
  for (size_t s = 0; s < nest_.stores.size(); ++s) {
    const NestStore& store = nest_.stores[s];
    for (size_t n = 0; n <= chains_[s].size(); ++n) {
      std::fill(own.begin(), own.end(), Inside{});
      for (size_t a = 0; a < store.accesses.size(); ++a) {
        const Box& box = of(s, a).boxes[n];
        Inside& sum = own[static_cast<size_t>(store.accesses[a].buffer)];
        sum.bytes += box.lines * line;
        sum.crowded_bytes += box.crowded * line;
      }
      // while n loops run, one iteration of the loop around them
      const size_t row = n < chains_[s].size() ? static_cast<size_t>(chains_[s][n] + 1) : 0;
      for (size_t b = 0; b < buffers; ++b) {
        Inside& most = table[row * buffers + b];
        most.bytes = std::max(most.bytes, own[b].bytes);
        most.crowded_bytes = std::max(most.crowded_bytes, own[b].crowded_bytes);
      }
    }
  }
  inside_.resize(places);
  for (size_t row = 0; row < places; ++row) {
    for (size_t b = 0; b < buffers; ++b) {
      inside_[row].bytes += table[row * buffers + b].bytes;
      inside_[row].crowded_bytes += table[row * buffers + b].crowded_bytes;
    }
  }
}

Footprints::Traffic Footprints::traffic(size_t store, size_t access, double num_bytes, bool is_l1) const {
  const std::vector<int32_t>& chain = chains_[store];
  const auto fits = [&](int32_t loop) {
    const Inside& inside = inside_[static_cast<size_t>(loop + 1)];
    return (is_l1 ? inside.crowded_bytes : inside.bytes) <= num_bytes;
  };
  if (fits(-1)) return {};
  // the outermost loop of which an iteration fits, and how often the loops around it run
  size_t running = chain.size();
  while (running > 0 && !fits(chain[running - 1])) --running;
  double times = nest_.stores[store].share;
  for (size_t n = running; n < chain.size(); ++n) times *= nest_.loops[static_cast<size_t>(chain[n])].extent;
  const Box& box = of(store, access).boxes[running];
  return {times * box.lines, times * box.pieces};
}

}  // namespace tilewright::tune
