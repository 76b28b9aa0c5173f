// Pools regions of feature maps to one size.  Borders and rounding follow torchvision.ops.roi_align and
// roi_pool. Source: He et al., Mask R-CNN (arXiv 1703.06870); Girshick, Fast R-CNN (arXiv 1504.08083)
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/runtime/thread_pool.h"

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

// The images, and the results for regions of them.
struct Maps {
  const float* from_data;
  float* to_data;
  int64_t channels, height, width, rows, columns;
  Steps from, to;

  Maps(const Tensor& data, const Tensor& result, bool channels_last)
      : from_data(data.data_as<float>()), to_data(result.data_as<float>()) {
    const size_t spatial = channels_last ? 1 : 2;
    channels = data.shape()[channels_last ? 3 : 1];
    height = data.shape()[spatial], width = data.shape()[spatial + 1];
    rows = result.shape()[spatial], columns = result.shape()[spatial + 1];
    from = steps_of(channels, height, width, channels_last);
    to = steps_of(channels, rows, columns, channels_last);
  }
  Plane plane(float image, int64_t channel) const {
    return {from_data + static_cast<int64_t>(image) * from.image + channel * from.channel, height, width,
            from.row, from.column};
  }
  float* target(int64_t region, int64_t channel) const {
    return to_data + region * to.image + channel * to.channel;
  }
};

// Checks rois [r, 5] of (image, x1, y1, x2, y2).
void require_images(const Tensor& rois, int64_t num_images, std::string_view what) {
  for (int64_t r = 0; r < rois.shape()[0]; ++r) {
    const float image = rois.data_as<float>()[5 * r];
    if (!(image >= 0 && image < static_cast<float>(num_images)))
      throw UserError("{}: region {} refers to image {} of {}", what, r, image, num_images);
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
  if (extent == 0 || !(place >= -1 && place <= static_cast<float>(extent))) return false;
  place = std::max(place, 0.0F);
  *low = std::min(static_cast<int64_t>(place), extent - 1);
  *high = std::min(*low + 1, extent - 1);
  *weight = *low == *high ? 0 : place - static_cast<float>(*low);
  return true;
}

// Where a sample lies in one dimension: between two elements, `weight` of the second counts.
struct Place {
  int64_t low, high;
  float weight;
};
// The samples in one dimension of each bin of a region: those that lie in the map, and how many there are.
struct Bin {
  size_t begin, end;
  int64_t count;
  int64_t num_outside() const { return count - static_cast<int64_t>(end - begin); }
};
struct Places {
  std::vector<Place> all;
  std::vector<Bin> bins;
};

Places places_of(const AlignOptions& options, float low, float high, int64_t num_bins, int64_t extent) {
  Places places;
  for (int64_t bin = 0; bin < num_bins; ++bin) {
    const Samples samples = samples_of(options, low, high, bin, num_bins, extent);
    const size_t begin = places.all.size();
    for (int64_t n = samples.begin; n < samples.end; ++n) {
      Place place{};
      if (neighbours(samples.first + static_cast<float>(n) * samples.step, extent, &place.low, &place.high,
                     &place.weight))
        places.all.push_back(place);
    }
    places.bins.push_back({begin, places.all.size(), samples.count});
  }
  return places;
}

// The mean of the samples of a bin in one dimension, as a sum of elements times weights.  As these do not depend on
// the other dimension, rows are combined first, then columns.
struct Term {
  int64_t index;
  float weight;
};
struct Means {
  std::vector<Term> terms;
  std::vector<size_t> ends;  // of each bin
  std::span<const Term> of(int64_t bin) const {
    const size_t begin = bin == 0 ? 0 : ends[static_cast<size_t>(bin) - 1];
    return std::span(terms).subspan(begin, ends[static_cast<size_t>(bin)] - begin);
  }
};

Means means_of(const Places& places) {
  Means means;
  for (const Bin& bin : places.bins) {
    const size_t begin = means.terms.size();
    const float share = 1 / static_cast<float>(std::max<int64_t>(bin.count, 1));
    const auto add = [&](int64_t index, float weight) {
      for (size_t n = means.terms.size(); n > begin && n + 2 > means.terms.size(); --n) {
        if (means.terms[n - 1].index == index) return void(means.terms[n - 1].weight += weight);
      }
      means.terms.push_back({index, weight});
    };
    for (size_t n = bin.begin; n < bin.end; ++n) {
      const Place& place = places.all[n];
      add(place.low, (1 - place.weight) * share);
      if (place.weight > 0) add(place.high, place.weight * share);
    }
    means.ends.push_back(means.terms.size());
  }
  return means;
}

// The means of one channel whose rows are contiguous: `row` has room for one of them.
void mean_plane(const Plane& plane, const Means& down, const Means& across, float* row, float* out) {
  const auto [first, last] =
      std::minmax_element(across.terms.begin(), across.terms.end(),
                          [](const Term& a, const Term& b) { return a.index < b.index; });
  const bool is_outside = across.terms.empty();
  const int64_t begin = is_outside ? 0 : first->index, length = is_outside ? 0 : last->index + 1 - begin;
  const auto num_columns = static_cast<int64_t>(across.ends.size());
  for (size_t y = 0; y < down.ends.size(); ++y, out += num_columns) {
    std::fill_n(row, length, 0.0F);
    for (const Term& term : down.of(static_cast<int64_t>(y))) {
      const float* from = plane.data + term.index * plane.row + begin;
      for (int64_t x = 0; x < length; ++x) row[x] += term.weight * from[x];
    }
    for (int64_t x = 0; x < num_columns; ++x) {
      float sum = 0;
      for (const Term& term : across.of(x)) sum += term.weight * row[term.index - begin];
      out[x] = sum;
    }
  }
}

// The means of all channels of an image whose channels are contiguous.
void mean_channels(const Plane& plane, int64_t channels, const Means& down, const Means& across, float* out) {
  for (size_t y = 0; y < down.ends.size(); ++y) {
    for (size_t x = 0; x < across.ends.size(); ++x, out += channels) {
      std::fill_n(out, channels, 0.0F);
      for (const Term& high : down.of(static_cast<int64_t>(y))) {
        for (const Term& wide : across.of(static_cast<int64_t>(x))) {
          const float weight = high.weight * wide.weight;
          const float* from = plane.data + high.index * plane.row + wide.index * plane.column;
          for (int64_t c = 0; c < channels; ++c) out[c] += weight * from[c];
        }
      }
    }
  }
}

// The elements around the samples of each bin, times weights: the four of a sample are neighbours.
Means terms_of(const Plane& plane, const Places& ys, const Places& xs) {
  Means terms;
  for (const Bin& down : ys.bins) {
    for (const Bin& across : xs.bins) {
      for (size_t n = down.begin; n < down.end; ++n) {
        const Place& row = ys.all[n];
        const auto add = [&](int64_t y, int64_t x, float weight) {
          terms.terms.push_back({y * plane.row + x * plane.column, weight});
        };
        for (size_t m = across.begin; m < across.end; ++m) {
          const Place& column = xs.all[m];
          add(row.low, column.low, (1 - row.weight) * (1 - column.weight));
          add(row.low, column.high, (1 - row.weight) * column.weight);
          add(row.high, column.low, row.weight * (1 - column.weight));
          add(row.high, column.high, row.weight * column.weight);
        }
      }
      terms.ends.push_back(terms.terms.size());
    }
  }
  return terms;
}

// The largest sample of a bin, or the largest of the four elements around a sample times their weights.
float largest_sample(const float* data, std::span<const Term> terms, bool by_terms) {
  float most = -std::numeric_limits<float>::infinity();
  for (size_t n = 0; n < terms.size(); n += 4) {
    float values[4];
    for (size_t k = 0; k < 4; ++k) values[k] = terms[n + k].weight * data[terms[n + k].index];
    const float value = by_terms ? std::max(std::max(values[0], values[1]), std::max(values[2], values[3]))
                                 : values[0] + values[1] + values[2] + values[3];
    most = std::max(most, value);
  }
  return most;
}

// The largest samples of each bin of one channel; what lies outside of the map counts as 0.
void largest_plane(const Plane& plane, const Means& terms, const Places& ys, const Places& xs, bool by_terms,
                   const Steps& to, float* out) {
  int64_t bin = 0;
  for (size_t y = 0; y < ys.bins.size(); ++y) {
    for (size_t x = 0; x < xs.bins.size(); ++x, ++bin) {
      const std::span<const Term> own = terms.of(bin);
      const bool has_outside = own.empty() || ys.bins[y].num_outside() > 0 || xs.bins[x].num_outside() > 0;
      const float most = largest_sample(plane.data, own, by_terms);
      out[static_cast<int64_t>(y) * to.row + static_cast<int64_t>(x) * to.column] =
          has_outside ? std::max(most, 0.0F) : most;
    }
  }
}

// The regions of images [r, 5] of (image, x1, y1, x2, y2), pooled.
struct Alignment {
  AlignOptions options;
  Maps maps;
  bool channels_last, is_mean, by_terms;

  void channels_of(const float* region, int64_t r, int64_t begin, int64_t end, float* row) const {
    const Places ys = places_of(options, region[2], region[4], maps.rows, maps.height),
                 xs = places_of(options, region[1], region[3], maps.columns, maps.width);
    if (!is_mean) {
      const Means terms = terms_of(maps.plane(region[0], 0), ys, xs);
      for (int64_t c = begin; c < end; ++c)
        largest_plane(maps.plane(region[0], c), terms, ys, xs, by_terms, maps.to, maps.target(r, c));
      return;
    }
    const Means down = means_of(ys), across = means_of(xs);
    if (channels_last)
      return mean_channels(maps.plane(region[0], 0), maps.channels, down, across, maps.target(r, 0));
    for (int64_t c = begin; c < end; ++c)
      mean_plane(maps.plane(region[0], c), down, across, row, maps.target(r, c));
  }
};

// data, rois, pooled_size, spatial_scale, sample_ratio, aligned, layout, mode -> the regions
Value roi_align(Args args) {
  constexpr std::string_view kWhat = "vision.roi_align";
  const Tensor data = input(args, 0, kWhat), rois = input(args, 1, kWhat), result = args[8].as_tensor();
  const bool channels_last = args[6].as_string() == "NHWC";
  const std::string_view mode = args[7].as_string();
  const Alignment align{{static_cast<float>(args[3].as_float()), args[4].as_int(), args[5].as_bool()},
                        Maps(data, result, channels_last),
                        channels_last,
                        mode == "avg",
                        mode == "max_of_terms"};
  const Maps& maps = align.maps;
  require_images(rois, data.shape()[0], kWhat);
  constexpr int64_t kChannels = 64, kWork = 1 << 15;  // of a task
  const int64_t block = channels_last ? std::max<int64_t>(maps.channels, 1) : kChannels,
                num_blocks = (maps.channels + block - 1) / block,
                work = std::max<int64_t>(1, 16 * block * maps.rows * maps.columns);
  parallel_for(rois.shape()[0] * num_blocks, std::max<int64_t>(1, kWork / work),
               [&](int64_t begin, int64_t end) {
                 std::vector<float> row(static_cast<size_t>(maps.width));
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t r = task / num_blocks, c = task % num_blocks * block;
                   align.channels_of(rois.data_as<float>() + 5 * r, r, c, std::min(c + block, maps.channels),
                                     row.data());
                 }
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

float largest_element(const Plane& plane, const Reach& down, const Reach& across) {
  if (down.begin >= down.end || across.begin >= across.end) return 0.0F;
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t n = down.begin; n < down.end; ++n) {
    for (int64_t m = across.begin; m < across.end; ++m) most = std::max(most, plane.at(n, m));
  }
  return most;
}

// data, rois, pooled_size, spatial_scale, layout -> the regions
Value roi_pool(Args args) {
  constexpr std::string_view kWhat = "vision.roi_pool";
  const Tensor data = input(args, 0, kWhat), rois = input(args, 1, kWhat), result = args[5].as_tensor();
  const auto scale = static_cast<float>(args[3].as_float());
  const Maps maps(data, result, args[4].as_string() == "NHWC");
  require_images(rois, data.shape()[0], kWhat);
  parallel_for(rois.shape()[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* region = rois.data_as<float>() + 5 * r;
      for (int64_t y = 0; y < maps.rows; ++y) {
        const Reach down = reach_of(scale, region[2], region[4], y, maps.rows, maps.height);
        for (int64_t x = 0; x < maps.columns; ++x) {
          const Reach across = reach_of(scale, region[1], region[3], x, maps.columns, maps.width);
          for (int64_t c = 0; c < maps.channels; ++c)
            maps.target(r, c)[y * maps.to.row + x * maps.to.column] =
                largest_element(maps.plane(region[0], c), down, across);
        }
      }
    }
  });
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.roi_align", roi_align, 9}, {"tilewright.roi_pool", roi_pool, 6}};

}  // namespace

std::span<const Entry> region_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
