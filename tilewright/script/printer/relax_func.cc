// @R.function: the signature, dimensions, bindings, branches, nested functions.
#include <fmt/format.h>

#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/script/printer/relax_printer.h"

namespace tilewright::script {
using namespace relax;
namespace {

// The dimensions that types and shapes of `node` use, in order of first use; loop
// programs inside are skipped.
std::vector<tir::Var> dimensions_of(const Object* node) {
  std::vector<tir::Var> dims;
  std::unordered_set<const tir::VarNode*> seen;
  auto meet = [&](const tir::VarNode* var) {
    if (seen.insert(var).second) dims.push_back(tir::Var(var));
  };
  auto types = [&](const Type& type) { walk(type, meet); };
  walk(
      node, meet,
      [&](const FunctionNode* func) {
        for (const Var& param : func->params) types(param->type);
        types(func->ret_type);
      },
      [&](const VarBaseNode* var) { types(var->type); }, [&](const tir::PrimFuncNode*) { return false; });
  return dims;
}

bool uses_functions(const FunctionNode* func) {
  bool found = false;
  walk(func, [&](const GlobalVarNode*) { found = true; });
  return found;
}

}  // namespace

void GraphPrinter::define_variable(const AnyVar& var) {
  w_.define_name(var.get(), var->name_hint);
  if (w_.is_2022() || !var->type) return;
  w_.out += ": ";
  w_.type(var->type);
}

void GraphPrinter::signature(const FunctionNode* func, std::string_view name, bool is_nested) {
  std::vector<std::string> options;
  if (!is_nested && !func->attrs.contains("global_symbol") && !w_.is_2022())
    options.push_back("private=True");
  if (!func->is_pure) options.push_back("pure=False");
  w_.line(fmt::format("@{}function{}", w_.relax_prefix(),
                      options.empty() ? "" : fmt::format("({})", fmt::join(options, ", "))));
  w_.begin_line();
  const size_t begin = w_.out.size();
  w_.out += fmt::format("def {}(", name);
  for (size_t n = 0; n < func->params.size(); ++n) {
    const VarNode* param = func->params[n].get();
    if (n) w_.out += ", ";
    const size_t start = w_.out.size();
    w_.out += w_.name_of(param);
    w_.place(param, start);
    if (!param->type) continue;
    w_.out += ": ";
    w_.type(param->type, true);
  }
  w_.out += ')';
  if (func->ret_type) {
    w_.out += " -> ";
    Type shown = func->ret_type;
    // in 2022 the types of results had no shape
    const auto* tensor = shown.as<TensorTypeNode>();
    if (w_.is_2022() && tensor) shown = TensorTypeNode::make(Expr(), tensor->dtype, tensor->ndim);
    w_.type(shown, true);
  }
  w_.out += ':';
  w_.place(func, begin);
  w_.end_line();
}

void GraphPrinter::declare_dimensions() {
  if (w_.is_2022()) return;
  for (const tir::Var& var : dims_)
    w_.line(fmt::format("{} = {}{}()", w_.name_of(var.get()), w_.tir_prefix(), var->dtype.str()));
}

void GraphPrinter::function(const FunctionNode* func, std::string_view name, bool is_nested) {
  w_.names.push();
  for (const Var& param : func->params) w_.names.define(param.get(), param->name_hint);
  std::vector<tir::Var> outer = std::exchange(dims_, {});
  for (const tir::Var& var : dimensions_of(func)) {
    if (w_.names.find(var.get())) continue;  // belongs to the enclosing function
    w_.names.define(var.get(), var->name_hint);
    dims_.push_back(var);
  }
  signature(func, name, is_nested);
  w_.indented([&] {
    declare_dimensions();
    AttrMap attrs = func->attrs;
    if (!w_.is_2022() && !is_nested && attrs.get_string("global_symbol", "") == name)
      attrs.erase("global_symbol");
    if (w_.is_2022()) attrs.erase("global_symbol");
    if (!attrs.empty()) {
      w_.begin_line();
      w_.out += w_.relax_prefix() + "func_attr(";
      w_.attributes(attrs);
      w_.out += ')';
      w_.end_line();
    }
    if (!is_nested && !w_.is_2022() && !w_.module_name.empty() && uses_functions(func)) {
      w_.line("cls = " + w_.module_name);
      w_.function_prefix = "cls.";
    }
    if (const auto* seq = func->body.as<SeqExprNode>()) sequence(seq);
    w_.begin_line();
    w_.out += "return ";
    const auto* seq = func->body.as<SeqExprNode>();
    expr(seq ? seq->body : func->body);
    w_.end_line();
  });
  dims_ = std::move(outer);
  w_.names.pop();
}

void GraphPrinter::sequence(const SeqExprNode* seq) {
  for (size_t n = 0; n < seq->blocks.size(); ++n) {
    if (w_.is_2022()) w_.line(fmt::format("# block {}", n));
    block(seq->blocks[n].get());
  }
}

void GraphPrinter::block(const BindingBlockNode* block) {
  if (!DataflowBlockNode::classof(*block)) {
    for (const Binding& item : block->bindings) binding(item.get());
    return;
  }
  const size_t begin = w_.out.size();
  w_.line(fmt::format("with {}dataflow():", w_.relax_prefix()));
  w_.place(block, begin);
  w_.indented([&] {
    std::vector<std::string> outputs;
    for (const Binding& item : block->bindings) {
      binding(item.get());
      if (!item->var.as<DataflowVarNode>()) outputs.push_back(w_.name_of(item->var.get()));
    }
    w_.line(fmt::format("{}output({})", w_.relax_prefix(), fmt::join(outputs, ", ")));
  });
}

void GraphPrinter::binding(const BindingNode* binding) {
  const ObjectRef ref(binding);
  const auto* plain = ref.as<VarBindingNode>();
  if (plain) {
    if (const auto* node = plain->value.as<IfNode>()) return branches(plain, node);
    if (const auto* func = plain->value.as<FunctionNode>()) {
      const std::string name = w_.names.define(plain->var.get(), plain->var->name_hint);
      return function(func, name, true);
    }
  }
  w_.begin_line();
  const size_t begin = w_.out.size();
  define_variable(binding->var);
  w_.out += " = ";
  if (const auto* match = ref.as<MatchCastNode>()) {
    w_.out += w_.relax_prefix() + "match_cast(";
    expr(match->value);
    w_.out += ", ";
    w_.type(match->pattern);
    w_.out += ')';
  } else {
    expr(binding->value);
  }
  w_.place(binding, begin);
  w_.end_line();
}

// Prints both branches, which end by assigning their value to the variable of the `if`.
void GraphPrinter::branches(const VarBindingNode* binding, const IfNode* node) {
  if (!w_.names.find(binding->var.get())) w_.names.define(binding->var.get(), binding->var->name_hint);
  w_.begin_line();
  const size_t begin = w_.out.size();
  w_.out += "if ";
  expr(node->cond);
  w_.place(node, begin);
  w_.place(binding, begin);
  w_.out += ':';
  w_.end_line();
  branch(node->true_branch, binding->var);
  w_.line("else:");
  branch(node->false_branch, binding->var);
}

void GraphPrinter::branch(const Expr& value, const AnyVar& result) {
  w_.names.push();
  w_.indented([&] {
    const auto* seq = value.as<SeqExprNode>();
    const std::string name = w_.name_of(result.get());
    const Binding last = seq && !seq->blocks.empty() && seq->blocks.back().as<PlainBlockNode>() &&
                                 !seq->blocks.back()->bindings.empty()
                             ? seq->blocks.back()->bindings.back()
                             : Binding();
    // if the last binding is the value itself, it takes the name of the whole `if`
    const bool is_result = last && last->var.get() == seq->body.get();
    if (is_result) w_.names.define_as(last->var.get(), name);
    if (seq) {
      for (const BindingBlock& item : seq->blocks) {
        const auto* plain = item.as<PlainBlockNode>();
        if (!is_result || !plain || item != seq->blocks.back()) {
          block(item.get());
          continue;
        }
        for (size_t n = 0; n + 1 < plain->bindings.size(); ++n) binding(plain->bindings[n].get());
      }
    }
    if (is_result && last.as<VarBindingNode>() && last->value.as<IfNode>())
      return branches(last.as<VarBindingNode>(), last->value.as<IfNode>());
    w_.begin_line();
    const size_t begin = w_.out.size();
    w_.out += name;
    const AnyVar& shown = is_result ? last->var : result;
    if (shown->type && !w_.is_2022()) {
      w_.out += ": ";
      w_.type(shown->type);
    }
    w_.out += " = ";
    const auto* match = is_result ? last.as<MatchCastNode>() : nullptr;
    if (match) w_.out += w_.relax_prefix() + "match_cast(";
    expr(is_result ? last->value : seq ? seq->body : value);
    if (match) {
      w_.out += ", ";
      w_.type(match->pattern);
      w_.out += ')';
    }
    if (is_result) w_.place(last.get(), begin);
    w_.end_line();
  });
  w_.names.pop();
}

// Declares the free variables of a fragment in lines `x: R.Tensor(...)`.
void GraphPrinter::free_variables(const Object* node) {
  std::vector<AnyVar> used;
  std::unordered_set<const Object*> seen, defined;
  walk(
      node, [&](const BindingNode* binding) { defined.insert(binding->var.get()); },
      [&](const FunctionNode* func) {
        for (const Var& param : func->params) defined.insert(param.get());
      },
      [&](const VarBaseNode* var) {
        if (seen.insert(var).second) used.push_back(AnyVar(var));
      });
  for (const AnyVar& var : used) {
    if (defined.contains(var.get())) continue;
    w_.begin_line();
    define_variable(var);
    w_.end_line();
  }
}

void print_graph_function(Writer& writer, const Object* func, std::string_view name) {
  if (const auto* external = ObjectRef(func).as<ExternFuncNode>()) {
    writer.begin_line();
    writer.out += fmt::format("{} = ", identifier(name));
    GraphPrinter(&writer).expr(ExternFunc(external));
    return writer.end_line();
  }
  GraphPrinter(&writer).function(static_cast<const FunctionNode*>(func), identifier(name), false);
}

void print_graph_node(Writer& writer, const Object* node) {
  GraphPrinter printer(&writer);
  const ObjectRef ref(node);
  if (const auto* block = ref.as<BindingBlockNode>()) {
    printer.free_variables(node);
    printer.block(block);
  } else if (const auto* binding = ref.as<BindingNode>()) {
    printer.free_variables(node);
    printer.binding(binding);
  } else {
    printer.expr(ref_as<ExprNode>(ref));
  }
}

}  // namespace tilewright::script
