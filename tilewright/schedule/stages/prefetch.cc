#include "tilewright/schedule/stages/prefetch.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "tilewright/analysis/regions.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kLineBytes = 64;

}  // namespace

Stmt prefetch_of(const ForNode* loop, const Buffer& buffer, const PrimExpr& offset) {
  const analysis::AccessRegions regions = analysis::access_regions(loop->body);
  const auto read =
      std::ranges::find(regions.reads, buffer, [](const auto& region) { return region->buffer; });
  if (read == regions.reads.end()) return nullptr;
  for (const Range& range :
       (*read)->region) {  // indices that are read from memory would be read ahead for real
    bool is_loaded = false;
    walk(range, [&](const BufferLoadNode*) { is_loaded = true; });
    if (is_loaded) return nullptr;
  }
  arith::Analyzer analyzer;
  const Substitution later{{loop->loop_var.get(), loop->loop_var + cast(loop->loop_var->dtype, offset)}};
  std::vector<PrimExpr> indices, extents;
  std::vector<Var> vars;
  const int64_t in_line = std::max<int64_t>(1, kLineBytes / buffer->dtype.num_bytes());
  for (size_t dim = 0; dim < (*read)->region.size(); ++dim) {
    const Range& range = (*read)->region[dim];
    const int64_t step = dim + 1 == (*read)->region.size() ? in_line : 1;
    const DataType dtype = range->min->dtype;
    const PrimExpr extent =
        analyzer.simplify(ceildiv(cast(dtype, substitute(range->extent, later)), imm(step, dtype)));
    PrimExpr index = substitute(range->min, later);
    if (!is_one(extent)) {
      vars.push_back(make_var(fmt::format("p{}", dim), dtype));
      extents.push_back(extent);
      index = index + vars.back() * imm(step, dtype);
    }
    indices.push_back(analyzer.simplify(index));
  }
  const PrimExpr element = load(buffer, indices);
  Stmt stmt = EvaluateNode::make(call(kInt32, "tir.prefetch", {element, imm(0), imm(3), imm(1)}), loop->span);
  for (size_t n = vars.size(); n-- > 0;) stmt = tir::loop(vars[n], extents[n], stmt);
  return stmt;
}

}  // namespace tilewright::schedule
