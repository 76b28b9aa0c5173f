// x[...]: buffer elements, vectors and regions; elements of Python lists and of graph tuples.
#include <algorithm>

#include "tilewright/analysis/index_range.h"
#include "tilewright/ir/services.h"
#include "tilewright/script/parser/regions.h"
#include "tilewright/support/count_text.h"

namespace tilewright::script {
using ast::Expr;
using ast::ExprKind;
namespace {

// The number of steps of `step` from start to stop, as a lane count.
int64_t lane_count(const BufferSlice::Part& part, const Span& span) {
  int64_t step = 1;
  if (part.step && !as_const_int(part.step, &step))
    throw UserError(span, "the step of a vector access must be a constant");
  auto length = analysis::const_difference(part.start, part.stop);
  if (!length)
    throw UserError(span, "the number of elements of this slice is not a constant")
        .help("write the end as the start plus a number, as in A[i : i + 4]");
  if (step == 0 || (*length + step - (step > 0 ? 1 : -1)) / step < 1)
    throw UserError(span, "the slice is empty");
  return (*length + step - (step > 0 ? 1 : -1)) / step;
}

}  // namespace

std::vector<PrimExpr> vector_indices(const BufferSlice& slice, const Span& span) {
  std::vector<PrimExpr> indices;
  for (const BufferSlice::Part& part : slice.parts) {
    if (!part.stop) {
      indices.push_back(part.start);
      continue;
    }
    const int64_t lanes = lane_count(part, span);
    if (lanes == 1) {
      indices.push_back(part.start);
      continue;
    }
    if (lanes > 0x7fff) throw UserError(span, "a vector of {} elements is too long", lanes);
    PrimExpr step = part.step ? part.step : make_const_int(part.start->dtype, 1);
    indices.push_back(RampNode::make(part.start, step, lanes, span));
  }
  return indices;
}

namespace {

// The extent of start:stop: x if stop is written as start + x, else stop - start.
PrimExpr slice_extent(const BufferSlice::Part& part) {
  if (auto length = analysis::const_difference(part.start, part.stop))
    return make_const_int(part.start->dtype, *length);
  const auto* sum = part.stop.as<AddNode>();
  if (sum && ir::structural_equal(sum->a, part.start)) return sum->b;
  if (is_zero(part.start)) return part.stop;
  return SubNode::make(part.stop, part.start);
}

BufferRegion region_of_slice(const BufferSlice& slice, const Span& span) {
  std::vector<ir::Range> region;
  for (const BufferSlice::Part& part : slice.parts) {
    if (part.step && !is_one(part.step))
      throw Unsupported(span, "a region with a step").help("name the whole range");
    region.push_back(part.stop ? make_range(part.start, slice_extent(part))
                               : make_range(part.start, make_const_int(part.start->dtype, 1)));
  }
  return BufferRegionNode::make(ref_as<BufferNode>(slice.buffer), std::move(region));
}

// An index of a load as a range, which covers the lanes of a Ramp.
ir::Range range_of_index(const PrimExpr& index) {
  if (const auto* ramp = index.as<RampNode>()) {
    int64_t step;
    if (as_const_int(ramp->stride, &step) && step > 0)
      return make_range(ramp->base, make_const_int(ramp->base->dtype, (ramp->lanes - 1) * step + 1));
  }
  return make_range(index, make_const_int(index->dtype.element(), 1));
}

}  // namespace

BufferRegion to_region(Parser& parser, const Value& value, Place place) {
  if (auto region = value.ref<BufferRegionNode>()) return region;
  if (auto buffer = value.ref<BufferNode>()) return full_region(buffer);
  if (const auto* pointer = value.get<AllocatedPointer>())
    return full_region(ref_as<BufferNode>(pointer->buffer));
  if (const auto* slice = value.get<BufferSlice>()) return region_of_slice(*slice, parser.span(place));
  if (const auto* load = value.node<BufferLoadNode>()) {
    std::vector<ir::Range> region;
    for (const PrimExpr& index : load->indices) region.push_back(range_of_index(index));
    return BufferRegionNode::make(load->buffer, std::move(region));
  }
  throw UserError(parser.span(place), "expected a region of a buffer, as in A[0:16, i], found {}",
                  describe(value));
}

BufferSlice Parser::eval_indices(const Buffer& buffer, const Expr* expr) {
  BufferSlice slice{buffer, {}};
  std::vector<const Expr*> indices(expr->items.begin() + 1, expr->items.end());
  if (indices.size() == 1 && indices[0]->kind == ExprKind::kTuple) indices = indices[0]->items;
  for (const Expr* index : indices) {
    if (index->kind == ExprKind::kSlice) {
      slice.parts.push_back(eval_slice(index, buffer, slice.parts.size()));
      continue;
    }
    const bool is_spread = index->kind == ExprKind::kStarred;
    const Value value = eval(is_spread ? index->items[0] : index);
    if (const auto* list = value.get<Sequence>()) {
      for (const Value& item : list->items)
        slice.parts.push_back({to_prim(item, index->place), nullptr, nullptr, index->place});
    } else {
      slice.parts.push_back({to_prim(value, index->place), nullptr, nullptr, index->place});
    }
  }
  if (slice.parts.size() != buffer->shape.size()) {
    auto plural = [](size_t n, const char* one, const char* many) {
      return fmt::format("{} {}", n, n == 1 ? one : many);
    };
    throw UserError(span(expr), "buffer {} has {}, but {} given", buffer->name,
                    plural(buffer->shape.size(), "dimension", "dimensions"),
                    plural(slice.parts.size(), "index is", "indices are"));
  }
  for (const BufferSlice::Part& part : slice.parts) {
    for (const PrimExpr& bound : {part.start, part.stop, part.step}) {
      if (bound && !bound->dtype.is_integral() && !bound->dtype.is_bool())
        throw UserError(span(part.place), "an index of buffer {} has dtype {}, expected an integer",
                        buffer->name, bound->dtype.str());
    }
  }
  return slice;
}

BufferSlice::Part Parser::eval_slice(const Expr* index, const Buffer& buffer, size_t dimension) {
  auto part = [&](size_t n) {
    return index->items[n] ? std::optional<Value>(eval(index->items[n])) : std::nullopt;
  };
  const std::optional<Value> start = part(0), stop = part(1), step = part(2);
  if (!stop && dimension >= buffer->shape.size())
    throw UserError(span(index), "buffer {} has {}, but more indices are given", buffer->name,
                    count_text(buffer->shape.size(), "dimension"));
  const Value end = stop ? *stop : Value(buffer->shape[dimension]);
  auto [first, last] = unify(start ? *start : Value(0), end, index->place);
  PrimExpr stride =
      step ? to_dtype(*step, first->dtype, index->items[2]->place, "the step of a slice") : PrimExpr();
  return {first, last, stride, index->place};
}

namespace {

// An element or a slice of a Python list, string or tuple.
Value element(Parser& parser, const Sequence& list, const Expr* expr) {
  if (expr->items.size() != 2) throw UserError(parser.span(expr), "a list takes one index");
  const Expr* index = expr->items[1];
  const auto size = static_cast<int64_t>(list.items.size());
  auto position = [&](const Expr* part, int64_t otherwise) {
    if (!part) return otherwise;
    const int64_t n = parser.to_int(parser.eval(part), part->place, "an index of a list");
    return n < 0 ? n + size : n;
  };
  if (index->kind == ExprKind::kSlice) {
    if (index->items[2]) throw Unsupported(parser.span(index), "a slice of a list with a step");
    const int64_t begin = std::clamp<int64_t>(position(index->items[0], 0), 0, size);
    const int64_t end = std::clamp<int64_t>(position(index->items[1], size), begin, size);
    return Sequence{{list.items.begin() + begin, list.items.begin() + end}, list.is_tuple};
  }
  const int64_t n = position(index, 0);
  if (n < 0 || n >= size)
    throw UserError(parser.span(index), "the list has {}, there is no element {}",
                    count_text(size, "element"), n);
  return list.items[static_cast<size_t>(n)];
}

}  // namespace

Value Parser::subscript(const Value& base, const Expr* expr) {
  Buffer buffer = base.ref<BufferNode>();
  if (const auto* pointer = base.get<AllocatedPointer>()) buffer = ref_as<BufferNode>(pointer->buffer);
  if (buffer) {
    BufferSlice slice = eval_indices(buffer, expr);
    for (const BufferSlice::Part& part : slice.parts) {
      if (part.stop) return slice;
    }
    return at(expr->place, [&] {
      return BufferLoadNode::make(buffer, vector_indices(slice, span(expr)), PrimExpr(), span(expr));
    });
  }
  if (const auto* list = base.get<Sequence>()) return element(*this, *list, expr);
  if (const auto* array = base.node<ir::ArrayNode>())
    return element(*this, Sequence{{array->items.begin(), array->items.end()}, false}, expr);
  if (const auto* dict = base.node<ir::DictNode>()) {
    const std::string key = to_string(eval(expr->items[1]), expr->items[1]->place, "a key");
    if (ObjectRef item = dict->items.get(key)) return item;
    throw UserError(span(expr), "the dictionary has no key \"{}\"", key);
  }
  if (const auto* map = base.get<Mapping>()) {
    const std::string key = to_string(eval(expr->items[1]), expr->items[1]->place, "a key");
    for (const auto& [name, item] : map->items) {
      if (name.get<std::string>() && *name.get<std::string>() == key) return item;
    }
    throw UserError(span(expr), "the dictionary has no key \"{}\"", key);
  }
  if (graph && base.node<ir::RelaxExprNode>()) return graph_subscript(base, expr);
  throw UserError(span(expr), "{} has no elements", describe(base));
}

}  // namespace tilewright::script
