// with T.block(...): axes, regions, attributes, allocations, init.
#include "tilewright/ir/services.h"
#include "tilewright/script/printer/tir_printer.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {
using namespace tir;
namespace {

std::string_view axis_function(IterType type) {
  switch (type) {
    case IterType::kSpatial: return "spatial";
    case IterType::kReduce: return "reduce";
    case IterType::kScan: return "scan";
    default: return "opaque";
  }
}

}  // namespace

void TirPrinter::block(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  w_.begin_line();
  const size_t begin = w_.out.size();
  const bool is_new = w_.dialect == Dialect::kTvm027;
  w_.out +=
      fmt::format("with {}{}({})", w_.tir_prefix(), is_new ? "sblock" : "block", quoted(block->name_hint));
  w_.place(realize, begin);
  w_.place(block, begin);
  w_.out += ':';
  w_.end_line();
  w_.names.push();
  w_.indented([&] {
    axes(realize);
    if (!is_one(realize->predicate)) {
      w_.begin_line();
      w_.out += w_.tir_prefix() + "where(";
      w_.expr(realize->predicate);
      w_.out += ')';
      w_.end_line();
    }
    block_inside(block);
  });
  w_.names.pop();
}

// True if T.axis.remap can express the axis: its value is a loop variable with exactly its domain.
bool TirPrinter::is_plain_loop(const IterVar& axis, const PrimExpr& value) const {
  const auto* var = value.as<VarNode>();
  auto found = var ? loops_.find(var) : loops_.end();
  if (found == loops_.end() ||
      (axis->iter_type != IterType::kSpatial && axis->iter_type != IterType::kReduce))
    return false;
  const ForNode* loop = found->second;
  return axis->var->dtype == var->dtype && structural_equal(loop->min, axis->dom->min) &&
         structural_equal(loop->extent, axis->dom->extent);
}

void TirPrinter::axes(const BlockRealizeNode* realize) {
  const std::vector<IterVar>& axes = realize->block->iter_vars;
  for (size_t n = 0; n < axes.size();) {
    size_t end = n;
    while (end < axes.size() && is_plain_loop(axes[end], realize->iter_values[end])) ++end;
    if (end - n < 2) {
      axis(axes[n], realize->iter_values[n]);
      ++n;
      continue;
    }
    w_.begin_line();
    std::string kinds;
    for (size_t m = n; m < end; ++m) {
      const size_t begin = w_.out.size();
      w_.define_name(axes[m]->var.get(), axes[m]->var->name_hint);
      w_.place(axes[m].get(), begin);
      w_.out += m + 1 < end ? ", " : " = ";
      kinds += axes[m]->iter_type == IterType::kSpatial ? 'S' : 'R';
    }
    w_.out += fmt::format("{}axis.remap(\"{}\", [", w_.tir_prefix(), kinds);
    w_.exprs({realize->iter_values.begin() + static_cast<ptrdiff_t>(n),
              realize->iter_values.begin() + static_cast<ptrdiff_t>(end)});
    w_.out += "])";
    w_.end_line();
    n = end;
  }
}

// vi = T.axis.spatial(128, i); the domain is (begin, end) unless it starts at 0
void TirPrinter::axis(const IterVar& axis, const PrimExpr& value) {
  w_.begin_line();
  const size_t begin = w_.out.size();
  w_.define_name(axis->var.get(), axis->var->name_hint);
  w_.out += fmt::format(" = {}axis.{}(", w_.tir_prefix(), axis_function(axis->iter_type));
  const bool kept = w_.keeps_places;
  // a literal without a type would take the dtype of the value
  auto bound = [&](const PrimExpr& expr) { value->dtype == expr->dtype ? w_.expr(expr) : w_.typed(expr); };
  if (is_zero(axis->dom->min)) {
    bound(axis->dom->extent);
  } else {
    w_.out += '(';
    bound(axis->dom->min);
    w_.out += ", ";
    w_.keeps_places = false;
    bound(end_of(axis->dom->min, axis->dom->extent));
    w_.keeps_places = kept;
    w_.out += ')';
  }
  w_.out += ", ";
  w_.expr(value);
  if (axis->var->dtype != axis->dom->extent->dtype) w_.out += ", dtype=" + quoted(axis->var->dtype.str());
  w_.out += ')';
  w_.place(axis.get(), begin);
  w_.end_line();
}

void TirPrinter::regions(std::string_view function, const std::vector<BufferRegion>& regions) {
  w_.begin_line();
  w_.out += w_.tir_prefix();
  w_.out += function;
  w_.out += '(';
  for (size_t n = 0; n < regions.size(); ++n) {
    if (n) w_.out += ", ";
    w_.region(regions[n]);
  }
  w_.out += ')';
  w_.end_line();
}

void TirPrinter::allocations(const std::vector<Buffer>& buffers) {
  for (const Buffer& buffer : buffers) {
    declare_variables_of(buffer.get());
    w_.begin_line();
    const size_t begin = w_.out.size();
    define_buffer(buffer.get());
    w_.out += w_.name_of(buffer.get());
    w_.place(buffer.get(), begin);
    w_.out += " = ";
    buffer_call(buffer.get(), w_.dialect == Dialect::kTvm027 ? "sblock_alloc_buffer" : "alloc_buffer");
    w_.end_line();
  }
}

void TirPrinter::match_buffer(const MatchBufferRegionNode* match) {
  const BufferNode* view = match->buffer.get();
  declare_variables_of(view);
  w_.begin_line();
  const size_t begin = w_.out.size();
  define_buffer(view);
  w_.out += w_.name_of(view);
  w_.place(view, begin);
  w_.out += " = ";
  // the region replaces the first argument
  const size_t start = w_.out.size();
  w_.region(match->source);
  std::string source = w_.out.substr(start) + ", ";
  std::erase_if(w_.places, [&](const auto& place) { return place.begin >= start; });
  w_.out.resize(start);
  buffer_call(view, "match_buffer", source, false, {}, match->source->buffer->scope());
  w_.place(match, begin);
  w_.end_line();
}

// A block outside of its place: as if its axes took their own names.
void TirPrinter::block_alone(const BlockNode* node) {
  std::vector<PrimExpr> values;
  for (const IterVar& axis : node->iter_vars)
    values.push_back(make_var(axis->var->name_hint, axis->var->dtype));
  made_.push_back(BlockRealizeNode::make(std::move(values), PrimExpr(bool_imm(true)), Block(node)));
  block(static_cast<const BlockRealizeNode*>(made_.back().get()));
}

void TirPrinter::block_inside(const BlockNode* block) {
  regions("reads", block->reads);
  regions("writes", block->writes);
  if (!block->annotations.empty()) {
    w_.begin_line();
    w_.out +=
        fmt::format("{}{}(", w_.tir_prefix(), w_.dialect == Dialect::kTvm027 ? "sblock_attr" : "block_attr");
    w_.attributes(block->annotations);
    w_.out += ')';
    w_.end_line();
  }
  allocations(block->alloc_buffers);
  for (const MatchBufferRegion& match : block->match_buffers) match_buffer(match.get());
  if (block->init) {
    w_.line(fmt::format("with {}init():", w_.tir_prefix()));
    scope(block->init);
  }
  statement(block->body);
}

}  // namespace tilewright::script
