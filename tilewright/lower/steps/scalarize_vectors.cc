// A[T.Ramp(0, 1, 4)] = B[T.Ramp(i, 2, 4)] + T.Broadcast(x, 4)
//   ->  for lane in range(4): A[lane] = B[i + lane * 2] + x
// For languages without vectors, or with some: stores of up to `keep_bytes` at aligned places stay, if their values are
// made of such loads and of numbers by operators.  Buffers are flat.  All lanes are read before one is written: a value that
// reads other elements of its target buffer is first stored in memory of its own.  Expressions without a form
// for one lane (calls that take whole vectors, buffers of vectors) are left to the code generator, which
// refuses them.
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/dot_add.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

using VectorValues = std::unordered_map<const VarNode*, PrimExpr>;  // values of variables that are vectors

bool is_dot_add(const PrimExpr& e) {
  const auto* call = e.as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  return op && op->name == "tir.dot_add";
}

/// One lane of vector expressions.
class Lane {
 public:
  Lane(PrimExpr lane, VectorValues& values) : lane_(std::move(lane)), values_(values) {}

  PrimExpr of(const PrimExpr& e) {
    if (e->dtype.is_scalar() && !e.as<ShuffleNode>() && !is_dot_add(e)) return e;
    if (const auto* ramp = e.as<RampNode>())
      return ramp->base + ramp->stride * tir::cast(ramp->base->dtype, lane_);
    if (const auto* vector = e.as<BroadcastNode>()) return vector->value;
    if (const auto* var = e.as<VarNode>()) {
      auto value = values_.find(var);
      if (value != values_.end()) return of(value->second);
    }
    if (const auto* operation = e.as<BinaryOpNode>())
      return make_binary(operation->kind, of(operation->a), of(operation->b));
    if (const auto* negated = e.as<NotNode>()) return NotNode::make(of(negated->a));
    if (const auto* converted = e.as<CastNode>()) return tir::cast(e->dtype.element(), of(converted->value));
    if (const auto* choice = e.as<SelectNode>())
      return SelectNode::make(of(choice->condition), of(choice->true_value), of(choice->false_value));
    if (const auto* let = e.as<LetNode>()) return of_let(let);
    if (const auto* load = e.as<BufferLoadNode>()) return of_load(load);
    if (const auto* shuffle = e.as<ShuffleNode>()) return of_shuffle(shuffle);
    if (const auto* call = e.as<CallNode>()) return of_call(call);
    refuse(e);
  }

 private:
  [[noreturn]] static void refuse(const PrimExpr& e) {
    throw Unsupported(e, "the lanes of this {} cannot be computed one by one, and the target has no vectors",
                      e->dtype.str())
        .help("write a loop with T.vectorized instead; it stays a loop");
  }

  PrimExpr of_let(const LetNode* let) {
    if (let->value->dtype.is_scalar()) return LetNode::make(let->value, let->var, of(let->body));
    values_[let->var.get()] = let->value;
    return of(let->body);
  }

  PrimExpr of_load(const BufferLoadNode* load) {
    if (load->indices[0]->dtype.is_scalar()) refuse(PrimExpr(load));
    PrimExpr element = BufferLoadNode::make(load->buffer, std::vector<PrimExpr>{of(load->indices[0])});
    if (!load->predicate) return element;
    return tir::call(element->dtype, "if_then_else",
                     {of(load->predicate), element, make_const(element->dtype, 0)});
  }

  PrimExpr of_call(const CallNode* call) {
    if (is_dot_add(PrimExpr(call))) return of_dot(tir::dot_add(call));
    const auto* op = call->op.as<OpNode>();
    const BuiltinOp* builtin = op ? find_builtin(op->name) : nullptr;
    const bool is_lanewise = builtin && (builtin->elementwise || builtin->name == "if_then_else" ||
                                         builtin->name == "reinterpret" || builtin->name.starts_with("is"));
    if (!is_lanewise) refuse(PrimExpr(call));
    std::vector<PrimExpr> args;
    for (const PrimExpr& arg : call->args) args.push_back(of(arg));
    return CallNode::make(call->dtype.element(), call->op, std::move(args), call->annotations);
  }

  PrimExpr of_dot(const DotAdd& dot) {
    const DataType dtype = dot.sum->dtype.element();
    PrimExpr sum = of(dot.sum);
    for (int k = 0; k < dot.group; ++k) {
      const PrimExpr place = lane_ * dot.group + k;
      const PrimExpr a = Lane(dot.is_shared ? imm(k) : place, values_).of(dot.a);
      sum = sum + tir::cast(dtype, a) * tir::cast(dtype, Lane(place, values_).of(dot.b));
    }
    return sum;
  }

  // The lane is a loop variable, so the selection happens at run time.
  PrimExpr of_shuffle(const ShuffleNode* shuffle) {
    PrimExpr result;
    for (size_t n = shuffle->indices.size(); n-- > 0;) {
      int64_t wanted = 0;
      if (!as_const_int(shuffle->indices[n], &wanted)) refuse(PrimExpr(shuffle));
      PrimExpr element;
      for (const PrimExpr& vector : shuffle->vectors) {
        if (wanted >= 0 && wanted < vector->dtype.lanes) element = Lane(imm(wanted), values_).of(vector);
        wanted -= vector->dtype.lanes;
      }
      if (!element) refuse(PrimExpr(shuffle));
      result = result
                   ? PrimExpr(SelectNode::make(equal(lane_, imm(static_cast<int64_t>(n))), element, result))
                   : element;
    }
    return result;
  }

  PrimExpr lane_;
  VectorValues& values_;
};

struct Options {
  int64_t keep_bytes = 0;
  static constexpr auto fields() {
    return std::tuple{ir::field<&Options::keep_bytes>(
        "keep_bytes", "bytes of the longest vectors of the language; 0: it has none")};
  }
};

class Scalarizer {
 public:
  explicit Scalarizer(const Options& options) : options_(options) {}

  Stmt run(const Stmt& body) {
    return rewrite(
        body, [&](auto& self, const BufferStoreNode* node) -> Stmt { return store(self.children(node)); },
        [&](auto& self, const LetStmtNode* node) -> Stmt {
          return let(node, [&](const Stmt& rest) { return self(rest); });
        },
        [&](auto& self, const CallNode* node) -> PrimExpr {
          const PrimExpr call = self.children(node);
          const bool is_one_lane = call->dtype.is_scalar() && is_dot_add(call);
          return is_one_lane ? Lane(imm(0), values_).of(call) : call;
        },
        // a scalar extracted from a vector
        [&](auto& self, const ShuffleNode* node) -> PrimExpr {
          const Shuffle shuffle = self.children(node);
          return shuffle->dtype.is_scalar() ? Lane(imm(0), values_).of(shuffle) : PrimExpr(shuffle);
        });
  }

 private:
  Stmt store(const BufferStore& node) {
    const PrimExpr& index = node->indices[0];
    const DataType dtype = node->value->dtype;
    if (index->dtype.is_scalar() || is_kept(node)) return node;
    const Var lane = make_var("lane");
    Lane lanes(lane, values_);
    Stmt assign =
        BufferStoreNode::make(node->buffer, lanes.of(node->value), std::vector<PrimExpr>{lanes.of(index)});
    if (node->predicate) assign = IfThenElseNode::make(lanes.of(node->predicate), assign);
    if (!reads_other_lanes(node)) return loop(lane, imm(dtype.lanes), assign);
    const Buffer copy = make_buffer(node->buffer->name + "_lanes", {imm(dtype.lanes)}, dtype.element());
    const Var other = make_var("lane");
    Lane other_lanes(other, values_);
    Stmt put = BufferStoreNode::make(node->buffer, load(copy, {other}),
                                     std::vector<PrimExpr>{other_lanes.of(index)});
    if (node->predicate) put = IfThenElseNode::make(other_lanes.of(node->predicate), put);
    return AllocBufferNode::make(copy, AttrMap{},
                                 seq({fill(copy, node->value), loop(other, imm(dtype.lanes), put)}));
  }

  // ---- vectors of the language
  bool is_kept(const BufferStore& node) const {
    return !node->predicate && is_aligned(node->buffer, node->indices[0]) && is_kept(node->value);
  }
  bool is_kept(const PrimExpr& e) const {
    if (e->dtype.is_scalar() || e.as<BroadcastNode>()) return true;
    if (const auto* load = e.as<BufferLoadNode>())
      return !load->predicate && is_aligned(load->buffer, load->indices[0]);
    if (const auto* operation = e.as<BinaryOpNode>()) return is_kept(operation->a) && is_kept(operation->b);
    if (const auto* converted = e.as<CastNode>()) return is_kept(converted->value);
    return false;
  }
  bool is_aligned(const Buffer& buffer, const PrimExpr& index) const {
    const auto* ramp = index.as<RampNode>();
    const bool is_contiguous = ramp && is_one(ramp->stride) && buffer->dtype.is_scalar();
    const int64_t lanes = ramp ? ramp->lanes : 0;
    if (!is_contiguous || (lanes & (lanes - 1)) != 0 ||
        lanes * buffer->dtype.num_bytes() > options_.keep_bytes)
      return false;
    arith::Analyzer analyzer;
    return is_zero(analyzer.simplify(floormod(ramp->base, lanes)));
  }

  // copy[lane] = the value's lane
  Stmt fill(const Buffer& copy, const PrimExpr& value) {
    const Var lane = make_var("lane");
    return loop(lane, imm(value->dtype.lanes), tir::store(copy, Lane(lane, values_).of(value), {lane}));
  }

  bool reads_other_lanes(const BufferStore& node) {
    bool found = false;
    auto look = [&](const PrimExpr& e) {
      walk(
          e,
          [&](const BufferLoadNode* read) {
            found |= read->buffer->data == node->buffer->data &&
                     !structural_equal(read->indices[0], node->indices[0]);
          },
          [&](const VarNode* var) { found |= values_.count(var) != 0; });
    };
    look(node->value);
    return found;
  }

  // A let of a vector is computed once into memory: the buffers it reads may be written while it is used.
  template <class Rest>
  Stmt let(const LetStmtNode* node, const Rest& rest) {
    const int lanes = node->value->dtype.lanes;
    if (lanes == 1) return LetStmtNode::make(node->value, node->var, rest(node->body));
    const Buffer copy = make_buffer(node->var->name_hint, {imm(lanes)}, node->value->dtype.element());
    Stmt computed = fill(copy, node->value);
    values_[node->var.get()] = BufferLoadNode::make(
        copy, std::vector<PrimExpr>{RampNode::make(imm(0), imm(1), static_cast<int64_t>(lanes))});
    return AllocBufferNode::make(copy, AttrMap{}, seq({computed, rest(node->body)}));
  }

  const Options& options_;
  VectorValues values_;
};

PrimFunc scalarize_vectors(const PrimFunc& func, const ir::AttrMap& attrs) {
  const auto options = ir::from_attrs<Options>(attrs, "scalarize_vectors");
  bool has_vectors = false;
  walk(func->body, [&](const PrimExprNode* node) { has_vectors |= !node->dtype.is_scalar(); });
  if (!has_vectors) return func;
  return with(func, [&](PrimFuncNode& changed) { changed.body = Scalarizer(options).run(func->body); });
}

}  // namespace

extern constinit const StepInfo scalarize_vectors_info = {
    .name = "scalarize_vectors",
    .doc = "vector expressions are loops over lanes",
    .uses = kVectors,
    .without = kManyDimensions,
    .ends = kVectors,
    .run = scalarize_vectors,
    .schema = &ir::option_schema<Options>,
};

}  // namespace tilewright::lower
