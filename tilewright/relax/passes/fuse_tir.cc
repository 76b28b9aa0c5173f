// Merges each function with the attribute Primitive into one loop program: the programs it calls one after
// the other, with intermediate results in buffers.  Calls of the function become call_tir.
//   fused(x, w, b): lv = call_tir(matmul, (x, w)); gv = call_tir(add, (lv, b))
//   ->  call_tir(fused, (x, w, b))
// Blocks are not inlined; that is left to schedules.  Scalar constants are written into the program, and
// equal programs are merged unless they are public.  A function with anything but calls
// of loop programs is kept.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

using tir::Buffer;

tir::Buffer buffer_for(const std::string& name, const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  const Shape* shape = known_shape(tensor);
  return shape && !tensor->dtype.is_void() ? tir::make_buffer(name, *shape, tensor->dtype) : Buffer();
}

// Maps every definition inside `body` to a new node, so that a program may be inserted twice.
void renew_definitions(const Stmt& body, Substitution* map) {
  auto renew = [&](const tir::Var& var) {
    map->try_emplace(var.get(), tir::VarNode::copy(*var, [](tir::VarNode&) {}));
  };
  auto renew_buffer = [&](const Buffer& buffer) {
    renew(buffer->data);
    map->try_emplace(buffer.get(), tir::BufferNode::copy(*buffer, [&](tir::BufferNode& node) {
                       node.data = ref_as<tir::VarNode>(map->at(buffer->data.get()));
                       for (PrimExpr& extent : node.shape) extent = substitute(extent, *map);
                     }));
  };
  walk(
      body, [&](const tir::ForNode* loop) { renew(loop->loop_var); },
      [&](const tir::LetStmtNode* let) { renew(let->var); },
      [&](const tir::LetNode* let) { renew(let->var); },
      [&](const tir::BlockNode* block) {
        for (const tir::IterVar& axis : block->iter_vars) renew(axis->var);
        for (const Buffer& buffer : block->alloc_buffers) renew_buffer(buffer);
        for (const tir::MatchBufferRegion& match : block->match_buffers) renew_buffer(match->buffer);
      });
}

// `func` with the values of the buffers of parameters n replaced by `literals[n]`, where that is not null.
tir::PrimFunc with_literals(const tir::PrimFunc& func, const std::vector<PrimExpr>& literals) {
  auto literal_in = [&](const Buffer& buffer) {
    for (size_t n = 0; n < literals.size() && n < func->buffers.size(); ++n) {
      if (func->buffers[n] == buffer) return literals[n];
    }
    return PrimExpr();
  };
  return rewrite(
      func,
      [&](auto& self, const tir::BufferLoadNode* load) -> PrimExpr {
        const PrimExpr literal = literal_in(load->buffer);
        return literal ? literal : PrimExpr(self.children(load));
      },
      [&](auto& self, const tir::BlockNode* node) -> tir::Block {
        const tir::Block block = self.children(node);
        std::vector<tir::BufferRegion> reads;
        for (const tir::BufferRegion& read : block->reads) {
          if (!literal_in(read->buffer)) reads.push_back(read);
        }
        if (reads.size() == block->reads.size()) return block;
        return with(block, [&](tir::BlockNode& changed) { changed.reads = std::move(reads); });
      });
}

class Merger {
 public:
  Merger(const IRModule& module, const Function& func) : module_(module), func_(func) {}

  /// The loop program; null if the function has anything but calls of loop programs.
  tir::PrimFunc merge() {
    const auto* seq = func_->body.as<SeqExprNode>();
    if (!seq || !add_params()) return nullptr;
    const std::vector<Expr> outputs = outputs_of(seq);
    for (const Expr& output : outputs) outputs_.insert(output.get());
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        if (!add_call(binding)) return nullptr;
      }
    }
    for (const Expr& output : outputs) {
      auto found = buffers_.find(output.get());
      if (found == buffers_.end() ||
          std::find(param_buffers_.begin(), param_buffers_.end(), found->second) != param_buffers_.end())
        return nullptr;
      add_param(found->second);
    }
    for (const tir::Var& var : extra_) {
      params_.push_back(var);
      param_buffers_.push_back(nullptr);
    }
    return finish();
  }

 private:
  std::vector<Expr> outputs_of(const SeqExprNode* seq) {
    Expr body = seq->body;
    // a final binding of a tuple is replaced by its fields
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        if (binding->var == ref_as<VarBaseNode>(body) && is<TupleNode>(binding->value)) body = binding->value;
      }
    }
    if (const auto* tuple = body.as<TupleNode>()) return tuple->elements;
    return {body};
  }

  void add_param(const Buffer& buffer) {
    params_.push_back(tir::make_var("var_" + buffer->name, DataType::handle()));
    param_buffers_.push_back(buffer);
  }

  bool add_params() {
    for (const Var& param : func_->params) {
      if (const auto* shape = param->type.as<ShapeTypeNode>()) {  // extra integers
        for (const PrimExpr& value : shape->values) {
          if (!is<tir::VarNode>(value)) return false;
          extra_.push_back(ref_as<tir::VarNode>(value));
        }
        continue;
      }
      const Buffer buffer = buffer_for(param->name_hint, param->type);
      if (!buffer) return false;
      buffers_[param.get()] = buffer;
      add_param(buffer);
    }
    return true;
  }

  bool add_call(const Binding& binding) {
    if (is<TupleNode>(binding->value))
      return outputs_.count(binding->value.as<TupleNode>()->elements[0].get()) > 0;
    const auto* call = binding->value.as<CallNode>();
    if (VarBaseNode::classof(*binding->value)) {  // another name
      auto found = buffers_.find(binding->value.get());
      if (found == buffers_.end()) return false;
      buffers_[binding->var.get()] = found->second;
      return true;
    }
    if (!call || op_name(call) != "relax.call_tir" || call->type_args.size() != 1) return false;
    const auto* callee = call->args[0].as<GlobalVarNode>();
    const auto* operands = call->args[1].as<TupleNode>();
    const auto func = callee ? ref_as<tir::PrimFuncNode>(module_->find(callee->name_hint)) : tir::PrimFunc();
    if (!func || !operands) return false;
    std::vector<Buffer> arguments;
    std::vector<PrimExpr> literals;  // null for buffers
    for (const Expr& operand : operands->elements) {
      const auto* constant = operand.as<ConstantNode>();
      literals.push_back(constant ? literal_of(constant) : PrimExpr());
      if (literals.back()) {
        arguments.push_back(nullptr);
        continue;
      }
      auto found = buffers_.find(operand.get());
      if (found == buffers_.end()) return false;
      arguments.push_back(found->second);
    }
    const size_t num_inputs = arguments.size();
    if (func->buffers.size() <= num_inputs || !func->buffers[num_inputs]) return false;
    const Buffer output = buffer_for(func->buffers[num_inputs]->name, call->type_args[0]);
    if (!output) return false;
    arguments.push_back(output);
    if (!outputs_.count(binding->var.get())) intermediate_.push_back(output);
    buffers_[binding->var.get()] = output;
    return inline_body(with_literals(func, literals), arguments, call);
  }

  // True if `arguments` are known to fit the parameters of `func`, which would be checked if it were called.
  static bool fit(const tir::PrimFunc& func, const std::vector<Buffer>& arguments, const Substitution& map) {
    arith::Analyzer analyzer;
    for (size_t n = 0; n < arguments.size(); ++n) {
      if (!arguments[n]) continue;
      if (func->buffers[n]->dtype != arguments[n]->dtype) return false;
      for (size_t axis = 0; axis < arguments[n]->shape.size(); ++axis) {
        const PrimExpr& given = arguments[n]->shape[axis];
        const PrimExpr wanted = substitute(func->buffers[n]->shape[axis], map);
        if (!analyzer.can_prove_equal(wanted, tir::cast(wanted->dtype, given))) return false;
      }
    }
    return true;
  }

  // Appends the statements of `func` on `arguments`.
  bool inline_body(const tir::PrimFunc& func, const std::vector<Buffer>& arguments, const CallNode* call) {
    const auto* root = func->body.as<tir::BlockRealizeNode>();
    if (!root || !root->block->iter_vars.empty() || root->block->init || !root->block->match_buffers.empty())
      return false;
    Substitution map;
    size_t next_extra = 0;
    const auto* extra = call->args.size() > 2 ? call->args[2].as<ShapeExprNode>() : nullptr;
    for (size_t n = 0; n < func->params.size(); ++n) {
      const Buffer& buffer = func->buffers[n];
      if (!buffer) {
        if (!extra || next_extra >= extra->values.size()) return false;
        map[func->params[n].get()] = tir::cast(func->params[n]->dtype, extra->values[next_extra++]);
        continue;
      }
      if (n < arguments.size() && !arguments[n]) continue;  // a literal: no buffer is read
      if (n >= arguments.size() || buffer->shape.size() != arguments[n]->shape.size() ||
          !buffer->strides.empty())
        return false;
      map[buffer.get()] = arguments[n];
      map[buffer->data.get()] = arguments[n]->data;
      for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
        const auto* var = buffer->shape[axis].as<tir::VarNode>();
        if (var) map.try_emplace(var, tir::cast(var->dtype, arguments[n]->shape[axis]));
      }
    }
    if (!fit(func, arguments, map)) return false;
    const Stmt whole = root->block->body;
    renew_definitions(root->block, &map);
    for (const Buffer& buffer : root->block->alloc_buffers)
      intermediate_.push_back(ref_as<tir::BufferNode>(map.at(buffer.get())));
    Stmt body = substitute(whole, map);
    body = rewrite(body, [&](auto& self, const tir::BlockNode* block) -> tir::Block {
      tir::Block inner = self.children(block);
      std::string name = block->name_hint;
      for (int n = 1; !block_names_.insert(name).second; ++n)
        name = fmt::format("{}_{}", block->name_hint, n);
      return name == block->name_hint ? inner
                                      : with(inner, [&](tir::BlockNode& node) { node.name_hint = name; });
    });
    stmts_.push_back(body);
    return true;
  }

  tir::PrimFunc finish() {
    tir::Block root =
        tir::BlockNode::make("root", std::vector<tir::IterVar>{}, intermediate_,
                             std::vector<tir::BufferRegion>{}, std::vector<tir::BufferRegion>{},
                             std::vector<tir::MatchBufferRegion>{}, AttrMap{}, Stmt(), tir::seq(stmts_));
    Stmt body = tir::BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(tir::bool_imm(true)), root);
    AttrMap attrs{{"tir.noalias", tir::bool_imm(true)}};
    if (const ObjectRef symbol = func_->attrs.get("global_symbol")) attrs.set("global_symbol", symbol);
    tir::PrimFunc func = tir::PrimFuncNode::make(params_, param_buffers_, body, Type(), std::move(attrs));
    // the dimensions belong to the graph function; the program gets new ones
    Substitution fresh;
    for (const Var& param : func_->params)
      walk(param->type, [&](const tir::VarNode* var) {
        fresh.try_emplace(var, tir::make_var(var->name_hint, var->dtype));
      });
    return substitute(func, fresh);
  }

  const IRModule& module_;
  const Function& func_;
  std::unordered_map<const Object*, Buffer> buffers_;
  std::set<const Object*> outputs_;  // never iterated
  std::vector<tir::Var> params_;
  std::vector<Buffer> param_buffers_, intermediate_;
  std::vector<tir::Var> extra_;
  std::vector<Stmt> stmts_;
  std::set<std::string> block_names_{"root"};
};

std::vector<Type> output_tensors(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple && tuple->elements.size() != 1 ? tuple->elements : std::vector<Type>{type};
}

// `func` with calls of the merged functions under their new names.
Function with_new_calls(const Function& func, const std::map<std::string, std::string>& merged) {
  return rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
    const Call call = self.children(node);
    const auto* callee = call->op.as<GlobalVarNode>();
    auto found = callee ? merged.find(callee->name_hint) : merged.end();
    if (found == merged.end()) return call;
    std::vector<Expr> tensors = call->args, args{GlobalVar(GlobalVarNode::make(found->second))};
    std::vector<Expr> extra;
    if (!tensors.empty() && is<ShapeExprNode>(tensors.back())) {
      extra.push_back(tensors.back());
      tensors.pop_back();
    }
    args.push_back(Tuple(TupleNode::make(std::move(tensors))));
    args.insert(args.end(), extra.begin(), extra.end());
    return with(call, [&](CallNode& changed) {
      changed.op = OpNode::make("relax.call_tir");
      changed.args = std::move(args);
      changed.type_args = output_tensors(call->type);
    });
  });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  std::map<std::string, std::string> merged;  // from function to loop program
  std::map<Hash128, std::vector<std::string>> same_hash;
  IRModule result = module;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || !func->attrs.get_int("Primitive", 0)) continue;
    const tir::PrimFunc program = Merger(module, func).merge();
    if (!program) continue;
    const std::string& name = module->global_vars[n]->name_hint;
    std::vector<std::string>& known = same_hash[structural_hash(program)];
    const auto equal = std::find_if(known.begin(), known.end(), [&](const std::string& other) {
      return structural_equal(result->find(other), program);
    });
    merged[name] = equal == known.end() ? name : *equal;
    if (equal != known.end()) {
      result = without_function(result, name);
    } else {
      known.push_back(name);
      result = with_function(result, name, program);
    }
  }
  if (merged.empty()) return module;
  return map_functions<FunctionNode>(result,
                                     [&](const Function& func) { return with_new_calls(func, merged); });
}

}  // namespace

extern constinit const PassInfo fuse_tir_info =
    module_pass<run>("fuse_tir", "Merges fused functions into one loop program each.", 2);

}  // namespace tilewright::relax
