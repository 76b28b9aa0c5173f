#include "tilewright/te/topi/linear_attention.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/extern.h"

namespace tilewright::topi {
using namespace tir;
namespace {

using Indices = std::vector<PrimExpr>;

/// The loops of one call: for each batch and head of key a state, which tokens change one after the other.
class Loops {
 public:
  Loops(const std::vector<Tensor>& inputs, const LinearAttentionOptions& options)
      : inputs_(inputs), options_(options), sums_(dtype_of_sums(inputs[kQuery].dtype())) {
    const char* names[] = {"query", "key", "value", "state", "decay", "beta"};
    for (size_t n = 0; n < inputs.size(); ++n)
      in_.push_back(make_buffer(names[n], inputs[n].shape(), inputs[n].dtype()));
    const Shape &query = inputs[kQuery].shape(), &value = inputs[kValue].shape();
    tokens_ = query[1], d_ = query[3], e_ = value[3], kv_heads_ = value[2];
    group_ = arith::simplify(floordiv(query[2], kv_heads_));
    out_ = make_buffer("T_linear_attention", {query[0], query[1], query[2], e_}, inputs[kQuery].dtype());
    last_ = make_buffer("T_last_state", {query[0], kv_heads_, d_, e_}, inputs[kState].dtype());
    own_ = make_buffer("own", {d_, e_}, sums_);
    row_ = make_buffer("row", {e_}, sums_);
  }

  std::vector<Tensor> run() {
    const Var b = index("b"), h = index("h");
    const Stmt heads = loop(b, in_[kQuery]->shape[0], loop(h, kv_heads_, head(b, h)));
    const Block root = BlockNode::make("root", std::vector<IterVar>{}, std::vector<Buffer>{own_, row_},
                                       std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                                       std::vector<MatchBufferRegion>{}, AttrMap{}, Stmt(), heads);
    const Stmt whole = BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), root);
    return te::external("T_linear_attention", {inputs_, in_, {out_, last_}, whole});
  }

 private:
  enum Input { kQuery, kKey, kValue, kState, kDecay, kBeta };

  static Var index(const char* name) { return make_var(name, kInt64); }
  // An element in sums_; dimensions of extent 1 stand for all indices.
  PrimExpr read(Input input, Indices at) const {
    const Shape& shape = in_[input]->shape;
    for (size_t n = 0; n < at.size(); ++n)
      if (is_one(shape[n])) at[n] = make_const_int(kInt64, 0);
    return tir::cast(sums_, load(in_[input], at));
  }
  // for i in range(d): for j in range(e): body
  Stmt over_state(const std::function<Stmt(const Var&, const Var&)>& body) const {
    const Var i = index("i"), j = index("j");
    return loop(i, d_, loop(j, e_, body(i, j)));
  }
  Stmt over_row(const std::function<Stmt(const Var&)>& body) const {
    const Var j = index("j");
    return loop(j, e_, body(j));
  }
  Stmt clear_row() const {
    return over_row([&](const Var& j) { return store(row_, make_const(sums_, 0), {j}); });
  }
  Stmt add_to_row(const PrimExpr& value, const Var& j) const {
    return store(row_, load(row_, {j}) + value, {j});
  }

  Stmt head(const Var& b, const Var& h) const {
    const Var t = index("t");
    return seq({over_state([&](const Var& i, const Var& j) {
                  return store(own_, read(kState, {b, h, i, j}), {i, j});
                }),
                loop(t, tokens_, token(b, h, t)), over_state([&](const Var& i, const Var& j) {
                  return store(last_, tir::cast(last_->dtype, load(own_, {i, j})), {b, h, i, j});
                })});
  }
  Stmt token(const Var& b, const Var& h, const Var& t) const {
    const Stmt before =
        seq({clear_row(), over_state([&](const Var& i, const Var& j) {
               PrimExpr value = load(own_, {i, j});
               if (options_.has_decay) value = value * tir::call(sums_, "exp", {read(kDecay, {b, t, h, i})});
               const Stmt decayed = store(own_, value, {i, j});
               if (!options_.has_delta) return decayed;
               return seq({decayed, add_to_row(load(own_, {i, j}) * read(kKey, {b, t, h, i}), j)});
             })});
    const Stmt change = over_row([&](const Var& j) {
      const PrimExpr value = read(kValue, {b, t, h, j});
      return store(row_, options_.has_delta ? read(kBeta, {b, t, h}) * (value - load(row_, {j})) : value,
                   {j});
    });
    const Stmt write = over_state([&](const Var& i, const Var& j) {
      return store(own_, load(own_, {i, j}) + read(kKey, {b, t, h, i}) * load(row_, {j}), {i, j});
    });
    const Var r = index("r");
    const PrimExpr of_query = h * group_ + r;
    const Stmt result = seq({clear_row(), over_state([&](const Var& i, const Var& j) {
                               return add_to_row(read(kQuery, {b, t, of_query, i}) * load(own_, {i, j}), j);
                             }),
                             over_row([&](const Var& j) {
                               const PrimExpr value = load(row_, {j}) * make_const(sums_, options_.scale);
                               return store(out_, tir::cast(out_->dtype, value), {b, t, of_query, j});
                             })});
    const bool changes_first = options_.has_decay || options_.has_delta;
    return seq({changes_first ? before : Stmt(), change, write, loop(r, group_, result)});
  }

  const std::vector<Tensor>& inputs_;
  const LinearAttentionOptions& options_;
  const DataType sums_;
  std::vector<Buffer> in_;
  Buffer out_, last_, own_, row_;  // own_: the state of a head; row_: a value, then a result
  PrimExpr tokens_, d_, e_, kv_heads_, group_;
};

}  // namespace

std::vector<Tensor> linear_attention(const std::vector<Tensor>& inputs,
                                     const LinearAttentionOptions& options) {
  return Loops(inputs, options).run();
}

}  // namespace tilewright::topi
