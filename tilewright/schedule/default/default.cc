// The rules in the order in which they are tried.
#include "tilewright/schedule/default/default.h"

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/rules.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

std::vector<BlockShape> shapes_of(Schedule& sch) {
  std::vector<BlockShape> shapes;
  const BlockRef root = sch.call("get_block", "root").block();
  for (BlockRef block : sch.call("get_child_blocks", root).blocks()) {
    if (std::optional<BlockShape> shape = shape_of(sch, block)) shapes.push_back(std::move(*shape));
  }
  return shapes;
}

// Runs `rule` on a copy; what fails, or refuses, leaves the schedule as it was.
template <class Rule>
bool attempt(Schedule& sch, Rule&& rule) {
  Schedule copy = sch;
  try {
    if (!rule(copy)) return false;
  } catch (const Error& error) {
    fprintf(stderr, "%s\n", error.render().c_str());
    return false;
  }
  sch = std::move(copy);
  return true;
}

bool reads(const BlockShape& shape, const Buffer& buffer) {
  for (const BufferLoadNode* load : shape.loads) {
    if (load->buffer == buffer) return true;
  }
  return false;
}

std::vector<const BlockShape*> readers_of(const std::vector<BlockShape>& shapes, const BlockShape& writer) {
  std::vector<const BlockShape*> found;
  for (const BlockShape& shape : shapes) {
    if (shape.ref != writer.ref && reads(shape, writer.output())) found.push_back(&shape);
  }
  return found;
}

// A value that is cheap, or needed once, is computed where it is read: no memory in between.
bool is_worth_inlining(const std::vector<BlockShape>& shapes, const BlockShape& shape) {
  if (shape.is_reduction()) return false;
  const std::vector<const BlockShape*> readers = readers_of(shapes, shape);
  if (readers.empty() || (readers.size() > 1 && shape.is_expensive())) return false;
  for (const BlockShape* reader : readers) {
    if (reader->is_reduction()) return false;
  }
  return true;
}

void inline_elements(Schedule& sch) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    const std::vector<BlockShape> shapes = shapes_of(sch);
    for (const BlockShape& shape : shapes) {
      if (!is_worth_inlining(shapes, shape)) continue;
      is_changed = attempt(sch, [&](Schedule& copy) {
        copy.call("compute_inline", shape.ref);
        return true;
      });
      if (is_changed) break;  // the shapes of readers are others now
    }
  }
}

// The only reader of a sum, if it works element by element and comes after all else that it reads.
std::optional<BlockShape> epilogue_of(const std::vector<BlockShape>& shapes, const BlockShape& sum) {
  const std::vector<const BlockShape*> readers = readers_of(shapes, sum);
  if (readers.size() != 1 || readers[0]->is_reduction()) return std::nullopt;
  return *readers[0];
}

void apply_rules(Schedule& sch, const Machine& machine) {
  inline_elements(sch);
  const std::vector<BlockShape> shapes = shapes_of(sch);
  std::vector<BlockRef> done;
  auto is_done = [&](BlockRef block) { return std::find(done.begin(), done.end(), block) != done.end(); };
  for (const BlockShape& sum : shapes) {
    if (!sum.is_reduction()) continue;
    std::optional<BlockShape> epilogue = epilogue_of(shapes, sum);
    if (epilogue && is_done(epilogue->ref)) epilogue.reset();
    if (epilogue && attempt(sch, [&](Schedule& copy) { return tile_sum(copy, sum, epilogue, machine); })) {
      done.push_back(epilogue->ref);
      continue;
    }
    attempt(sch, [&](Schedule& copy) { return tile_sum(copy, sum, std::nullopt, machine); });
  }
  for (const BlockShape& shape : shapes) {
    if (!shape.is_reduction() && !is_done(shape.ref))
      attempt(sch, [&](Schedule& copy) { return vectorize_elements(copy, shape, machine); });
  }
}

}  // namespace

DefaultSchedule schedule_by_rules(const std::string& name, const PrimFunc& func, const Machine& machine) {
  if (!why_not_plain(func).empty()) return {func, {}};
  Schedule sch(ir::with_function(ir::IRModuleNode::make(), name, func));
  apply_rules(sch, machine);
  return {ir::ref_as<PrimFuncNode>(sch.module()->functions[0]), sch.trace()};
}

}  // namespace tilewright::schedule
