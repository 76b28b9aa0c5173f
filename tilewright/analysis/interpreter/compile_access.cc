// Loads and stores: checks of bounds, declared regions, uninitialised elements and races.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/analysis/interpreter/compiler.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {

std::string Access::element_text(const int64_t* index) const {
  const auto* load = site->node.as<BufferLoadNode>();
  const auto* store = site->node.as<BufferStoreNode>();
  const std::vector<PrimExpr>* written = load ? &load->indices : store ? &store->indices : nullptr;
  std::vector<std::string> texts;
  for (size_t dim = 0; dim < buffer->shape.size(); ++dim) {
    // uint64 values are stored as the bits of an int64
    const bool is_unsigned = written && dim < written->size() && (*written)[dim]->dtype == DataType::uint(64);
    texts.push_back(is_unsigned ? fmt::format("{}", static_cast<uint64_t>(index[dim]))
                                : fmt::format("{}", index[dim]));
  }
  return fmt::format("{}[{}]", buffer->name, fmt::join(texts, ", "));
}

namespace {

bool lies_in(const Frame& frame, size_t first, const std::vector<int64_t>& index) {
  for (size_t dim = 0; dim < index.size(); ++dim) {
    const Bounds& bounds = frame.bounds[first + dim];
    if (index[dim] < bounds.min || index[dim] >= bounds.min + bounds.extent) return false;
  }
  return true;
}

std::string region_values(const Frame& frame, const RegionBounds& region) {
  std::string text = region.region->buffer->name + "[";
  for (size_t dim = 0; dim < region.region->region.size(); ++dim) {
    const Bounds& bounds = frame.bounds[region.first + dim];
    text += dim ? ", " : "";
    text += bounds.extent == 1 ? fmt::format("{}", bounds.min)
                               : fmt::format("{}:{}", bounds.min, bounds.min + bounds.extent);
  }
  return text + "]";
}

// The indices into the buffer of the block, through the views between the access and the block.
std::vector<int64_t> shifted(const Frame& frame, const RegionCheck& check, const int64_t* index,
                             size_t ndim) {
  std::vector<int64_t> result(index, index + ndim);
  for (const auto& [first, outer_ndim] : check.through) {
    std::vector<int64_t> outer(outer_ndim);
    const size_t leading = outer_ndim - result.size();
    for (size_t dim = 0; dim < outer_ndim; ++dim)
      outer[dim] = frame.bounds[first + dim].min + (dim < leading ? 0 : result[dim - leading]);
    result = std::move(outer);
  }
  return result;
}

}  // namespace

void Access::fail_region(const RegionCheck& check, Frame& frame, const int64_t* index) const {
  const std::vector<int64_t> place = shifted(frame, check, index, buffer->shape.size());
  const std::string verb = is_write ? "writes" : "reads";
  if (check.allowed.empty())
    throw UserError(site->node, "block {} {} {}, but its {} does not name the buffer{}", check.block, verb,
                    element_text(index), check.function, site->at(frame));
  const RegionBounds& region = check.allowed.back();
  throw UserError(site->node, "block {} {} {}[{}], but its {} says {}, here {}{}", check.block, verb,
                  region.region->buffer->name, fmt::join(place, ", "), check.function,
                  region_text(region.region), region_values(frame, region), site->at(frame));
}

void Access::check_regions(Frame& frame, const int64_t* index) const {
  for (const RegionCheck& check : checks) {
    const std::vector<int64_t> place = shifted(frame, check, index, buffer->shape.size());
    const bool is_declared =
        std::any_of(check.allowed.begin(), check.allowed.end(),
                    [&](const RegionBounds& region) { return lies_in(frame, region.first, place); });
    if (!is_declared) fail_region(check, frame, index);
  }
}

void Access::fail_race(const Parting& part, bool was_write, Frame& frame, const int64_t* index) const {
  if (const Grid* grid = part.first->grid) {
    const bool are_threads = grid->axes.front().first.starts_with("threadIdx.");
    throw UserError(site->node, "two {} touch {}{}: {} {} it, {} {} it{}", are_threads ? "threads" : "blocks",
                    element_text(index), are_threads ? " with no barrier between" : "",
                    runner_text(part.first_access, grid), was_write ? "writes" : "reads",
                    runner_text(part.second_access, grid), is_write ? "writes" : "reads", site->at(frame));
  }
  throw UserError(site->node,
                  "iterations {1} = {2} and {1} = {3} of a loop that may run them at the same time touch "
                  "{0}: {1} = {2} {4} it, {1} = {3} {5} it{6}",
                  element_text(index), *part.first->loop, part.first->iteration, part.second->iteration,
                  was_write ? "writes" : "reads", is_write ? "writes" : "reads", site->at(frame));
}

void Access::fail_uninitialised(Frame& frame, const int64_t* index) const {
  throw UserError(site->node, "{} is read before anything is written to it{}", element_text(index),
                  site->at(frame));
}

namespace {

bool holds(const char* memory, int64_t place, DataType element, Scalar value) {
  char bytes[16];
  const auto size = static_cast<size_t>((element.bits + 7) / 8);
  std::memcpy(bytes, memory + place / 8, size);
  store_element(bytes, place % 8, element, value);
  return std::memcmp(bytes, memory + place / 8, size) == 0;
}

}  // namespace

int64_t Access::place(Frame& frame, const int64_t* index, bool* is_there, const Scalar* value) const {
  const View& view = frame.views[this->view];
  const size_t ndim = view.shape.size();
  int64_t position = view.offset;
  for (size_t dim = 0; dim < ndim; ++dim) {
    if (index[dim] < 0 || index[dim] >= view.shape[dim])
      throw UserError(site->node, "{} is outside of the buffer: dimension {} has extent {}{}",
                      element_text(index), dim, view.shape[dim], site->at(frame));
    position += index[dim] * view.strides[dim];
  }
  Memory& memory = *view.memory;
  const int64_t size = bits_of(buffer->dtype), begin = position * size;
  if (begin < 0 || begin + size > memory.num_bytes * 8)
    throw UserError(site->node, "{} is outside of the memory of {}, which has {} bytes{}",
                    element_text(index), memory.name, memory.num_bytes, site->at(frame));
  if (frame.speculative) return begin;
  const InterpretOptions& options = frame.program->options;
  if (!checks.empty()) check_regions(frame, index);
  if (!memory.pending.empty() && memory.is_pending(begin, size))
    frame.group->copies().fail_pending(
        memory, begin, site->node,
        fmt::format("{} is {}", element_text(index), is_write ? "written" : "read"), site->at(frame));
  if (is_write) {
    if (memory.read_only)
      throw UserError(site->node, "{} is written, but the argument is read only{}", element_text(index),
                      site->at(frame));
    memory.mark_written(begin, size);
  } else if (options.check_uninitialised && !memory.is_written(begin, size)) {
    if (!is_there) fail_uninitialised(frame, index);
    *is_there = false;
  }
  if (options.check_races) {
    bool was_write = false;
    const Strand* strand = is_of_sum ? frame.sum_strand : frame.strand;
    if (const Parting part = memory.touch(begin, size, strand, is_write, &was_write)) {
      // threads that copy the same elements do no harm
      const bool is_same =
          part.first->grid && was_write && value && holds(memory.data, begin, element, *value);
      if (!is_same) fail_race(part, was_write, frame, index);
    }
  }
  return begin;
}

// The declared regions of the enclosing blocks for `buffer`, innermost first.
std::vector<RegionCheck> Compiler::region_checks(const Buffer& buffer, bool is_write) {
  std::vector<RegionCheck> checks;
  if (!options_.check_regions) return checks;
  const BufferNode* seen = buffer.get();
  std::vector<std::pair<size_t, size_t>> through;
  bool is_started = false;  // by the init of an enclosing block
  for (size_t n = blocks_.size(); n-- > 0;) {
    const OpenBlock& open = blocks_[n];
    if (auto match = open.matched.find(seen); match != open.matched.end()) {
      const BufferRegion& source = match->second.region;
      if (source->region.size() < seen->shape.size()) break;
      through.emplace_back(match->second.first, source->region.size());
      seen = source->buffer.get();
    }
    auto depth = depth_of_.find(seen);
    if (depth != depth_of_.end() && depth->second > n)
      break;  // allocated in this block, so outer blocks declare nothing about it
    if (!open.declares_regions) continue;
    RegionCheck check{open.block->name_hint, is_write ? "T.writes" : "T.reads", {}, through};
    auto take = [&](const std::vector<RegionBounds>& regions) {
      for (const RegionBounds& region : regions) {
        if (region.region->buffer.get() == seen) check.allowed.push_back(region);
      }
    };
    // a reduction may read the elements that its init wrote, and so may the enclosing blocks
    is_started = is_started || open.block->init;
    if (!is_write && is_started) take(open.writes);
    take(is_write ? open.writes : open.reads);
    checks.push_back(std::move(check));
  }
  return checks;
}

// True if the access is to the element to which threads add together in the innermost block.
bool Compiler::is_of_sum(const Buffer& buffer, const std::vector<PrimExpr>& indices, bool is_write) const {
  if (std::find(sums_.begin(), sums_.end(), buffer->data.get()) == sums_.end()) return false;
  bool is_updated = is_write;
  walk(blocks_.back().block->body, [&](const BufferStoreNode* store) {
    is_updated |= store->buffer == buffer &&
                  std::equal(indices.begin(), indices.end(), store->indices.begin(), store->indices.end(),
                             [](const PrimExpr& a, const PrimExpr& b) { return ir::structural_equal(a, b); });
    return true;
  });
  return is_updated;
}

std::shared_ptr<Access> Compiler::access(const Buffer& buffer, const std::vector<PrimExpr>& indices,
                                         bool is_write, const ObjectRef& node) {
  auto access = std::make_shared<Access>();
  access->buffer = buffer;
  access->view = view_of(buffer, node);
  access->element = buffer->dtype.element();
  access->buffer_lanes = buffer->dtype.lanes;
  access->indices = exprs(indices);
  access->checks = region_checks(buffer, is_write);
  access->is_write = is_write;
  access->is_of_sum = is_of_sum(buffer, indices, is_write);
  access->site = site(node);
  TILEWRIGHT_CHECK(!buffer->dtype.is_scalable(), "access to {} of dtype {}", buffer->name,
                   buffer->dtype.str());
  return access;
}

namespace {

constexpr size_t kMaxDims = 16;

// Moves the lanes of a vector that leave their row to the next row, if the rows are adjacent in memory.
void carry_over(const View& view, int64_t* index, size_t ndim) {
  for (size_t dim = ndim - 1; dim > 0; --dim) {
    const int64_t extent = view.shape[dim];
    if (extent < 1 || index[dim] < extent || view.strides[dim - 1] != view.strides[dim] * extent) return;
    index[dim - 1] += index[dim] / extent;
    index[dim] %= extent;
  }
}

// Calls `f(lane, index)` for each lane of the last index; the other dimensions have a single value.
template <class F>
void for_each_lane(const Access& access, const CodePtr& predicate, Frame& frame, F f) {
  int64_t index[kMaxDims] = {};
  const size_t ndim = access.indices.size();
  for (size_t dim = 0; dim + 1 < ndim; ++dim) index[dim] = access.indices[dim]->as_int(frame);
  if (ndim == 0) return f(size_t{0}, index);
  const Lanes last(*access.indices.back(), frame);
  std::optional<Lanes> mask;
  if (predicate) mask.emplace(*predicate, frame);
  for (size_t n = 0; n < last.size(); ++n) {
    if (mask && !(*mask)[n].i) continue;
    int64_t place[kMaxDims];
    std::copy_n(index, ndim, place);
    place[ndim - 1] = last[n].i;
    if (last.size() > 1) carry_over(frame.views[access.view], place, ndim);
    f(n, place);
  }
}

}  // namespace

CodePtr Compiler::load(const BufferLoadNode* load) {
  if (load->indices.size() > kMaxDims)
    throw Unsupported(load, "the interpreter does not support buffers of more than {} dimensions", kMaxDims);
  std::shared_ptr<Access> access = this->access(load->buffer, load->indices, false, ObjectRef(load));
  const bool is_plain = load->dtype.is_scalar() && !load->predicate;
  auto element = [access](Frame& frame) {
    int64_t index[kMaxDims];
    for (size_t dim = 0; dim < access->indices.size(); ++dim)
      index[dim] = access->indices[dim]->as_int(frame);
    const int64_t place = access->place(frame, index);
    return load_element(access->data(frame), place, access->element);
  };
  if (is_plain && load->dtype.is_float())
    return float_code(load->dtype, [element](Frame& frame) { return element(frame).f; });
  if (is_plain && !load->dtype.is_handle())
    return int_code(load->dtype, [element](Frame& frame) { return element(frame).i; });
  if (load->dtype.is_handle())
    throw Unsupported(load, "the interpreter does not support buffers of pointers");
  CodePtr predicate = load->predicate ? expr(load->predicate) : nullptr;
  return lanes_code(load->dtype, [access, predicate = std::move(predicate), count = load->dtype.lanes](
                                     Frame& frame, Scalar* out) {
    std::fill_n(out, count, Scalar());
    const auto lanes = static_cast<size_t>(access->buffer_lanes);
    for_each_lane(*access, predicate, frame, [&](size_t lane, const int64_t* index) {
      const int64_t place = access->place(frame, index);
      for (size_t n = 0; n < lanes; ++n)
        out[lane * lanes + n] = load_element(
            access->data(frame), place + static_cast<int64_t>(n) * access->element.bits, access->element);
    });
  });
}

// A[i] = B[j] copies the state "never written" too; that is only an error when A[i] is used (a cache may hold
// more than is read from it), or when A is returned.
StmtCodePtr Compiler::copy(const BufferStoreNode* store, const BufferLoadNode* load) {
  std::shared_ptr<Access> from = access(load->buffer, load->indices, false, ObjectRef(load)),
                          to = access(store->buffer, store->indices, true, ObjectRef(store));
  return stmt_code([from, to](Frame& frame) {
    int64_t source[kMaxDims], target[kMaxDims];
    for (size_t dim = 0; dim < from->indices.size(); ++dim) source[dim] = from->indices[dim]->as_int(frame);
    for (size_t dim = 0; dim < to->indices.size(); ++dim) target[dim] = to->indices[dim]->as_int(frame);
    bool is_there = true;
    const int64_t at = from->place(frame, source, &is_there);
    const Scalar value = load_element(from->data(frame), at, from->element);
    const int64_t place = to->place(frame, target, nullptr, &value);
    Memory& memory = *frame.views[to->view].memory;
    if (!is_there) {
      if (memory.written.empty()) from->fail_uninitialised(frame, source);
      memory.mark_written(place, to->element.bits, false);
    }
    store_element(memory.data, place, to->element, value);
  });
}

// A[i] = if_then_else(condition, B[j], 0) as a branch with two stores, one of which is a copy; null for other
// values.
StmtCodePtr Compiler::chosen_copy(const BufferStoreNode* store) {
  const auto* call = store->value.as<CallNode>();
  const auto* op = call ? call->op.as<ir::OpNode>() : nullptr;
  if (!op || op->name != "tir.if_then_else" || store->predicate || !call->dtype.is_scalar()) return nullptr;
  if (!is<BufferLoadNode>(call->args[1]) && !is<BufferLoadNode>(call->args[2])) return nullptr;
  const auto storing = [&](const ir::PrimExpr& value) {
    return Stmt(with(store, [&](BufferStoreNode& n) { n.value = value; }));
  };
  const Stmt both = IfThenElseNode::make(call->args[0], storing(call->args[1]), storing(call->args[2]));
  return branch(both.as<IfThenElseNode>());
}

StmtCodePtr Compiler::store(const BufferStoreNode* store) {
  if (store->indices.size() > kMaxDims)
    throw Unsupported(store, "the interpreter does not support buffers of more than {} dimensions", kMaxDims);
  if (StmtCodePtr code = chosen_copy(store)) return code;
  const auto* load = store->value.as<BufferLoadNode>();
  if (load && load->dtype.is_scalar() && !load->dtype.is_handle() && !load->predicate && !store->predicate &&
      load->indices.size() <= kMaxDims)
    return copy(store, load);
  CodePtr value = expr(store->value);
  std::shared_ptr<Access> access = this->access(store->buffer, store->indices, true, ObjectRef(store));
  if (store->value->dtype.is_handle())
    throw Unsupported(store, "the interpreter does not support buffers of pointers");
  if (store->value->dtype.is_scalar() && !store->predicate) {
    return stmt_code([access, value = std::move(value)](Frame& frame) {
      Scalar scalar;
      value->lanes(frame, &scalar);
      int64_t index[kMaxDims];
      for (size_t dim = 0; dim < access->indices.size(); ++dim)
        index[dim] = access->indices[dim]->as_int(frame);
      const int64_t place = access->place(frame, index, nullptr, &scalar);
      store_element(access->data(frame), place, access->element, scalar);
    });
  }
  CodePtr predicate = store->predicate ? expr(store->predicate) : nullptr;
  return stmt_code([access, value = std::move(value), predicate = std::move(predicate)](Frame& frame) {
    const Lanes values(*value, frame);
    const auto lanes = static_cast<size_t>(access->buffer_lanes);
    for_each_lane(*access, predicate, frame, [&](size_t lane, const int64_t* index) {
      const int64_t place = access->place(frame, index, nullptr, lanes == 1 ? &values[lane] : nullptr);
      for (size_t n = 0; n < lanes; ++n)
        store_element(access->data(frame), place + static_cast<int64_t>(n) * access->element.bits,
                      access->element, values[lane * lanes + n]);
    });
  });
}

}  // namespace tilewright::analysis
