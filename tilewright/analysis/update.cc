#include "tilewright/analysis/update.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

bool is_same_place(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PrimExpr& x, const PrimExpr& y) { return structural_equal(x, y); });
}

std::optional<size_t> place_of(const std::vector<Buffer>& buffers, const Buffer& buffer) {
  const auto found = std::find(buffers.begin(), buffers.end(), buffer);
  if (found == buffers.end()) return std::nullopt;
  return static_cast<size_t>(found - buffers.begin());
}

// Reads stores to one place of several buffers, each of an old value at that place and of terms.
class Reader {
 public:
  explicit Reader(Update* update) : update_(*update) {}

  bool take_init(const Stmt& init) {
    const auto* list = init.as<SeqStmtNode>();
    for (const Stmt& stmt : list ? list->seq : std::vector<Stmt>{init}) {
      const auto* store = stmt.as<BufferStoreNode>();
      if (!store || store->predicate || place_of(update_.buffers, store->buffer)) return false;
      if (update_.buffers.empty()) update_.indices = store->indices;
      if (!is_same_place(store->indices, update_.indices)) return false;
      update_.buffers.push_back(store->buffer);
      update_.identities.push_back(store->value);
      update_.so_far.push_back(make_var("so_far", store->buffer->dtype));
      update_.next.push_back(make_var("next", store->buffer->dtype));
    }
    update_.results.resize(update_.buffers.size());
    return true;
  }

  bool take_body(const Stmt& stmt) {
    if (const auto* let = stmt.as<LetStmtNode>()) {
      if (num_stored_ > 0) return false;  // it may read what was stored
      const std::optional<PrimExpr> value = of_what_was(let->value);
      if (!value) return false;
      const bool is_of_term = std::none_of(update_.so_far.begin(), update_.so_far.end(),
                                           [&](const Var& var) { return uses(*value, var.get()); });
      if (is_of_term)
        update_.lets.emplace_back(let->var, *value);
      else
        named_[let->var.get()] = *value;
      return take_body(let->body);
    }
    if (const auto* list = stmt.as<SeqStmtNode>())
      return std::all_of(list->seq.begin(), list->seq.end(),
                         [&](const Stmt& each) { return take_body(each); });
    const auto* store = stmt.as<BufferStoreNode>();
    const auto place = store && !store->predicate ? place_of(update_.buffers, store->buffer) : std::nullopt;
    if (!place || update_.results[*place] || !is_same_place(store->indices, update_.indices)) return false;
    bool reads_stored = false;
    walk(store->value, [&](const BufferLoadNode* load) {
      const auto other = place_of(update_.buffers, load->buffer);
      reads_stored |= other && update_.results[*other];
      return true;
    });
    const std::optional<PrimExpr> value = of_what_was(store->value);
    if (reads_stored || !value) return false;
    update_.results[*place] = *value;
    ++num_stored_;
    return true;
  }

  bool is_whole() const { return num_stored_ == update_.buffers.size(); }

 private:
  // `value` with so_far for the old values of the buffers; nothing if it reads them at another place.
  std::optional<PrimExpr> of_what_was(const PrimExpr& value) const {
    bool is_elsewhere = false;
    const PrimExpr result =
        rewrite(substitute(value, named_), [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
          for (size_t n = 0; n < update_.buffers.size(); ++n) {
            if (load->buffer->data != update_.buffers[n]->data) continue;
            if (load->buffer == update_.buffers[n] && is_same_place(load->indices, update_.indices))
              return update_.so_far[n];
            is_elsewhere = true;
          }
          return self.children(load);
        });
    if (is_elsewhere) return std::nullopt;
    return result;
  }

  Update& update_;
  Substitution named_;  // variables for what is made of the buffers
  size_t num_stored_ = 0;
};

bool has_so_far(const Update& update, const PrimExpr& expr) {
  return std::any_of(update.so_far.begin(), update.so_far.end(),
                     [&](const Var& var) { return uses(expr, var.get()); });
}

// op(Y, x): x becomes the term.
bool take_operator(Update* update) {
  const auto* op = update->results[0].as<BinaryOpNode>();
  if (!op || !is_commutative(op->kind, op->dtype)) return false;
  const bool is_left = op->a.get() == update->so_far[0].get();
  if (!is_left && op->b.get() != update->so_far[0].get()) return false;
  update->terms = {is_left ? op->b : op->a};
  const PrimExpr a = update->so_far[0], b = update->next[0];
  update->results = {is_left ? make_binary(op->kind, a, b) : make_binary(op->kind, b, a)};
  return !has_so_far(*update, update->terms[0]);
}

// The term in a choice between it and the old value; null if there is none.
PrimExpr other_side(const PrimExpr& result, const Var& so_far) {
  PrimExpr a, b;
  const auto* call = result.as<CallNode>();
  if (const auto* choice = result.as<SelectNode>())
    a = choice->true_value, b = choice->false_value;
  else if (call && is_if_then_else(call))
    a = ref_as<PrimExprNode>(call->args[1]), b = ref_as<PrimExprNode>(call->args[2]);
  else if (const auto* op = result.as<BinaryOpNode>(); op && (is<MinNode>(result) || is<MaxNode>(result)))
    a = op->a, b = op->b;
  else
    return nullptr;
  return a.get() == so_far.get() ? b : b.get() == so_far.get() ? a : nullptr;
}

// choose(Y, x), all of it by comparisons.
bool take_choice(Update* update) {
  for (size_t n = 0; n < update->results.size(); ++n) {
    const PrimExpr term = other_side(update->results[n], update->so_far[n]);
    if (!term || has_so_far(*update, term) || is<IntImmNode>(term) || is<FloatImmNode>(term)) return false;
    update->terms.push_back(term);
  }
  for (PrimExpr& result : update->results) {
    result = rewrite(result, [&](auto& self, const PrimExprNode* node) -> PrimExpr {
      for (size_t n = 0; n < update->terms.size(); ++n) {
        if (structural_equal(PrimExpr(node), update->terms[n])) return update->next[n];
      }
      return self.children(node);
    });
  }
  const auto order = order_of_choice(update->results, update->so_far, update->next);
  if (order) update->order = *order;
  return order.has_value();
}

}  // namespace

std::optional<Update> update_of(const BlockNode* block) {
  Update update;
  Reader reader(&update);
  if (!block->init || !reader.take_init(block->init) || !reader.take_body(block->body) || !reader.is_whole())
    return std::nullopt;
  const bool is_known = (update.results.size() == 1 && take_operator(&update)) || take_choice(&update);
  return is_known ? std::optional(update) : std::nullopt;
}

Stmt update_stmt(const Update& update, const std::vector<Buffer>& buffers,
                 const std::vector<PrimExpr>& indices, const std::vector<PrimExpr>& terms) {
  Substitution values;
  for (size_t n = 0; n < buffers.size(); ++n) {
    values[update.so_far[n].get()] = load(buffers[n], indices);
    values[update.next[n].get()] = terms[n];
  }
  if (buffers.size() == 1) return store(buffers[0], substitute(update.results[0], values), indices);
  std::vector<Var> names;
  std::vector<Stmt> stores;
  for (const Buffer& buffer : buffers) {
    names.push_back(make_var("v_" + buffer->name, buffer->dtype));
    stores.push_back(store(buffer, names.back(), indices));
  }
  Stmt body = seq(std::move(stores));
  for (size_t n = names.size(); n-- > 0;)
    body = LetStmtNode::make(substitute(update.results[n], values), names[n], body);
  return body;
}

bool is_commutative(Kind kind, DataType dtype) {
  switch (kind) {
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kAnd:
    case Kind::kOr:
      return !dtype.is_bool() || kind == Kind::kAnd || kind == Kind::kOr || kind == Kind::kMin ||
             kind == Kind::kMax;
    default: return false;
  }
}

}  // namespace tilewright::analysis
