// Numbers of the estimates that decide how fast code is and that no description of hardware gives: each was
// measured once, and says where.  What a manual or the system can say of a machine is in features.h.
#pragma once
#include "tilewright/target/features.h"

namespace tilewright::target {

inline constexpr std::string_view kFitted = "fitted on a Xeon and a Zen 4; the times were not kept";

/// One row of the table of costs.
template <class Owner, class T>
struct CostField {
  T Owner::* member;
  std::string_view name, unit, doc, source;
};

// Register tiles and panels (schedule/default/cpu/register_tile.cc, sum_plan_tile.cc, panels.cc).
struct TileCosts {
  double load_share = 0.875;
  double far_share = 0.3;
  double near_share = 0.15;
  double load_cycles = 0.2;
  double piece_cycles = 10;
  int64_t packed_uses = 4;
  int64_t near_packed_uses = 32;
  int64_t near_packed_rows = 256;
  int64_t near_packed_stride = 1024;
  int64_t conflict_stride = 512;
  int64_t hidden_rows = 64;
  int64_t fetched_uses = 8;
  int64_t next_panel_uses = 64;
  int64_t fixed_weight_ratio = 5;
  int64_t open_rows = 4;
  int64_t short_row = 4;
  int64_t short_far_row = 7;
  int64_t written_out = 128;
  int64_t short_groups = 8;
  int64_t gather_stride = 4;
  int64_t block_rows = 256;
  int64_t block_least_rows = 96;
  int64_t block_products = 32;
  int64_t matrix_work = 1 << 15;

  static constexpr auto fields() {
    using C = TileCosts;
    constexpr std::string_view kXeon = "128 x 768 by 768 in nine tiles on a Xeon (Sapphire Rapids)";
    return std::tuple{
        CostField{&C::load_share, "load_share", "", "of the loads that can start, as some wait for a line",
                  kFitted},
        CostField{&C::far_share, "far_share", "",
                  "of the time in which panels come from L2 that arithmetic does not hide, if they come from "
                  "beyond L2",
                  "3 x 3 over 512 channels at 7 x 7 on a Xeon: 1.25 -> 1.09 ms"},
        CostField{&C::near_share, "near_share", "", "the same, if they come from L2", kXeon},
        CostField{&C::load_cycles, "load_cycles", "cycles",
                  "that arithmetic does not hide of each load, where L1 does not keep a panel", kXeon},
        CostField{&C::piece_cycles, "piece_cycles", "cycles",
                  "until a piece of a far row comes that no prefetcher announces",
                  "1 x 1024 by 1024 x 1024 on a Zen 4: 52 us by 8 vectors, 75 by 4"},
        CostField{&C::packed_uses, "packed_uses", "tiles", "that read a panel, to pay for its copy", kFitted},
        CostField{&C::near_packed_uses, "near_packed_uses", "tiles", "the same, if L2 holds all panels",
                  "measured on a Xeon"},
        CostField{&C::near_packed_rows, "near_packed_rows", "", "of panels that L2 holds, to pay for a copy",
                  "measured on a Xeon"},
        CostField{&C::near_packed_stride, "near_packed_stride", "bytes", "between them",
                  "measured on a Xeon"},
        CostField{&C::conflict_stride, "conflict_stride", "bytes",
                  "between rows from which on they may push each other out of L1", kFitted},
        CostField{&C::hidden_rows, "hidden_rows", "rows", "of more, arithmetic hides what far panels take",
                  kFitted},
        CostField{&C::fetched_uses, "fetched_uses", "tiles",
                  "that read vectors from far: of more, fetching ahead does not pay", kFitted},
        CostField{&C::next_panel_uses, "next_panel_uses", "tiles",
                  "that share the fetching of the next panel; of more, the first hardly counts", kFitted},
        CostField{&C::fixed_weight_ratio, "fixed_weight_ratio", "",
                  "weights so many times as large as rows are shared out among threads, not rows",
                  "kwt1 and 128 x 768 by 3,072 on two threads of a Xeon"},
        CostField{&C::open_rows, "open_rows", "rows", "of a tile of an unknown number of them", kFitted},
        CostField{&C::short_row, "short_row", "rows", "of an axis that alone make no good tile", kFitted},
        CostField{&C::short_far_row, "short_far_row", "rows",
                  "the same, if each tile reads its panel from far",
                  "3 x 3 over 512 channels at 7 x 7 on a Xeon: 1.25 -> 1.09 ms"},
        CostField{&C::written_out, "written_out", "",
                  "multiply-adds of windows that are written out, at most", kFitted},
        CostField{&C::short_groups, "short_groups", "groups",
                  "of panels that are copied together, at least, where the last panel is not whole",
                  "sums of loops with whole tiles and parts of them do not stay in registers"},
        CostField{&C::gather_stride, "gather_stride", "elements",
                  "between the lanes of a vector that is loaded at once, at most", kFitted},
        CostField{&C::block_rows, "block_rows", "rows", "of a block of matrix tiles, at most",
                  "products of bfloat16 on a Xeon with AMX"},
        CostField{&C::block_least_rows, "block_least_rows", "rows",
                  "that L2 keeps; of fewer, parts of them stay there",
                  "products of bfloat16 on a Xeon with AMX"},
        CostField{&C::block_products, "block_products", "tiles",
                  "that a block multiplies before its sums come and go",
                  "products of bfloat16 on a Xeon with AMX"},
        CostField{&C::matrix_work, "matrix_work", "multiply-adds", "of a product, for matrix tiles to pay",
                  "products of bfloat16 on a Xeon with AMX"}};
  }
};

// When loops become parallel, and what elements count for (schedule/default/cpu/shape.h, vectorize.cc).
struct LoopCosts {
  int64_t likely_extent = 64;
  int64_t element_work = 4;
  int64_t expensive_work = 32;
  int64_t iterations_per_core = 4;
  int64_t uneven_part = 20;
  int64_t least_vector = 4;
  int64_t most_sums = 4;
  int64_t transposed_block = 8;
  int64_t added_rows_bytes = 1 << 20;
  int64_t unrolled_parts = 8;

  static constexpr auto fields() {
    using C = LoopCosts;
    return std::tuple{
        CostField{&C::likely_extent, "likely_extent", "", "of a dimension that is not known",
                  "between one row and the hundreds of a batch or a sequence"},
        CostField{&C::element_work, "element_work", "multiply-adds",
                  "that an element counts for which is read and written",
                  "0.1 ns beside 0.01 on a Xeon, of which a second thread saves less than half"},
        CostField{&C::expensive_work, "expensive_work", "multiply-adds", "that exp and the like count for",
                  kFitted},
        CostField{&C::iterations_per_core, "iterations_per_core", "",
                  "of a parallel loop, so that slower cores get less", kFitted},
        CostField{&C::uneven_part, "uneven_part", "", "one iteration in so many may be one core's more",
                  kFitted},
        CostField{&C::least_vector, "least_vector", "elements", "below which a vector does not pay", kFitted},
        CostField{&C::most_sums, "most_sums", "vectors",
                  "of partial sums of a row: additions do not wait for each other then", kFitted},
        CostField{&C::transposed_block, "transposed_block", "tiles", "of a transposition that share a page",
                  kFitted},
        CostField{&C::added_rows_bytes, "added_rows_bytes", "bytes",
                  "between rows of an added operand, beyond which they are not fetched ahead", kFitted},
        CostField{&C::unrolled_parts, "unrolled_parts", "", "of numbers that a loop takes apart, written out",
                  kFitted}};
  }
};

// Graph passes (relax/), and the convolutions of te/topi.
struct GraphCosts {
  int64_t likely_batch = 8;
  int64_t likely_picture = 224;
  int64_t most_plans = 4;
  int64_t widest_lanes = 16;
  double layout_gain = 1.1;
  double dot_gain = 4;
  double winograd_gain = 2;
  double winograd_share = 0.9;
  int64_t winograd_far_bytes = 8 << 20;
  int64_t winograd_farthest_bytes = 16 << 20;
  int64_t winograd_far_tiles = 16;
  int64_t winograd_farthest_tiles = 24;
  int64_t bfloat_tile_speedup = 10;
  int64_t split_tile_rows = 14;
  int64_t narrow_channels = 7;
  int64_t narrow_work = 1 << 15;
  int64_t group_lanes = 4;
  int64_t group_terms = 6;
  int64_t aligned_least_bytes = 1 << 16;
  int64_t aligned_most_bytes = 1 << 22;
  int64_t attention_keys = 256;
  int64_t attention_keys_at_once = 512;
  int64_t attention_open_keys = 64;
  int64_t attention_open_lanes = 16;
  int64_t attention_wide_batch = 4;
  int64_t attention_queries = 5;

  static constexpr auto fields() {
    using C = GraphCosts;
    return std::tuple{
        CostField{
            &C::likely_batch, "likely_batch", "images", "of a batch whose number is not known",
            "between one and 64: ResNet-50 at 1 and 8 images takes 0.994 and 0.975 of the speed of fixed "
            "ones; planned for 1, 0.982 and 0.962"},
        CostField{&C::likely_picture, "likely_picture", "pixels", "of an image's side that is not known",
                  "ImageNet's, which most networks for pictures are trained on"},
        CostField{&C::most_plans, "most_plans", "", "of a kernel, between which it chooses by extents",
                  "each is code of its own: ResNet-50 for 1 and 8 images has 1.29 of the code for 8"},
        CostField{&C::widest_lanes, "widest_lanes", "elements",
                  "of float32 in the widest vectors: channels and rows that fill them suit all",
                  "ShuffleNet and ultraface on a Zen 4 (passes/convert_layout.cc)"},
        CostField{&C::layout_gain, "layout_gain", "",
                  "of the estimated time, to pay for permuting what goes in and out", kFitted},
        CostField{&C::dot_gain, "dot_gain", "", "of instructions that add products of bytes",
                  "four products in the place of one"},
        CostField{&C::winograd_gain, "winograd_gain", "", "of convolutions that Winograd's sums suit",
                  kFitted},
        CostField{&C::winograd_share, "winograd_share", "",
                  "of the multiplications that Winograd may take, as transforms take time, too",
                  "6 x 6 to 14 x 14 places of 64 to 512 channels on a Zen 4"},
        CostField{&C::winograd_far_bytes, "winograd_far_bytes", "bytes",
                  "of transformed weights that come from memory, mostly",
                  "7 x 7 and 14 x 14 places of 128 to 512 channels on a Zen 4 with 32 MiB of L3"},
        CostField{&C::winograd_farthest_bytes, "winograd_farthest_bytes", "bytes", "and of those that all do",
                  "the same"},
        CostField{&C::winograd_far_tiles, "winograd_far_tiles", "tiles",
                  "that are computed while such a weight is read", "the same"},
        CostField{&C::winograd_farthest_tiles, "winograd_farthest_tiles", "tiles",
                  "the same, of the farthest", "the same"},
        CostField{&C::bfloat_tile_speedup, "bfloat_tile_speedup", "",
                  "products of bfloat16 in tile registers beside one of float32",
                  "512 multiply-adds of a tile in a cycle beside 32, of which memory leaves about ten"},
        CostField{&C::split_tile_rows, "split_tile_rows", "rows",
                  "of a tile, from which on six products of bfloat16 are faster than one of float32",
                  "14 x 14 x 1024 by 256 on a Xeon: 0.44 ms beside 0.60"},
        CostField{&C::narrow_channels, "narrow_channels", "",
                  "of images, at most, whose rows are terms of a product", kFitted},
        CostField{&C::narrow_work, "narrow_work", "multiply-adds", "of such a convolution, at least",
                  kFitted},
        CostField{&C::group_lanes, "group_lanes", "channels", "of a group that make a vector, at least",
                  kFitted},
        CostField{&C::group_terms, "group_terms", "", "of a sum, to pay for storing it in another order",
                  kFitted},
        CostField{&C::aligned_least_bytes, "aligned_least_bytes", "bytes",
                  "of an argument of numbers of one or two bytes, from which on a copy that begins with a "
                  "line pays",
                  "1,024^3 of bfloat16 in arrays of numpy on a Xeon: 3,670 us, 1,860 by a copy"},
        CostField{&C::aligned_most_bytes, "aligned_most_bytes", "bytes",
                  "and up to which: larger ones may be weights, which are read once", kFitted},
        CostField{&C::attention_keys, "attention_keys", "keys", "of a block", kFitted},
        CostField{&C::attention_keys_at_once, "attention_keys_at_once", "keys",
                  "that one block takes, as their scores stay near the core", kFitted},
        CostField{&C::attention_open_keys, "attention_open_keys", "keys",
                  "of a block where their number is not known", kFitted},
        CostField{&C::attention_open_lanes, "attention_open_lanes", "queries",
                  "of a block where their number is not known: it may be 1", kFitted},
        CostField{&C::attention_wide_batch, "attention_wide_batch", "",
                  "of heads and batch, from which on blocks may have more than 64 queries",
                  "cores have enough to do then"},
        CostField{&C::attention_queries, "attention_queries", "queries",
                  "of fewer, blocks would leave lanes idle", kFitted}};
  }
};

inline constexpr TileCosts kTileCosts;
inline constexpr LoopCosts kLoopCosts;
inline constexpr GraphCosts kGraphCosts;

/// All costs, in the order of the tables.
std::vector<FeatureRow> cost_rows();

}  // namespace tilewright::target
