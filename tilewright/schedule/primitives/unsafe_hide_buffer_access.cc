// unsafe_hide_buffer_access: a block does not say of some buffers that it accesses them.
#include <algorithm>

#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/support/count_text.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  std::string buf_type;
  std::vector<int64_t> buf_index_array;
  static constexpr std::string_view kRequired[] = {"buf_type", "buf_index_array"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "what hides its accesses"),
                      field<&Args::buf_type>("buf_type", "\"read\" or \"write\": from which list"),
                      field<&Args::buf_index_array>("buf_index_array", "the places in that list")};
  }
};

void apply(State& state, const Args& args) {
  const NodeId id = state[args.block];
  const BlockRealizeNode* realize = state.node(id).realize();
  if (args.buf_type != "read" && args.buf_type != "write")
    throw refuse(state, id, "a buffer is in list \"read\" or \"write\", not \"{}\"", args.buf_type);
  const bool is_read = args.buf_type == "read";
  const auto& regions = is_read ? realize->block->reads : realize->block->writes;
  std::vector<BufferRegion> kept;
  for (int64_t index : args.buf_index_array) {
    if (index < 0 || index >= static_cast<int64_t>(regions.size()))
      throw refuse(state, id, "block {} {} {}, there is no number {}", realize->block->name_hint,
                   is_read ? "reads" : "writes", count_text(regions.size(), "buffer"), index);
  }
  for (size_t n = 0; n < regions.size(); ++n) {
    const auto& hidden = args.buf_index_array;
    if (std::find(hidden.begin(), hidden.end(), static_cast<int64_t>(n)) == hidden.end())
      kept.push_back(regions[n]);
  }
  if (kept.size() == regions.size()) return;
  const Block block =
      with(realize->block, [&](BlockNode& n) { (is_read ? n.reads : n.writes) = std::move(kept); });
  state.regions_are_complete = false;
  state.replace(id, with(realize, [&](BlockRealizeNode& n) { n.block = block; }),
                {{realize->block.get(), block}});
}

}  // namespace

extern constinit const PrimitiveInfo unsafe_hide_buffer_access_info =
    primitive<apply>("unsafe_hide_buffer_access", R"(
Takes buffers off what a block says it reads or writes.  Primitives do not see these accesses any more: that what they then do is
right is for the caller to know.

    T.reads(A[vi], B[vi])    ->    T.reads(A[vi])            unsafe_hide_buffer_access(block, "read", [1])

block            stays valid
buf_type         "read" or "write"
buf_index_array  places in that list
Raises           UserError if there is no such place.
)");
}  // namespace tilewright::schedule
