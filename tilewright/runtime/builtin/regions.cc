// Pools regions of feature maps to one size.  Borders and rounding follow torchvision.ops.roi_align and
// roi_pool. Source: He et al., Mask R-CNN (arXiv 1703.06870); Girshick, Fast R-CNN (arXiv 1504.08083)
#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"

namespace tilewright::runtime::builtin {
namespace {

struct Steps {
  int64_t image, channel, row, column;
};
Steps steps_of(int64_t channels, int64_t height, int64_t width, bool channels_last) {
  const int64_t image = channels * height * width;
  if (channels_last) return {image, 1, width * channels, channels};
  return {image, height * width, width, 1};
}

// One channel of an image.
struct Plane {
  const float* data;
  int64_t height, width, row, column;
  float at(int64_t y, int64_t x) const { return data[y * row + x * column]; }
};

// Writes the result for rois [r, 5] of (image, x1, y1, x2, y2): element [ph, pw] of each region and channel
// is bin(plane, region, ph, pw), where `region` points to x1.
template <class Bin>
void pool_regions(const Tensor& data, const Tensor& rois, const Tensor& result, bool channels_last,
                  std::string_view what, const Bin& bin) {
  const size_t spatial = channels_last ? 1 : 2;
  const int64_t channels = data.shape()[channels_last ? 3 : 1], height = data.shape()[spatial],
                width = data.shape()[spatial + 1], rows = result.shape()[spatial],
                columns = result.shape()[spatial + 1];
  const Steps from = steps_of(channels, height, width, channels_last),
              to = steps_of(channels, rows, columns, channels_last);
  for (int64_t r = 0; r < rois.shape()[0]; ++r) {
    const float* region = rois.data_as<float>() + 5 * r;
    if (!(region[0] >= 0 && region[0] < static_cast<float>(data.shape()[0])))
      throw UserError("{}: region {} refers to image {} of {}", what, r, region[0], data.shape()[0]);
    const float* image = data.data_as<float>() + static_cast<int64_t>(region[0]) * from.image;
    float* out = result.data_as<float>() + r * to.image;
    for (int64_t c = 0; c < channels; ++c) {
      const Plane plane{image + c * from.channel, height, width, from.row, from.column};
      for (int64_t y = 0; y < rows; ++y) {
        for (int64_t x = 0; x < columns; ++x)
          out[c * to.channel + y * to.row + x * to.column] = bin(plane, region + 1, y, x);
      }
    }
  }
}

// The positions in one dimension at which a bin of a region is sampled: first + n * step for n < count; only
// those with begin <= n < end can lie in the map.
struct Samples {
  float first = 0, step = 1;
  int64_t count = 0, begin = 0, end = 0;
};

struct AlignOptions {
  float scale;
  int64_t ratio;
  bool is_aligned;
};

Samples samples_of(const AlignOptions& options, float low, float high, int64_t bin, int64_t num_bins,
                   int64_t extent) {
  const float shift = options.is_aligned ? 0.5F : 0.0F, start = low * options.scale - shift;
  float length = high * options.scale - shift - start;
  if (!options.is_aligned) length = std::max(length, 1.0F);
  const float size = length / static_cast<float>(num_bins);
  if (!std::isfinite(start) || !std::isfinite(size)) return {};
  constexpr float kMost = 1e15F;  // larger counts overflow int64_t when rows are multiplied by columns
  Samples samples;
  samples.count = options.ratio > 0 ? options.ratio : static_cast<int64_t>(std::min(std::ceil(size), kMost));
  if (samples.count <= 0) return {};
  samples.step = size / static_cast<float>(samples.count);
  samples.first = start + static_cast<float>(bin) * size + 0.5F * samples.step;
  samples.end = samples.count;
  if (samples.step > 0) {  // a region may be far larger than the map
    const auto most = static_cast<float>(samples.count);
    const float before = std::floor((-1 - samples.first) / samples.step),
                after = std::ceil((static_cast<float>(extent) - samples.first) / samples.step) + 1;
    samples.begin = static_cast<int64_t>(std::clamp(before, 0.0F, most));
    samples.end = std::min(samples.count, static_cast<int64_t>(std::clamp(after, 0.0F, most)));
  }
  return samples;
}

// Sets the two elements around `place` and the weight of the second; returns false outside of the map.
bool neighbours(float place, int64_t extent, int64_t* low, int64_t* high, float* weight) {
  if (!(place >= -1 && place <= static_cast<float>(extent))) return false;
  place = std::max(place, 0.0F);
  *low = std::min(static_cast<int64_t>(place), extent - 1);
  *high = std::min(*low + 1, extent - 1);
  *weight = *low == *high ? 0 : place - static_cast<float>(*low);
  return true;
}

float aligned_bin(const Plane& plane, const Samples& ys, const Samples& xs, bool is_max) {
  float sum = 0, most = -std::numeric_limits<float>::infinity();
  int64_t inside = 0;
  for (int64_t n = ys.begin; n < ys.end; ++n) {
    int64_t top, bottom, left, right;
    float down, across;
    if (!neighbours(ys.first + static_cast<float>(n) * ys.step, plane.height, &top, &bottom, &down)) continue;
    for (int64_t m = xs.begin; m < xs.end; ++m) {
      if (!neighbours(xs.first + static_cast<float>(m) * xs.step, plane.width, &left, &right, &across))
        continue;
      const float value = (1 - down) * ((1 - across) * plane.at(top, left) + across * plane.at(top, right)) +
                          down * ((1 - across) * plane.at(bottom, left) + across * plane.at(bottom, right));
      sum += value;
      most = std::max(most, value);
      ++inside;
    }
  }
  const float count = static_cast<float>(ys.count) * static_cast<float>(xs.count);
  if (!is_max) return sum / std::max(count, 1.0F);
  return static_cast<float>(inside) < count || inside == 0 ? std::max(most, 0.0F)
                                                           : most;  // outside counts as 0
}

// data, rois, pooled_size, spatial_scale, sample_ratio, aligned, layout, mode -> the regions
Value roi_align(Args args) {
  constexpr std::string_view kWhat = "vision.roi_align";
  const Tensor data = input(args, 0, kWhat), rois = input(args, 1, kWhat), result = args[8].as_tensor();
  const AlignOptions options{static_cast<float>(args[3].as_float()), args[4].as_int(), args[5].as_bool()};
  const bool channels_last = args[6].as_string() == "NHWC", is_max = args[7].as_string() == "max";
  const size_t spatial = channels_last ? 1 : 2;
  const int64_t rows = result.shape()[spatial], columns = result.shape()[spatial + 1];
  pool_regions(data, rois, result, channels_last, kWhat,
               [&](const Plane& plane, const float* region, int64_t y, int64_t x) {
                 return aligned_bin(plane, samples_of(options, region[1], region[3], y, rows, plane.height),
                                    samples_of(options, region[0], region[2], x, columns, plane.width),
                                    is_max);
               });
  return {};
}

// The range of elements in one dimension that belong to a bin.
struct Reach {
  int64_t begin, end;
};
Reach reach_of(float scale, float low, float high, int64_t bin, int64_t num_bins, int64_t extent) {
  const float start = std::round(low * scale), end = std::round(high * scale),
              size = std::max(end - start + 1, 1.0F) / static_cast<float>(num_bins);
  if (!std::isfinite(start) || !std::isfinite(size)) return {0, 0};
  const auto most = static_cast<float>(extent);
  const float first = std::floor(static_cast<float>(bin) * size) + start,
              last = std::ceil(static_cast<float>(bin + 1) * size) + start;
  return {static_cast<int64_t>(std::clamp(first, 0.0F, most)),
          static_cast<int64_t>(std::clamp(last, 0.0F, most))};
}

// data, rois, pooled_size, spatial_scale, layout -> the regions
Value roi_pool(Args args) {
  constexpr std::string_view kWhat = "vision.roi_pool";
  const Tensor data = input(args, 0, kWhat), rois = input(args, 1, kWhat), result = args[5].as_tensor();
  const auto scale = static_cast<float>(args[3].as_float());
  const bool channels_last = args[4].as_string() == "NHWC";
  const size_t spatial = channels_last ? 1 : 2;
  const int64_t rows = result.shape()[spatial], columns = result.shape()[spatial + 1];
  pool_regions(data, rois, result, channels_last, kWhat,
               [&](const Plane& plane, const float* region, int64_t y, int64_t x) {
                 const Reach down = reach_of(scale, region[1], region[3], y, rows, plane.height),
                             across = reach_of(scale, region[0], region[2], x, columns, plane.width);
                 if (down.begin >= down.end || across.begin >= across.end) return 0.0F;
                 float most = -std::numeric_limits<float>::infinity();
                 for (int64_t n = down.begin; n < down.end; ++n) {
                   for (int64_t m = across.begin; m < across.end; ++m) most = std::max(most, plane.at(n, m));
                 }
                 return most;
               });
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.roi_align", roi_align, 9}, {"tilewright.roi_pool", roi_pool, 6}};

}  // namespace

std::span<const Entry> region_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
