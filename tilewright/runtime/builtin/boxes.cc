// Non-maximum suppression: drops boxes that overlap a better one.  Source: onnx.ai/onnx/operators
// (NonMaxSuppression 11)
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/runtime/builtin/selection.h"

namespace tilewright::runtime::builtin {
namespace {

struct Box {
  float low_x, low_y, high_x, high_y;
  float area() const { return (high_x - low_x) * (high_y - low_y); }
};

// Makes a box of two opposite corners, given in any order.
Box box_of(const float* corners) {
  return {std::min(corners[0], corners[2]), std::min(corners[1], corners[3]),
          std::max(corners[0], corners[2]), std::max(corners[1], corners[3])};
}

float overlap(const Box& a, const Box& b) {
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x),
              height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  if (width <= 0 || height <= 0) return 0;
  const float both = width * height, either = a.area() + b.area() - both;
  return either <= 0 ? 0 : both / either;
}

void require_float32(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() != DataType::float_(32))
    throw Unsupported("{}: tensors of dtype {} are not supported", what, tensor.dtype().str())
        .help("cast it to float32 before, e.g. R.astype(x, \"float32\")");
}

// ---- all classes of a batch

struct SelectOptions {
  int64_t most;  // per class
  float max_overlap;
  float least_score;  // only higher scores count
  bool has_least_score = true, is_centered = false;
};

// Boxes side by side, padded to whole blocks with boxes that overlap nothing.
class KeptBoxes {
 public:
  size_t size() const { return size_; }
  void add(const Box& box) {
    if (size_ % kBlock == 0) blocks_.emplace_back();
    Block& block = blocks_.back();
    const size_t n = size_++ % kBlock;
    block.low_x[n] = box.low_x, block.low_y[n] = box.low_y;
    block.high_x[n] = box.high_x, block.high_y[n] = box.high_y;
    block.area[n] = box.area();
  }
  /// True if a box overlaps `box` by more than `most`; the quotient is that of overlap().
  bool covers(const Box& box, float most) const {
    const float area = box.area();
    for (const Block& block : blocks_) {
      bool is_covered = false;
      for (size_t n = 0; n < kBlock; ++n) {
        const float width = std::min(block.high_x[n], box.high_x) - std::max(block.low_x[n], box.low_x),
                    height = std::min(block.high_y[n], box.high_y) - std::max(block.low_y[n], box.low_y);
        const float both = width * height, either = block.area[n] + area - both;
        is_covered |= (width > 0) & (height > 0) & (either > 0) & (both / either > most);
      }
      if (is_covered) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kBlock = 16;
  struct Block {
    float low_x[kBlock] = {}, low_y[kBlock] = {}, high_x[kBlock] = {}, high_y[kBlock] = {}, area[kBlock] = {};
  };
  std::vector<Block> blocks_;
  size_t size_ = 0;
};

Box centered_box(const float* box) {
  const float half_width = box[2] / 2, half_height = box[3] / 2;
  return {box[0] - half_width, box[1] - half_height, box[0] + half_width, box[1] + half_height};
}

// The boxes of a class that count, best first, as ranks: the order of the score, then the position.  A score that is
// NaN is the lowest.  They are sorted as far as they are asked for: most classes reach their limit soon.
class Ranking {
 public:
  Ranking(const float* score, int64_t num_boxes, const SelectOptions& options)
      : ranks_(static_cast<size_t>(num_boxes)) {
    size_t count = 0;
    for (int64_t n = 0; n < num_boxes; ++n) {
      const float known = score[n] != score[n] ? -std::numeric_limits<float>::infinity() : score[n];
      ranks_[count] = rank_of(known, static_cast<uint32_t>(n));
      count += static_cast<size_t>(!options.has_least_score || score[n] > options.least_score);
    }
    ranks_.resize(count);
  }
  /// Sets *box to the next best; false if there is none.
  bool next(int64_t* box) {
    if (next_ == ranks_.size()) return false;
    if (next_ == num_sorted_) sort_more();
    *box = position_of(ranks_[next_++]);
    return true;
  }

 private:
  void sort_more() {
    constexpr size_t kLeast = 256;
    const auto at = [&](size_t n) { return ranks_.begin() + static_cast<std::ptrdiff_t>(n); };
    const size_t end = std::min(ranks_.size(), 2 * num_sorted_ + kLeast);
    if (end < ranks_.size()) std::nth_element(at(num_sorted_), at(end), ranks_.end());
    std::sort(at(num_sorted_), at(end));
    num_sorted_ = end;
  }
  std::vector<uint64_t> ranks_;
  size_t num_sorted_ = 0, next_ = 0;
};

// Calls visit(batch, class, box) with the boxes that are selected.
template <class Visit>
void select(const Tensor& boxes, const Tensor& scores, const SelectOptions& options, const Visit& visit) {
  const int64_t num_classes = scores.shape()[1], num_boxes = scores.shape()[2];
  if (options.most <= 0) return;
  for (int64_t line = 0; line < scores.shape()[0] * num_classes; ++line) {
    const float* corners = boxes.data_as<float>() + line / num_classes * num_boxes * 4;
    KeptBoxes kept;
    Ranking ranking(scores.data_as<float>() + line * num_boxes, num_boxes, options);
    for (int64_t n = 0; ranking.next(&n);) {
      const Box box = options.is_centered ? centered_box(corners + 4 * n) : box_of(corners + 4 * n);
      if (kept.covers(box, options.max_overlap)) continue;
      kept.add(box);
      visit(line / num_classes, line % num_classes, n);
      if (static_cast<int64_t>(kept.size()) >= options.most) break;
    }
  }
}

// boxes [batch, n, 4], scores [batch, classes, n], max_output_boxes_per_class, iou_threshold,
// score_threshold, output_format
//   -> [batch * classes * n, 3] of (batch, class, box), the selected ones first, and their count [1]
Value all_class_non_max_suppression(Args args) {
  constexpr std::string_view kWhat = "vision.all_class_non_max_suppression";
  const Tensor boxes = input(args, 0, kWhat), scores = input(args, 1, kWhat);
  require_float32(boxes, kWhat);
  require_float32(scores, kWhat);
  const SelectOptions options{args[2].as_int(), static_cast<float>(args[3].as_float()),
                              static_cast<float>(args[4].as_float())};
  const Tensor chosen = args[6].as_tensor(), count = args[7].as_tensor();
  int64_t* rows = chosen.data_as<int64_t>();
  std::fill_n(rows, chosen.num_elements(), int64_t{0});
  int64_t total = 0;
  select(boxes, scores, options, [&](int64_t batch, int64_t group, int64_t box) {
    int64_t* row = rows + 3 * total++;
    row[0] = batch, row[1] = group, row[2] = box;
  });
  count.data_as<int64_t>()[0] = total;
  return {};
}

// boxes [batch, n, 4], scores [batch, classes, n], most_per_class [], iou_threshold [], score_threshold [] (may be left
// out), center_point_box -> [count, 3] of (batch, class, box)
Value select_boxes(Args args) {
  constexpr std::string_view kWhat = "vision.select_boxes";
  const Tensor boxes = input(args, 0, kWhat), scores = input(args, 1, kWhat), most = input(args, 2, kWhat),
               max_overlap = input(args, 3, kWhat);
  require_float32(boxes, kWhat);
  require_float32(scores, kWhat);
  SelectOptions options{*most.data_as<int64_t>(), *max_overlap.data_as<float>(), 0, args.size() > 5};
  if (options.has_least_score) options.least_score = *input(args, 4, kWhat).data_as<float>();
  options.is_centered = args.back().as_bool();
  std::vector<int64_t> rows;
  select(boxes, scores, options,
         [&](int64_t batch, int64_t group, int64_t box) { rows.insert(rows.end(), {batch, group, box}); });
  return Tensor::copy_of(rows.data(), rows.size() * sizeof(int64_t),
                         Shape{static_cast<int64_t>(rows.size()) / 3, 3}, DataType::int_(64));
}

// data [batch, n, width], score_threshold, id_index, score_index
//   -> valid_count [batch] int32; the valid rows first, -1 in the others [batch, n, width]; their original
// positions [batch, n] int32
Value get_valid_counts(Args args) {
  constexpr std::string_view kWhat = "vision.get_valid_counts";
  const Tensor data = input(args, 0, kWhat);
  require_float32(data, kWhat);
  const auto least_score = static_cast<float>(args[1].as_float());
  const int64_t id_index = args[2].as_int(), score_index = args[3].as_int();
  const Tensor counts = args[4].as_tensor(), rows = args[5].as_tensor(), places = args[6].as_tensor();
  const int64_t num_rows = data.shape()[1], width = data.shape()[2];
  std::fill_n(rows.data_as<float>(), rows.num_elements(), -1.0f);
  std::fill_n(places.data_as<int32_t>(), places.num_elements(), -1);
  for (int64_t batch = 0; batch < data.shape()[0]; ++batch) {
    int32_t valid = 0;
    for (int64_t n = 0; n < num_rows; ++n) {
      const float* row = data.data_as<float>() + (batch * num_rows + n) * width;
      if (!(row[score_index] > least_score) || (id_index >= 0 && row[id_index] < 0)) continue;
      std::copy_n(row, width, rows.data_as<float>() + (batch * num_rows + valid) * width);
      places.data_as<int32_t>()[batch * num_rows + valid++] = static_cast<int32_t>(n);
    }
    counts.data_as<int32_t>()[batch] = valid;
  }
  return {};
}

struct SuppressOptions {
  int64_t max_output_size;
  float iou_threshold;
  bool force_suppress;
  int64_t top_k, coord_start, score_index, id_index;
  float soft_nms_sigma, score_threshold;
};

// A row that was kept, and its score, which may have been reduced.
struct Kept {
  int64_t row;
  float score;
};

// The rows [n, width] of one image.
class Candidates {
 public:
  Candidates(const float* rows, int64_t width, int64_t num_valid, const SuppressOptions& options)
      : rows_(rows), width_(width), options_(options) {
    order_ = sorted_positions(num_valid, [&](int64_t a, int64_t b) { return score(a) > score(b); });
    if (options.top_k >= 0 && options.top_k < num_valid) order_.resize(static_cast<size_t>(options.top_k));
    most_ = options.max_output_size < 0 ? order_.size() : static_cast<size_t>(options.max_output_size);
  }

  // The rows that no better row suppresses, best first.
  std::vector<Kept> uncovered() const {
    std::vector<Kept> kept;
    for (int64_t n : order_) {
      if (kept.size() >= most_) break;
      const bool is_covered = std::any_of(kept.begin(), kept.end(), [&](const Kept& better) {
        return covered_by(better.row, n) > options_.iou_threshold;
      });
      if (!is_covered) kept.push_back({n, score(n)});
    }
    return kept;
  }

  // Each selected row suppresses others or reduces their scores; the best of the remaining ones is selected
  // next. Source: Bodla et al., Soft-NMS, arXiv 1704.04503
  std::vector<Kept> lessened() const {
    std::vector<Kept> kept, left;
    for (int64_t n : order_) left.push_back({n, score(n)});
    while (!left.empty() && kept.size() < most_) {
      const auto best = std::max_element(left.begin(), left.end(),
                                         [](const Kept& a, const Kept& b) { return a.score < b.score; });
      if (!(best->score > options_.score_threshold)) break;
      kept.push_back(*best);
      left.erase(best);
      for (Kept& other : left) {
        const float overlap = covered_by(kept.back().row, other.row);
        other.score *= std::exp(overlap * overlap / (-2 * options_.soft_nms_sigma));
      }
      std::erase_if(left, [&](const Kept& other) {
        return covered_by(kept.back().row, other.row) > options_.iou_threshold;
      });
    }
    return kept;
  }

 private:
  float score(int64_t n) const { return rows_[n * width_ + options_.score_index]; }
  Box box(int64_t n) const { return box_of(rows_ + n * width_ + options_.coord_start); }
  // The overlap of row `n` with row `better`, if `better` may suppress it.
  float covered_by(int64_t better, int64_t n) const {
    const bool same_class =
        options_.force_suppress || options_.id_index < 0 ||
        rows_[better * width_ + options_.id_index] == rows_[n * width_ + options_.id_index];
    return same_class ? overlap(box(better), box(n)) : 0;
  }

  const float* rows_;
  const int64_t width_;
  const SuppressOptions& options_;
  std::vector<int64_t> order_;
  size_t most_;
};

// data [batch, n, width], valid_count [batch], indices [batch, n], max_output_size, iou_threshold,
// force_suppress, top_k, coord_start, score_index, id_index, return_indices, invalid_to_bottom,
// soft_nms_sigma, score_threshold
//   -> positions [batch, n] and their count [batch, 1], both int32; or the rows, -1 in the others
//      [batch, n, width].  With soft_nms_sigma: the rows with reduced scores, then positions and count if
//      return_indices
Value non_max_suppression(Args args) {
  constexpr std::string_view kWhat = "vision.non_max_suppression";
  const Tensor data = input(args, 0, kWhat), valid = input(args, 1, kWhat), places = input(args, 2, kWhat);
  require_float32(data, kWhat);
  const SuppressOptions options{args[3].as_int(),
                                static_cast<float>(args[4].as_float()),
                                args[5].as_bool(),
                                args[6].as_int(),
                                args[7].as_int(),
                                args[8].as_int(),
                                args[9].as_int(),
                                static_cast<float>(args[12].as_float()),
                                static_cast<float>(args[13].as_float())};
  const bool return_indices = args[10].as_bool(), is_soft = options.soft_nms_sigma > 0,
             to_bottom = args[11].as_bool() || is_soft;
  const size_t results = 14 + (is_soft || !return_indices ? 1 : 0);
  require_arguments(kWhat, args, results + (return_indices ? 2 : 0));
  const Tensor rows = results > 14 ? args[14].as_tensor() : Tensor(),
               chosen = return_indices ? args[results].as_tensor() : Tensor(),
               counts = return_indices ? args[results + 1].as_tensor() : Tensor();
  const int64_t num_rows = data.shape()[1], width = data.shape()[2];
  if (rows) std::fill_n(rows.data_as<float>(), rows.num_elements(), -1.0f);
  if (chosen) std::fill_n(chosen.data_as<int32_t>(), chosen.num_elements(), -1);
  for (int64_t batch = 0; batch < data.shape()[0]; ++batch) {
    const float* given = data.data_as<float>() + batch * num_rows * width;
    const int64_t num_valid = std::clamp<int64_t>(integer_at(valid, batch, kWhat), 0, num_rows);
    const Candidates candidates(given, width, num_valid, options);
    const std::vector<Kept> kept = is_soft ? candidates.lessened() : candidates.uncovered();
    for (size_t n = 0; n < kept.size(); ++n) {
      const int64_t old = kept[n].row, place = to_bottom ? static_cast<int64_t>(n) : old;
      if (rows) {
        float* row = rows.data_as<float>() + (batch * num_rows + place) * width;
        std::copy_n(given + old * width, width, row);
        row[options.score_index] = kept[n].score;
      }
      if (chosen)
        chosen.data_as<int32_t>()[batch * num_rows + static_cast<int64_t>(n)] =
            static_cast<int32_t>(integer_at(places, batch * num_rows + old, kWhat));
    }
    if (counts) counts.data_as<int32_t>()[batch] = static_cast<int32_t>(kept.size());
  }
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.all_class_non_max_suppression", all_class_non_max_suppression, 8},
                              {"tilewright.select_boxes", select_boxes, 5},
                              {"tilewright.get_valid_counts", get_valid_counts, 7},
                              {"tilewright.non_max_suppression", non_max_suppression, 15}};

}  // namespace

std::span<const Entry> box_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
