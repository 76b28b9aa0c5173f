// Splits the call of a loop program with several stages into one call per stage.
//   y = R.call_tir(cls.exp_add, (x,), ...)     exp_add: T = exp(x); y = T + x
//   ->  lv = R.call_tir(cls.exp_add_0, (x,), ...); y = R.call_tir(cls.exp_add_1, (lv, x), ...)
// The inverse of fuse_tir, so that one of the stages can be replaced by a library or by hand.  A stage is a
// statement of the root block; stages that write the same buffer stay together.  Not split: programs with
// arguments other than tensors, with several outputs, or with views of buffers.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {
namespace {

using tir::Buffer;

struct Options {
  std::vector<std::string> func_names;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::func_names>("func_names", "loop programs to split; none: all with several stages")};
  }
};

// Statements of the root block that write one buffer, and the buffers they read.
struct Stage {
  std::vector<Stmt> stmts;
  std::vector<Buffer> reads;
  Buffer write;
};

void add_once(std::vector<Buffer>& list, const Buffer& buffer) {
  if (std::find(list.begin(), list.end(), buffer) == list.end()) list.push_back(buffer);
}

// nullopt if a statement writes several buffers.
std::optional<Stage> stage_of(const Stmt& stmt) {
  Stage stage;
  stage.stmts.push_back(stmt);
  std::vector<Buffer> writes, inner;
  walk(
      stmt, [&](const tir::BufferStoreNode* store) { add_once(writes, store->buffer); },
      [&](const tir::BufferLoadNode* load) { add_once(stage.reads, load->buffer); },
      [&](const tir::BlockNode* block) {
        inner.insert(inner.end(), block->alloc_buffers.begin(), block->alloc_buffers.end());
        for (const tir::MatchBufferRegion& match : block->match_buffers) inner.push_back(match->buffer);
      });
  if (writes.size() != 1 || !inner.empty()) return std::nullopt;
  stage.write = writes[0];
  return stage;
}

// The stages of `func` in order; empty if it cannot be split.
std::vector<Stage> stages_of(const tir::PrimFunc& func) {
  const auto* root = func->body.as<tir::BlockRealizeNode>();
  const auto* stmts = root ? root->block->body.as<tir::SeqStmtNode>() : nullptr;
  if (!stmts || !root->block->iter_vars.empty() || root->block->init || !root->block->match_buffers.empty())
    return {};
  std::vector<Stage> stages;
  for (const Stmt& stmt : stmts->seq) {
    std::optional<Stage> stage = stage_of(stmt);
    if (!stage) return {};
    const bool joins = !stages.empty() && stages.back().write == stage->write;
    const bool writes_again = std::any_of(
        stages.begin(), stages.end(), [&](const Stage& earlier) { return earlier.write == stage->write; });
    if (!joins && writes_again) return {};
    if (!joins) {
      stages.push_back(std::move(*stage));
      continue;
    }
    stages.back().stmts.push_back(stmt);
    for (const Buffer& read : stage->reads) add_once(stages.back().reads, read);
  }
  for (Stage& stage : stages) std::erase(stage.reads, stage.write);  // a reduction reads its partial result
  const bool ends_with_output = !stages.empty() && stages.back().write == func->buffers.back();
  return stages.size() > 1 && ends_with_output ? stages : std::vector<Stage>{};
}

bool has_dims_of(const std::vector<Buffer>& known, const Buffer& buffer) {
  std::vector<const Object*> dims;
  for (const Buffer& each : known) {
    for (const PrimExpr& extent : each->shape)
      if (is<tir::VarNode>(extent)) dims.push_back(extent.get());
  }
  bool all = true;
  for (const PrimExpr& extent : buffer->shape) {
    walk(extent, [&](const tir::VarNode* var) {
      all &= std::find(dims.begin(), dims.end(), static_cast<const Object*>(var)) != dims.end();
    });
  }
  return all;
}

tir::PrimFunc program_of(const Stage& stage) {
  std::vector<tir::Var> params;
  std::vector<Buffer> buffers;
  Substitution fresh;
  auto add = [&](const Buffer& buffer) {
    for (const PrimExpr& extent : buffer->shape) {
      walk(extent, [&](const tir::VarNode* var) {
        if (!fresh.count(var)) fresh[var] = tir::make_var(var->name_hint, var->dtype);
      });
    }
    Shape shape;
    for (const PrimExpr& extent : buffer->shape) shape.push_back(substitute(extent, fresh));
    const Buffer own = tir::make_buffer(buffer->name, shape, buffer->dtype);
    fresh[buffer.get()] = own;
    fresh[buffer->data.get()] = own->data;
    params.push_back(tir::make_var(buffer->name + "_handle", DataType::handle()));
    buffers.push_back(own);
  };
  for (const Buffer& buffer : stage.reads) add(buffer);
  add(stage.write);
  const tir::Block root = tir::BlockNode::make(
      "root", std::vector<tir::IterVar>{}, std::vector<Buffer>{}, std::vector<tir::BufferRegion>{},
      std::vector<tir::BufferRegion>{}, std::vector<tir::MatchBufferRegion>{}, AttrMap{}, Stmt(),
      substitute(tir::seq(stage.stmts), fresh));
  const Stmt body = tir::BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(tir::bool_imm(true)), root);
  return tir::PrimFuncNode::make(params, buffers, body, Type(),
                                 AttrMap{{"tir.noalias", tir::bool_imm(true)}});
}

class Splitter {
 public:
  Splitter(const IRModule& module, const Options& options)
      : module_(module), options_(options), functions_(module) {}

  Function run(const Function& func) {
    return rewrite(
        func,
        [&](auto&, const DataflowBlockNode* block) -> DataflowBlock {
          std::vector<Binding> bindings = split(block->bindings, true);
          return bindings == block->bindings ? DataflowBlock(block)
                                             : DataflowBlockNode::make(std::move(bindings));
        },
        [&](auto& self, const PlainBlockNode* block) -> PlainBlock {
          std::vector<Binding> bindings = split(self.children(block)->bindings, false);
          return bindings == block->bindings ? PlainBlock(block) : PlainBlockNode::make(std::move(bindings));
        });
  }
  IRModule result() const { return functions_.get(); }

 private:
  std::vector<Binding> split(const std::vector<Binding>& bindings, bool in_dataflow) {
    std::vector<Binding> result;
    for (const Binding& binding : bindings) {
      const auto* call = is<VarBindingNode>(binding) ? binding->value.as<CallNode>() : nullptr;
      if (!call || !add_stages(binding, call, in_dataflow, &result)) result.push_back(binding);
    }
    return result;
  }

  bool add_stages(const Binding& binding, const CallNode* call, bool in_dataflow,
                  std::vector<Binding>* result) {
    if (op_name(call) != "relax.call_tir" || call->args.size() != 2 || call->type_args.size() != 1)
      return false;
    const auto* callee = call->args[0].as<GlobalVarNode>();
    const auto* operands = call->args[1].as<TupleNode>();
    const auto func = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
    if (!func || !operands || func->buffers.size() != operands->elements.size() + 1 ||
        !std::all_of(func->buffers.begin(), func->buffers.end(), [](const Buffer& b) { return bool(b); }))
      return false;
    const auto& names = options_.func_names;
    if (!names.empty() && std::find(names.begin(), names.end(), callee->name_hint) == names.end())
      return false;
    const std::vector<Stage> stages = stages_of(func);
    for (const Stage& stage : stages) {
      if (!has_dims_of(stage.reads, stage.write)) return false;
    }
    if (stages.empty()) return false;
    std::unordered_map<const Object*, Expr> values;
    Substitution dims;
    for (size_t n = 0; n + 1 < func->buffers.size(); ++n) {
      const Expr& operand = operands->elements[n];
      const Shape* shape = known_shape(operand);
      if (!shape || shape->size() != func->buffers[n]->shape.size()) return false;
      values[func->buffers[n].get()] = operand;
      for (size_t axis = 0; axis < shape->size(); ++axis) {
        const auto* dim = func->buffers[n]->shape[axis].as<tir::VarNode>();
        if (dim) dims.try_emplace(dim, tir::cast(dim->dtype, (*shape)[axis]));
      }
    }
    for (size_t n = 0; n < stages.size(); ++n) {
      const bool is_last = n + 1 == stages.size();
      const Call stage_call = call_of(stages[n], fmt::format("{}_{}", callee->name_hint, n), values, dims,
                                      is_last ? call->type_args[0] : Type());
      AnyVar var = binding->var;
      if (!is_last && in_dataflow)
        var = DataflowVar(DataflowVarNode::make("lv", stage_call->type));
      else if (!is_last)
        var = Var(VarNode::make("gv", stage_call->type));
      values[stages[n].write.get()] = var;
      result->push_back(VarBindingNode::make(var, Expr(stage_call)));
    }
    return true;
  }

  Call call_of(const Stage& stage, const std::string& name,
               const std::unordered_map<const Object*, Expr>& values, const Substitution& dims, Type type) {
    std::vector<Expr> args;
    for (const Buffer& buffer : stage.reads) args.push_back(values.at(buffer.get()));
    if (!type) {
      Shape shape;
      for (const PrimExpr& extent : stage.write->shape) shape.push_back(substitute(extent, dims));
      type = tensor_type(std::move(shape), stage.write->dtype);
    }
    const GlobalVar callee = functions_.add_func(program_of(stage), name);
    const Call call = CallNode::make(Expr(OpNode::make("relax.call_tir")),
                                     std::vector<Expr>{callee, TupleNode::make(std::move(args))}, AttrMap{},
                                     std::vector<Type>{type});
    return with(call, [&](CallNode& changed) { changed.type = type; });
  }

  const IRModule& module_;
  const Options& options_;
  BlockBuilder functions_;
};

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  for (const std::string& name : options.func_names) module->lookup(name);
  Splitter splitter(module, options);
  std::vector<std::pair<std::string, Function>> changed;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || func->attrs.contains("Primitive")) continue;
    const Function split = splitter.run(func);
    if (split != func) changed.emplace_back(module->global_vars[n]->name_hint, split);
  }
  if (changed.empty()) return module;
  IRModule result = splitter.result();
  for (auto& [name, func] : changed)
    result = with_function(result, name, BlockBuilder(result).normalize_function(func));
  return result;
}

}  // namespace

extern constinit const PassInfo split_call_tir_info = module_pass<run, Options>(
    "split_call_tir", "Splits loop programs of several stages into one program per stage.");

}  // namespace tilewright::relax
