// Values that are cheap, or needed once, are computed where they are read: no memory in between.
#include "tilewright/schedule/default/inlining.h"

#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/block_roles.h"

namespace tilewright::schedule {

std::vector<const BlockShape*> readers_of(const std::vector<BlockShape>& shapes, const BlockShape& writer) {
  std::vector<const BlockShape*> found;
  for (const BlockShape& shape : shapes) {
    if (shape.ref != writer.ref && reads(shape, writer.output())) found.push_back(&shape);
  }
  return found;
}

std::vector<BlockRef> outer_blocks(Schedule& sch, const std::string& func_name) {
  return steps::get_child_blocks(sch, steps::get_block(sch, "root", func_name));
}

std::vector<BlockShape> shapes_of(const Schedule& sch, const std::vector<BlockRef>& blocks) {
  std::vector<BlockShape> found;
  for (BlockRef block : blocks) {
    if (!sch.is_alive(block)) continue;
    if (OrReason<BlockShape> shape = shape_of(sch, block)) found.push_back(std::move(*shape));
  }
  return found;
}

namespace {

// The expressions of one statement, at most: y = x + x doubles with every step that is inlined.
constexpr int64_t kMaxInlinedNodes = 1000;

int64_t num_nodes(const PrimExpr& expr) {
  int64_t count = 0;
  walk(expr, [&](const PrimExprNode*) { ++count; });
  return count;
}

// How many different elements of `buffer` one instance of `shape` reads, and how many loads do so.
std::pair<int64_t, int64_t> num_reads(const BlockShape& shape, const Buffer& buffer) {
  std::vector<const BufferLoadNode*> different;
  int64_t count = 0;
  for (const BufferLoadNode* load : shape.loads) {
    if (load->buffer != buffer) continue;
    ++count;
    auto is_same = [&](const BufferLoadNode* other) {
      return structural_equal(ObjectRef(load), ObjectRef(other));
    };
    if (std::none_of(different.begin(), different.end(), is_same)) different.push_back(load);
  }
  return {static_cast<int64_t>(different.size()), count};
}

// True if `reader` reads neighbours in the results of `shape`, which lie apart in what `shape` reads.
bool has_neighbours_apart(const BlockShape& shape, const BlockShape& reader) {
  const std::optional<size_t> own = shape.last_axis(), column = reader.last_axis();
  if (!own || !column) return false;
  const auto is_apart = [&](const BufferLoadNode* load) {
    return along(shape, load, *own) == Along::kStrided;
  };
  return std::ranges::any_of(shape.loads, is_apart) &&
         std::ranges::any_of(reader.loads, [&](const BufferLoadNode* load) {
           return load->buffer == shape.output() && along(reader, load, *column) == Along::kContiguous;
         });
}

// The reason why `reader` should load the results of `shape` and not compute them; nothing if it may.
std::optional<Reason> why_not_into(const BlockShape& shape, const BlockShape& reader, const IsFree& is_free) {
  const auto [num_elements, num_loads] = num_reads(reader, shape.output());
  if (num_elements == 1 && reader.is_reduction() && is_free(shape, reader)) return std::nullopt;
  const std::string &name = reader.block->name_hint, &buffer = shape.output()->name;
  const bool is_computed_again = num_elements > 1 || reader.num_instances() > shape.num_instances();
  // blocks whose small axes are unrolled share loads between the values of these axes
  if (is_computed_again && (shape.is_expensive() || reader.is_reduction() || is_chosen_by_axis(reader)))
    return Reason(Reason::kCost, "block {} would compute about {} elements of {}, which has about {}, and {}",
                  name, product(num_elements, reader.num_instances()), buffer, shape.num_instances(),
                  shape.is_expensive()    ? "they call functions"
                  : reader.is_reduction() ? "it is a reduction"
                                          : "values of its small axis share them");
  if (is_computed_again && has_neighbours_apart(shape, reader))
    return Reason(Reason::kCost,
                  "block {} would collect about {} elements that lie apart, and {} has about {} side by side",
                  name, product(num_elements, reader.num_instances()), buffer, shape.num_instances());
  const int64_t nodes = num_nodes(reader.store->value) + product(num_nodes(shape.store->value), num_loads);
  if (nodes <= kMaxInlinedNodes) return std::nullopt;
  return Reason(Reason::kCost, "the value of block {} would have {} expressions, more than {}", name, nodes,
                kMaxInlinedNodes);
}

// True if rule tile_pool computes `shape` for many readers at once.
bool is_part_of_pool(const BlockShape& shape) {
  const std::string role = shape.block->annotations.get_string(kRole, "");
  return role == kPoolRows || role == kPoolStep;
}

// A value that is cheap, or needed once, is computed where it is read: no memory in between.  Nothing if
// `shape` has one, else the reason.
//
// kept  buffers that blocks of other forms read
std::optional<Reason> why_not_inlined(const std::vector<BlockShape>& shapes, const BlockShape& shape,
                                      const std::vector<Buffer>& kept, const IsFree& is_free) {
  if (shape.is_reduction()) return Reason(Reason::kOther, "it is a reduction");
  if (is_part_of_pool(shape)) return Reason(Reason::kOther, "it is a part of a pool");
  const std::vector<const BlockShape*> readers = readers_of(shapes, shape);
  if (readers.empty()) return Reason(Reason::kOther, "no block reads {}", shape.output()->name);
  const int64_t wish = shape.planned("inlined", kByRules);
  if (wish == 0) return Reason(Reason::kCost, "its plan keeps {} in memory", shape.output()->name);
  if (readers.size() > 1 && shape.is_expensive() && wish != 1)
    return Reason(Reason::kCost, "{} blocks read {}, and each would call its functions again", readers.size(),
                  shape.output()->name);
  for (const BlockShape* reader : readers) {
    if (std::optional<Reason> why = why_not_into(shape, *reader, is_free); why && wish != 1) return why;
  }
  if (std::find(kept.begin(), kept.end(), shape.output()) == kept.end()) return std::nullopt;
  return Reason(Reason::kForm, "a block that is not one store reads {}", shape.output()->name);
}

// The buffers that blocks of unknown form read, an unknown number of times.
std::vector<Buffer> read_elsewhere(const Schedule& sch, const std::vector<BlockRef>& blocks) {
  std::vector<Buffer> found;
  for (BlockRef block : blocks) {
    if (!sch.is_alive(block) || shape_of(sch, block)) continue;
    for (const BufferRegion& read : sch.get(block)->reads) found.push_back(read->buffer);
  }
  return found;
}

}  // namespace

void inline_elements(Schedule& sch, const std::vector<BlockRef>& blocks, const IsFree& is_free,
                     std::vector<Attempt>* attempts) {
  const std::vector<Buffer> kept = read_elsewhere(sch, blocks);
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    const std::vector<BlockShape> all = shapes_of(sch, blocks);
    const size_t num_attempts = attempts->size();
    for (const BlockShape& shape : all) {
      std::optional<Reason> reason = why_not_inlined(all, shape, kept, is_free);
      if (!reason)
        reason = try_rule(sch, [&](Schedule& copy) {
          steps::compute_inline(copy, shape.ref);
          return std::nullopt;
        });
      is_changed = !reason;
      // after a change, blocks that were refused are tried again with the new shapes of their readers
      if (is_changed) attempts->resize(num_attempts);
      note(attempts, "inline", shape.block, std::move(reason));
      if (is_changed) break;
    }
  }
}

}  // namespace tilewright::schedule
