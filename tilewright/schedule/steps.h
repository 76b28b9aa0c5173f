// Primitives as functions with types, for schedules that C++ writes:
//   const std::vector<LoopRef> loops = steps::split(sch, loop, {None{}, 4});
// A step takes the first arguments of its primitive, as many as C++ code needs; the others have their
// defaults.  tests/schedule/steps_test.cc compares names and types with the primitive's field table.
#pragma once
#include "tilewright/schedule/schedule.h"

namespace tilewright::schedule::steps {

/// How a caller gives an argument of type T.
template <class T>
struct ParamOf {
  using Type = const T&;
};
template <>
struct ParamOf<std::string> {
  using Type = std::string_view;
};

/// A primitive that gives `Returned` and takes `Args`, which are called `args`.
template <class Returned, class... Args>
struct Step {
  std::string_view name;
  std::array<std::string_view, sizeof...(Args)> args;

  /// Runs the primitive on `sch`, which records the step.  Raises what the primitive raises.
  Returned operator()(Schedule& sch, typename ParamOf<Args>::Type... values) const {
    [[maybe_unused]] const Result result = sch.call(name, Args(values)...);
    if constexpr (std::is_same_v<Returned, LoopRef>) return result.loop();
    if constexpr (std::is_same_v<Returned, BlockRef>) return result.block();
    if constexpr (std::is_same_v<Returned, std::vector<LoopRef>>) return result.loops();
    if constexpr (std::is_same_v<Returned, std::vector<BlockRef>>) return result.blocks();
  }
};

/// The buffer number `place` of those that a block reads, or writes.
inline BufferArg read_buffer(int64_t place) { return {std::pair{std::string("read"), place}}; }
inline BufferArg written_buffer(int64_t place) { return {std::pair{std::string("write"), place}}; }

using Loops = std::vector<LoopRef>;
using Blocks = std::vector<BlockRef>;

// ---- what there is
inline constexpr Step<BlockRef, std::string, std::optional<std::string>> get_block{"get_block",
                                                                                   {"name", "func_name"}};
inline constexpr Step<Loops, BlockRef> get_loops{"get_loops", {"block"}};
inline constexpr Step<Blocks, PlaceRef> get_child_blocks{"get_child_blocks", {"block_or_loop"}};

// ---- loops
inline constexpr Step<Loops, LoopRef, Factors> split{"split", {"loop", "factors"}};
inline constexpr Step<Loops, LoopRef, Factors> loop_partition{"loop_partition", {"loop", "factors"}};
inline constexpr Step<LoopRef, Loops> fuse{"fuse", {"loops"}};
inline constexpr Step<void, Loops> reorder{"reorder", {"loops"}};
inline constexpr Step<void, LoopRef> parallel{"parallel", {"loop"}};
inline constexpr Step<void, LoopRef> vectorize{"vectorize", {"loop"}};
inline constexpr Step<void, LoopRef> unroll{"unroll", {"loop"}};
inline constexpr Step<void, LoopRef, std::string> bind{"bind", {"loop", "thread_axis"}};
inline constexpr Step<LoopRef, PlaceRef> add_unit_loop{"add_unit_loop", {"block_or_loop"}};
inline constexpr Step<void, PlaceRef, std::string, ObjectRef> annotate{
    "annotate", {"block_or_loop", "ann_key", "ann_val"}};

// ---- where blocks are computed
inline constexpr Step<void, BlockRef, LoopRef> compute_at{"compute_at", {"block", "loop"}};
inline constexpr Step<void, BlockRef, LoopRef> reverse_compute_at{"reverse_compute_at", {"block", "loop"}};
inline constexpr Step<void, BlockRef> compute_inline{"compute_inline", {"block"}};
inline constexpr Step<void, BlockRef> reverse_compute_inline{"reverse_compute_inline", {"block"}};

// ---- reductions
inline constexpr Step<BlockRef, BlockRef, LoopRef> decompose_reduction{"decompose_reduction",
                                                                       {"block", "loop"}};
inline constexpr Step<BlockRef, LoopRef, int64_t> rfactor{"rfactor", {"loop", "factor_axis"}};

// ---- buffers and layouts
inline constexpr Step<BlockRef, BlockRef, BufferArg, std::string> cache_read{
    "cache_read", {"block", "read_buffer_index", "storage_scope"}};
inline constexpr Step<BlockRef, BlockRef, BufferArg, std::string> cache_write{
    "cache_write", {"block", "write_buffer_index", "storage_scope"}};
inline constexpr Step<void, BlockRef, BufferArg, std::string> set_scope{
    "set_scope", {"block", "buffer_index", "storage_scope"}};
inline constexpr Step<BlockRef, BlockRef, BufferArg> reindex{"reindex", {"block", "buffer"}};
inline constexpr Step<void, BlockRef, std::vector<int64_t>> pad_einsum{"pad_einsum", {"block", "padding"}};
inline constexpr Step<void, BlockRef, BufferArg, int64_t, int64_t, int64_t> storage_align{
    "storage_align", {"block", "buffer_index", "axis", "factor", "offset"}};
inline constexpr Step<void, BlockRef, BufferArg, IndexMap> transform_layout{"transform_layout",
                                                                            {"block", "buffer", "index_map"}};
inline constexpr Step<void, BlockRef, IndexMap> transform_block_layout{"transform_block_layout",
                                                                       {"block", "index_map"}};

// ---- instructions
inline constexpr Step<void, PlaceRef, std::string> tensorize{"tensorize", {"block_or_loop", "tensor_intrin"}};

/// All of them.
inline constexpr auto kAll = std::tuple{get_block,
                                        get_loops,
                                        get_child_blocks,
                                        split,
                                        loop_partition,
                                        fuse,
                                        reorder,
                                        parallel,
                                        vectorize,
                                        unroll,
                                        bind,
                                        add_unit_loop,
                                        annotate,
                                        compute_at,
                                        reverse_compute_at,
                                        compute_inline,
                                        reverse_compute_inline,
                                        decompose_reduction,
                                        rfactor,
                                        cache_read,
                                        cache_write,
                                        set_scope,
                                        reindex,
                                        pad_einsum,
                                        storage_align,
                                        transform_layout,
                                        transform_block_layout,
                                        tensorize};

}  // namespace tilewright::schedule::steps
