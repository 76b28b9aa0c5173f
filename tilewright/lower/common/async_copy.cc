#include "tilewright/lower/common/async_copy.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

/// to[index] = from[index], or 0 where the condition (null: none) does not hold.
struct Copy {
  Buffer to, from;
  PrimExpr to_index, from_index, condition = {};

  int64_t element_bytes() const { return to->dtype.bits / 8; }
};

bool is_nothing(const PrimExpr& value) {
  const auto* number = value.as<FloatImmNode>();
  return number ? number->value == 0 : is_zero(value);
}

std::optional<Copy> copy_of(const BufferStoreNode* store) {
  PrimExpr value = store->value, condition;
  for (const auto* call = value.as<CallNode>(); is_if_then_else(call) && is_nothing(call->args[2]);
       call = value.as<CallNode>()) {
    condition = condition ? logical_and(condition, call->args[0]) : call->args[0];
    value = PrimExpr(call->args[1]);
  }
  const auto* load = value.as<BufferLoadNode>();
  const bool is_plain = load && !load->predicate && !store->predicate && is_shared(store->buffer) &&
                        load->buffer->scope() == "global" && load->buffer->dtype == store->buffer->dtype &&
                        load->dtype.is_scalar() && load->dtype.bits % 8 == 0;
  if (!is_plain) return std::nullopt;
  return Copy{store->buffer, load->buffer, store->indices[0], load->indices[0], condition};
}

Stmt begin(const Copy& copy, int64_t bytes) {
  const int64_t lanes = bytes / copy.element_bytes();
  const auto address = [&](const Buffer& buffer, const PrimExpr& index) {
    const PrimExpr all = lanes == 1 ? index : RampNode::make(index, imm(1, index->dtype), lanes);
    return call(DataType::handle(), "tir.address_of",
                {BufferLoadNode::make(buffer, std::vector<PrimExpr>{all})});
  };
  std::vector<PrimExpr> args = {address(copy.to, copy.to_index), imm(0), address(copy.from, copy.from_index),
                                imm(0), imm(bytes)};
  if (copy.condition) args.push_back(copy.condition);
  return EvaluateNode::make(call(copy.to->dtype, "tir.ptx_cp_async", std::move(args)));
}

bool can_be_copied(int64_t bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

// The residue class of an index; a part that is converted to a wider integer is what it was.
arith::ModularSet residues(const PrimExpr& index, arith::Analyzer& analyzer) {
  return analyzer.modular_set(ir::rewrite(index, [&](auto& self, const CastNode* node) -> PrimExpr {
    if (!arith::is_index(node->dtype) || !arith::is_index(node->value->dtype)) return self.children(node);
    const arith::ModularSet part = residues(node->value, analyzer);
    return make_var("part", node->dtype) * part.coeff + part.base;
  }));
}

// The first of `lanes` neighbours that `index` is for the values of `var`; null if it is something else, or does not begin
// at a multiple of them.
PrimExpr first_of(const PrimExpr& index, const ForNode* lanes, int64_t count) {
  arith::Analyzer analyzer;
  const VarNode* var = lanes->loop_var.get();
  const PrimExpr next = substitute(index, {{var, lanes->loop_var + 1}});
  if (!is_one(analyzer.simplify(next - index))) return nullptr;
  const PrimExpr first = analyzer.simplify(substitute(index, {{var, lanes->min}}));
  const arith::ModularSet multiples = residues(first, analyzer);
  return multiples.coeff % count == 0 && multiples.base % count == 0 ? first : PrimExpr();
}

class Converter {
 public:
  Stmt convert(const Stmt& stmt) {
    if (const auto* sequence = stmt.as<SeqStmtNode>()) {
      std::vector<Stmt> parts;
      for (const Stmt& part : sequence->seq) {
        parts.push_back(convert(part));
        if (!parts.back()) return nullptr;
      }
      return seq(std::move(parts));
    }
    if (const auto* loop = stmt.as<ForNode>()) return convert_loop(loop);
    if (const auto* branch = stmt.as<IfThenElseNode>(); branch && !branch->else_case)
      return inside(branch, &IfThenElseNode::then_case);
    if (const auto* let = stmt.as<LetStmtNode>()) return inside(let, &LetStmtNode::body);
    if (const auto* attr = stmt.as<AttrStmtNode>()) return inside(attr, &AttrStmtNode::body);
    const auto* store = stmt.as<BufferStoreNode>();
    std::optional<Copy> copy = store ? copy_of(store) : std::nullopt;
    if (!copy) return nullptr;
    int64_t bytes = copy->element_bytes();
    if (lanes_) {
      copy->to_index = first_of(copy->to_index, lanes_, num_lanes_);
      copy->from_index = first_of(copy->from_index, lanes_, num_lanes_);
      if (!copy->to_index || !copy->from_index || uses(copy->condition, lanes_->loop_var.get()))
        return nullptr;
      bytes *= num_lanes_;
    }
    return can_be_copied(bytes) ? begin(*copy, bytes) : nullptr;
  }

 private:
  template <class Node>
  Stmt inside(const Node* node, Stmt Node::* part) {
    const Stmt converted = convert(node->*part);
    return converted ? Stmt(with(node, [&](Node& changed) { changed.*part = converted; })) : nullptr;
  }

  Stmt convert_loop(const ForNode* loop) {
    if (loop->for_kind != ForKind::kVectorized) return inside(loop, &ForNode::body);
    if (!lanes_ && as_const_int(loop->extent, &num_lanes_)) {
      lanes_ = loop;
      // conditions around the store may not differ between lanes either
      const Stmt whole = convert(loop->body);
      lanes_ = nullptr;
      if (whole && !uses(whole, loop->loop_var.get())) return whole;
    }
    const Stmt each = convert(loop->body);
    return each ? Stmt(with(loop,
                            [&](ForNode& changed) {
                              changed.body = each;
                              changed.for_kind = ForKind::kUnrolled;
                            }))
                : nullptr;
  }

  const ForNode* lanes_ = nullptr;  // the vectorized loop of which one copy is to be made
  int64_t num_lanes_ = 1;
};

}  // namespace

Stmt as_async_copy(const Stmt& stmt) { return Converter().convert(stmt); }

}  // namespace tilewright::lower
