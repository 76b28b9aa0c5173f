// fuse_reduction_epilogue: what is added to a finished sum becomes where the sum starts; the same for
// products, maxima and minima.
#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef reduction_block, epilogue_block;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::reduction_block>("reduction_block",
                                      "a sum, product, maximum or minimum into an intermediate buffer"),
        field<&Args::epilogue_block>("epilogue_block", "its only reader, which goes on with it")};
  }
};

// Y[...] = Y[...] + x and its init Y[...] = value; `kind` is kAdd, kMul, kMax or kMin.
struct Sum {
  const BufferStoreNode *init, *update;
  Kind kind;
};

struct Verb {
  Kind kind;
  std::string_view text;
};
constexpr Verb kVerbs[] = {{Kind::kAdd, "add to"},
                           {Kind::kMul, "multiply"},
                           {Kind::kMax, "take the maximum of something and"},
                           {Kind::kMin, "take the minimum of something and"}};

std::string_view verb_of(Kind kind) {
  for (const Verb& verb : kVerbs) {
    if (verb.kind == kind) return verb.text;
  }
  return "";
}

Sum require_sum(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  const auto* init = block->init ? block->init.as<BufferStoreNode>() : nullptr;
  const auto* update = block->body.as<BufferStoreNode>();
  if (!init || !update || init->predicate || update->predicate || verb_of(update->value->kind).empty() ||
      init->buffer != update->buffer || !is_commutative_update(block) || block->writes.size() != 1)
    throw refuse(state, id, "block {} is not a single sum, product, maximum or minimum with an init",
                 block->name_hint);
  return {init, update, update->value->kind};
}

// The other side of D[...] = Y[...] + rest.  Only what goes on with the same operator may come first: a sum
// of maxima with 0, say, is not the maximum of the sum.
PrimExpr require_added(const State& state, NodeId id, const BufferStoreNode* store, const Buffer& sum,
                       Kind kind) {
  if (const auto* op = store->value.as<BinaryOpNode>(); op && op->kind == kind) {
    for (const auto& [one, other] : {std::pair{op->a, op->b}, std::pair{op->b, op->a}}) {
      const auto* load = one.as<BufferLoadNode>();
      if (load && load->buffer == sum && !loads_from(other, sum)) return other;
    }
  }
  throw refuse(state, id, "block {} does not {} {}, but computes {}", state.node(id).name, verb_of(kind),
               sum->name, text(store->value))
      .help("reverse_compute_at computes any epilogue where the sum is finished");
}

void require_only_user(const State& state, NodeId reduction, NodeId epilogue, const Buffer& sum,
                       NodeId owner) {
  if (owner == kNoNode)
    throw refuse(state, reduction, "block {} writes {}, {}", state.node(reduction).name, sum->name,
                 where_from(state, reduction, sum));
  if (state.scope_of(reduction) != state.scope_of(epilogue))
    throw refuse(state, epilogue, "block {} is not in the scope of block {}", state.node(epilogue).name,
                 state.node(reduction).name);
  for (const auto& users :
       {writers_of(state, owner, sum, epilogue), readers_of(state, owner, sum, epilogue)}) {
    for (NodeId user : users) {
      if (user != reduction && user != epilogue)
        throw refuse(state, user, "block {} uses {} as well", state.node(user).name, sum->name);
    }
  }
}

// The sum covers exactly the elements that the epilogue writes.
void require_same_elements(const State& state, NodeId reduction, NodeId epilogue,
                           const std::vector<PrimExpr>& read_at, const Substitution& axes,
                           const BufferStoreNode* update) {
  arith::Analyzer analyzer;
  for (const IterVar& axis : state.node(reduction).block()->iter_vars) analyzer.bind(axis->var, axis->dom);
  const std::vector<Range> domains = require_bijective(state, epilogue);
  std::vector<PrimExpr> conditions;
  for (size_t n = 0; n < domains.size(); ++n) {
    const IterVar& axis = state.node(epilogue).block()->iter_vars[n];
    const PrimExpr value = ref_as<PrimExprNode>(axes.at(axis->var.get()));
    conditions.push_back(value >= domains[n]->min);
    conditions.push_back(value < domains[n]->min + domains[n]->extent);
  }
  for (size_t n = 0; n < read_at.size(); ++n)
    conditions.push_back(equal(substitute(read_at[n], axes), update->indices[n]));
  for (const PrimExpr& condition : conditions) {
    if (!analyzer.can_prove(condition))
      throw refuse(state, epilogue,
                   "block {} does not write an element for each sum of block {}: not always {}",
                   state.node(epilogue).name, state.node(reduction).name, text(analyzer.simplify(condition)));
  }
}

// init op x; x alone where the init changes nothing: 0 + x, 1 * x
PrimExpr start_of(const Sum& sum, const PrimExpr& x) {
  const PrimExpr& init = sum.init->value;
  const auto* number = init.as<FloatImmNode>();
  const auto is = [&](double value) { return number && number->value == value; };
  const bool is_neutral = sum.kind == Kind::kAdd   ? is_zero(init) || is(0)
                          : sum.kind == Kind::kMul ? is_one(init) || is(1)
                                                   : false;
  return is_neutral ? x : binary(sum.kind, init, x);
}

void apply(State& state, const Args& args) {
  const NodeId reduction = state[args.reduction_block], epilogue = state[args.epilogue_block];
  const Sum sum = require_sum(state, reduction);
  const Buffer buffer = sum.update->buffer;
  const BufferStoreNode* store = require_single_store(state, epilogue);
  require_pure_value(state, epilogue, store);
  const NodeId owner = allocation_of(state, buffer, state.node(epilogue).parent);
  require_only_user(state, reduction, epilogue, buffer, owner);
  const PrimExpr added = require_added(state, epilogue, store, buffer, sum.kind);
  require_element_access(state, owner, buffer);
  for (NodeId each : {reduction, epilogue}) {
    if (const Objection reason = why_not_reorderable(state, each); !reason.empty())
      throw refuse(state, each, "block {} cannot be fused: {}", state.node(epilogue).name, reason);
  }
  require_bijective(state, reduction);
  require_all_written(state, epilogue, reduction, buffer);
  require_order_free(state, epilogue, reduction, buffer);
  const std::vector<PrimExpr> read_at = require_one_index(state, epilogue, store, buffer);
  const Substitution axes = solve_indices(state, epilogue, read_at, sum.update->indices,
                                          fmt::format("the index of {}", buffer->name));
  require_same_elements(state, reduction, epilogue, read_at, axes, sum.update);

  const BlockRealizeNode* realize = state.node(reduction).realize();
  arith::Analyzer analyzer;
  for (const IterVar& axis : realize->block->iter_vars) analyzer.bind(axis->var, axis->dom);
  std::vector<PrimExpr> indices;
  for (const PrimExpr& index : store->indices) indices.push_back(analyzer.simplify(substitute(index, axes)));
  const Stmt update = rewrite(
      Stmt(sum.update),
      [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
        if (load->buffer == buffer) return tir::load(store->buffer, indices);
        return self.children(load);
      },
      [&](auto& self, const BufferStoreNode* node) -> Stmt {
        return tir::store(store->buffer, self(node->value), indices);
      });
  const PrimExpr start = start_of(sum, substitute(added, axes));
  Block block = with(realize->block, [&](BlockNode& n) {
    n.init = tir::store(store->buffer, start, indices);
    n.body = update;
  });
  const analysis::AccessRegions regions = analysis::access_regions(block);
  block = with(block, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
  Edit edit(state);
  edit.replace_block(reduction, with(realize, [&](BlockRealizeNode& n) { n.block = block; }));
  edit.remove(epilogue);
  edit.edit_block(owner, [&](BlockNode& n) { std::erase(n.alloc_buffers, buffer); });
  drop_regions(state, epilogue, owner, buffer, &edit);
  edit.commit(state, owner);
  complete_outer_regions(state, reduction);
}

}  // namespace

extern constinit const PrimitiveInfo fuse_reduction_epilogue_info =
    primitive<apply>("fuse_reduction_epilogue", R"(
Starts a sum with what would be added to it in the end; the block that adds it and the buffer between them go.  Products,
maxima and minima go on with a factor or a bound the same way.

    with T.block("Y"):                    with T.block("Y"):
        with T.init():                        with T.init():
            Y[vi] = 0                 ->          D[vi] = C[vi]
        Y[vi] = Y[vi] + A[vi, vk]             D[vi] = D[vi] + A[vi, vk]
    with T.block("D"):
        D[vi] = Y[vi] + C[vi]                                       fuse_reduction_epilogue(Y, D)

Sums and products of floats are then rounded differently.

reduction_block  a single sum, product, maximum or minimum with an init into an intermediate buffer; its handle stays
epilogue_block   the only reader of that buffer, one store of the result and something under the same operator; becomes stale
Raises           UserError if the epilogue does something else, if it does not write one element for each sum, or if what it
                 adds is computed after the sum begins.
)");
}  // namespace tilewright::schedule
