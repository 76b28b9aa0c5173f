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

ir::PrimExpr one_size(const NodeMath& math, size_t input, std::string_view name) {
  math.required(input, name);
  const relax::Shape sizes = math.importer().require_known(math.node(), input);
  if (sizes.size() != 1) throw UserError("{} has {} elements, expected 1", name, sizes.size());
  return relax::as_extent(sizes[0]);
}

Cached with_cache(const NodeMath& math, const Expr& past_key, const Expr& past_value, const Expr& key,
                  const Expr& value, const ir::PrimExpr& length) {
  if (!past_key != !past_value) throw UserError("past_key and past_value are not given together");
  if (!past_key) return {key, value, key, value, nullptr};
  if (!length) {
    const Expr keys = math.concat({past_key, key}, 2), values = math.concat({past_value, value}, 2);
    return {keys, values, keys, values, math.shape(past_key)[2]};
  }
  arith::Analyzer& facts = math.importer().facts;
  const ir::PrimExpr batch = math.shape(key)[0], count = math.shape(key)[2],
                     end = facts.simplify(tir::operator+(length, count));
  math.importer().require(math.node(),
                          tir::logical_and(tir::operator<=(relax::extent_imm(0), length),
                                           tir::operator<=(end, math.shape(past_key)[2])),
                          "past_key is {}, which has no room for {} keys from place {} on",
                          math.shape(past_key), count, length);
  const Expr places =
      math.broadcast(math.add(math.counted(count), math.extent(length)), relax::Shape{batch, count});
  const Expr keys = written(math, past_key, key, 2, places),
             values = written(math, past_value, value, 2, places);
  return {keys, values, math.first(keys, 2, end), math.first(values, 2, end), length};
}

}  // namespace tilewright::frontend::onnx
