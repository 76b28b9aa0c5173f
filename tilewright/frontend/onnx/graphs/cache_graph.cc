#include "tilewright/frontend/onnx/graphs/cache_graph.h"

namespace tilewright::frontend::onnx {
namespace {

// One row of indices for each element of the dimensions up to `axis`: [.., length, axis + 1].
Expr rows_of(const NodeMath& math, const relax::Shape& update, size_t axis, const Expr& places) {
  const relax::Shape lead(update.begin(), update.begin() + static_cast<long>(axis) + 1);
  std::vector<Expr> columns;
  for (size_t n = 0; n <= axis; ++n) {
    relax::Shape own(lead.size(), relax::extent_imm(1));
    own[n] = lead[n];
    Expr column = n < axis ? math.counted(lead[n]) : places;
    if (n == axis && places) own[0] = lead[0];
    if (!column) column = math.counted(lead[n]);
    relax::Shape whole = lead;
    whole.push_back(relax::extent_imm(1));
    own.push_back(relax::extent_imm(1));
    columns.push_back(math.broadcast(math.reshaped(column, own), whole));
  }
  return math.concat(columns, static_cast<int64_t>(lead.size()));
}

}  // namespace

Expr written(const NodeMath& math, const Expr& cache, const Expr& update, size_t axis, const Expr& places) {
  return math.call("relax.scatter_nd", {cache, rows_of(math, math.shape(update), axis, places), update},
                   {{"reduction", attr("update")}});
}

}  // namespace tilewright::frontend::onnx
