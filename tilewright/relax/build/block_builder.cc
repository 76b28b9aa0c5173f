// Functions, blocks, bindings and the module.  A-normal form is in block_builder_normalize.cc, call_te in
// te_call.cc.
#include "tilewright/relax/build/block_builder.h"

#include "tilewright/ir/field.h"
#include "tilewright/ir/services.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/purity.h"
#include "tilewright/support/identifier.h"

namespace tilewright::relax {

BlockBuilder::BlockBuilder(IRModule module) : base_(module ? module : IRModule(IRModuleNode::make())) {
  for (size_t n = 0; n < base_->functions.size(); ++n) {
    global_vars_.push_back(base_->global_vars[n]);
    functions_.push_back(base_->functions[n]);
    function_index_[base_->global_vars[n]->name_hint] = n;
    if (is<tir::PrimFuncNode>(base_->functions[n]))
      prim_funcs_[structural_hash(base_->functions[n])].push_back(n);
  }
}

BlockBuilder::Frame& BlockBuilder::frame(std::string_view action) {
  if (frames_.empty())
    throw UserError("{}: no function is open", action).help("open one with bb.function(name, params)");
  if (frames_.back().is_done)
    throw UserError("{}: function {} is complete", action, frames_.back().name)
        .help("emit before emit_func_output");
  return frames_.back();
}

void BlockBuilder::define_params(Frame& frame, const std::vector<Var>& params) {
  for (const Var& param : params) {
    if (!param->type)
      throw UserError(param, "parameter {} has no type", param->name_hint)
          .help("give it one, e.g. R.Tensor((n, 4), \"float32\")");
    collect_defined_dims(param->type, &frame.dims);
    names_.insert(param->name_hint);
  }
  frame.params = params;
}

// ---------------------------------------------------------------- functions

void BlockBuilder::begin_function(std::string name, std::optional<std::vector<Var>> params,
                                  FunctionOptions options) {
  if (!frames_.empty())
    throw UserError("function {}: function {} is still open", name, frames_.front().name)
        .help("close it first; functions do not nest");
  names_.clear();
  next_number_.clear();
  Frame frame;
  frame.is_function = true;
  frame.name = std::move(name);
  frame.options = std::move(options);
  if (params) define_params(frame, *params);
  frames_.push_back(std::move(frame));
}

GlobalVar BlockBuilder::emit_func_output(const Expr& output, std::optional<std::vector<Var>> params) {
  Frame& open = frame("emit_func_output");
  if (!open.is_function)
    throw UserError("emit_func_output: a scope inside function {} is open", frames_.front().name);
  if (open.in_dataflow)
    throw UserError("emit_func_output: a dataflow block of function {} is open", open.name)
        .help("close it first; its results leave it by emit_output");
  if (params && open.params)
    throw UserError("emit_func_output: the parameters of function {} are given twice", open.name)
        .help("give them to function or to emit_func_output");
  if (!params && !open.params)
    throw UserError("emit_func_output: function {} has no parameters yet", open.name)
        .help("give them to function or to emit_func_output; an empty list is right for none");
  if (params) define_params(open, *params);
  const Expr result = normalize_operand(output);
  Frame& filled = frames_.back();
  close_block(filled);
  Type type = erase_unknown_dims(type_of(result), filled.dims);
  if (filled.options.ret_type) {
    if (is_subtype(type, filled.options.ret_type) == Answer::kNo)
      throw UserError(output, "function {} returns {}, but {} is written", filled.name, type_text(type),
                      type_text(filled.options.ret_type));
    type = filled.options.ret_type;
  }
  SeqExpr body = SeqExprNode::make(std::move(filled.blocks), result, type_of(result));
  AttrMap attrs = filled.options.attrs;
  if (!filled.options.is_private) attrs.set("global_symbol", StringImmNode::make(filled.name));
  Function func = FunctionNode::make(*filled.params, body, type, filled.options.is_pure, std::move(attrs));
  func = with(func, [&](FunctionNode& node) { node.type = function_type(func.get()); });
  require_purity(func, filled.name, module_for_inference());
  filled.is_done = true;
  auto known = function_index_.find(filled.name);
  if (known == function_index_.end()) return append_func(func, filled.name);
  update_func(global_vars_[known->second], func);
  return global_vars_[known->second];
}

void BlockBuilder::end_function() {
  if (frames_.empty()) throw UserError("end_function: no function is open");
  const bool is_done = frames_.back().is_done;
  const std::string name = frames_.front().name;
  frames_.clear();  // also if it has no result: the next function can be built
  if (!is_done)
    throw UserError("function {} has no result", name).help("call emit_func_output before it is closed");
}

void BlockBuilder::abandon_function() { frames_.clear(); }

void BlockBuilder::function(std::string name, std::optional<std::vector<Var>> params,
                            const std::function<void()>& body, FunctionOptions options) {
  begin_function(std::move(name), std::move(params), std::move(options));
  try {
    body();
    end_function();
  } catch (...) {
    abandon_function();
    throw;
  }
}

// ---------------------------------------------------------------- blocks

// The bindings so far become a finished block.
void BlockBuilder::close_block(Frame& frame) {
  if (!frame.bindings.empty()) {
    if (frame.in_dataflow)
      frame.blocks.push_back(DataflowBlockNode::make(std::move(frame.bindings)));
    else
      frame.blocks.push_back(PlainBlockNode::make(std::move(frame.bindings)));
  }
  frame.bindings.clear();
}

void BlockBuilder::begin_dataflow() {
  Frame& open = frame("dataflow");
  if (open.in_dataflow)
    throw UserError("dataflow: a dataflow block is open already").help("dataflow blocks do not nest");
  close_block(open);
  open.in_dataflow = true;
}

void BlockBuilder::end_dataflow() {
  Frame& open = frame("end of dataflow");
  if (!open.in_dataflow) throw UserError("end of dataflow: no dataflow block is open");
  close_block(open);
  open.in_dataflow = false;
}

void BlockBuilder::dataflow(const std::function<void()>& body) {
  begin_dataflow();
  body();
  end_dataflow();
}

bool BlockBuilder::current_block_is_dataflow() const {
  return !frames_.empty() && frames_.back().in_dataflow;
}

std::vector<const tir::VarNode*> BlockBuilder::dims_in_scope() const {
  return frames_.empty() ? std::vector<const tir::VarNode*>{} : frames_.back().dims;
}

void BlockBuilder::abandon_scope() {
  if (!frames_.empty() && !frames_.back().is_function) frames_.pop_back();
}

void BlockBuilder::begin_scope(const std::vector<Var>& params) {
  Frame inner;
  if (frames_.empty()) {
    names_.clear();
    next_number_.clear();
  } else {
    inner.dims = frames_.back().dims;
    inner.name = frames_.back().name;
  }
  define_params(inner, params);
  frames_.push_back(std::move(inner));
}

SeqExpr BlockBuilder::end_scope(const Expr& body) {
  Frame& open = frame("end_scope");
  TILEWRIGHT_CHECK(!open.is_function, "end_scope without begin_scope");
  const Expr result = normalize_operand(body);
  Frame& filled = frames_.back();
  close_block(filled);
  SeqExpr seq = SeqExprNode::make(std::move(filled.blocks), result, type_of(result));
  frames_.pop_back();
  if (frames_.empty()) renamed_.clear();  // the next bindings belong to another program
  return seq;
}

void BlockBuilder::begin_block(bool is_dataflow) {
  begin_scope();
  frames_.back().in_dataflow = is_dataflow;
}

BindingBlock BlockBuilder::end_block() {
  if (frames_.empty() || frames_.back().is_function || !frames_.back().blocks.empty())
    throw UserError("end of a block: no block is open").help("open one with _begin_binding_block()");
  Frame open = std::move(frames_.back());
  frames_.pop_back();
  if (!frames_.empty()) frames_.back().dims = open.dims;  // dimensions of match_cast are visible later
  return open.in_dataflow ? BindingBlock(DataflowBlockNode::make(std::move(open.bindings)))
                          : BindingBlock(PlainBlockNode::make(std::move(open.bindings)));
}

// ---------------------------------------------------------------- bindings

std::string BlockBuilder::unique_name(const std::string& base) {
  if (names_.insert(base).second) return base;
  const bool ends_in_digit = !base.empty() && base.back() >= '0' && base.back() <= '9';
  for (int& n = next_number_[base];;) {
    std::string name = fmt::format("{}{}{}", base, ends_in_digit ? "_" : "", ++n);
    if (names_.insert(name).second) return name;
  }
}

AnyVar BlockBuilder::bind(Expr value, Type type, const std::string& name_hint, bool is_output,
                          const Span& span) {
  Frame& open = frames_.back();
  if (on_bind) on_bind(value);
  const bool is_inner = open.in_dataflow && !is_output;
  std::string name = unique_name(!name_hint.empty() ? name_hint : is_inner ? "lv" : "gv");
  AnyVar var;
  if (is_inner)
    var = DataflowVar(DataflowVarNode::make(std::move(name), type, span));
  else
    var = Var(VarNode::make(std::move(name), type, span));
  open.bindings.push_back(
      with(VarBinding(VarBindingNode::make(var, value)), [&](VarBindingNode& node) { node.span = span; }));
  values_[var.get()] = std::move(value);
  return var;
}

AnyVar BlockBuilder::emit(const Expr& value, const std::string& name_hint) {
  frame("emit");
  const Expr normal = normalize(value);
  return bind(normal, type_of(normal), name_hint, false, span_of(value));
}

AnyVar BlockBuilder::emit_output(const Expr& value, const std::string& name_hint) {
  if (!frame("emit_output").in_dataflow)
    throw UserError("emit_output: no dataflow block is open").help("outside of one, use emit");
  const Expr normal = normalize(value);
  return bind(normal, type_of(normal), name_hint, true, span_of(value));
}

AnyVar BlockBuilder::emit_match_cast(const Expr& value, const Type& pattern, const std::string& name_hint) {
  frame("emit_match_cast");
  const Expr normal = normalize_operand(value);
  if (is_subtype(type_of(normal), pattern) == Answer::kNo)
    throw UserError(value, "match_cast: {} can never be {}", type_text(type_of(normal)), type_text(pattern));
  const bool is_inner = frames_.back().in_dataflow;
  const std::string name = unique_name(!name_hint.empty() ? name_hint : is_inner ? "lv" : "gv");
  AnyVar var;
  if (is_inner)
    var = DataflowVar(DataflowVarNode::make(name, pattern));
  else
    var = Var(VarNode::make(name, pattern));
  return emit_normalized(with(MatchCast(MatchCastNode::make(normal, pattern, var)),
                              [&](MatchCastNode& node) { node.span = span_of(value); }));
}

AnyVar BlockBuilder::emit_normalized(const Binding& binding) {
  Frame& open = frame("emit_normalized");
  if (const auto* cast = ObjectRef(binding).as<MatchCastNode>())
    collect_defined_dims(cast->pattern, &open.dims);
  names_.insert(binding->var->name_hint);
  values_[binding->var.get()] = binding->value;
  open.bindings.push_back(binding);
  return binding->var;
}

AnyVar BlockBuilder::emit_te(const std::string& name, const TeFunction& func, const std::vector<Expr>& args,
                             const std::string& name_hint) {
  frame("emit_te");
  return emit(call_te(name, func, args), name_hint);
}

Expr BlockBuilder::lookup_binding(const AnyVar& var) const {
  auto found = values_.find(var.get());
  return found == values_.end() ? Expr() : found->second;
}

// ---------------------------------------------------------------- the module

GlobalVar BlockBuilder::add_func(const BaseFunc& func, const std::string& name_hint) {
  const bool is_shared = is<tir::PrimFuncNode>(func) && !func->attrs.contains("global_symbol");
  std::vector<size_t>* same = is_shared ? &prim_funcs_[structural_hash(func)] : nullptr;
  if (same) {
    for (size_t n : *same) {
      if (structural_equal(functions_[n], func)) return global_vars_[n];
    }
  }
  const std::string base = identifier(name_hint);
  std::string name = base;
  const bool ends_in_digit = name.back() >= '0' && name.back() <= '9';
  for (int& n = next_function_number_[base]; function_index_.count(name);)
    name = fmt::format("{}{}{}", base, ends_in_digit ? "_" : "", ++n);
  if (same) same->push_back(functions_.size());
  return append_func(func, name);
}

GlobalVar BlockBuilder::append_func(const BaseFunc& func, const std::string& name) {
  const Type type = is<FunctionNode>(func) ? Type(function_type(func.as<FunctionNode>())) : Type();
  GlobalVar var = GlobalVarNode::make(name, type);
  function_index_[name] = functions_.size();
  global_vars_.push_back(var);
  functions_.push_back(func);
  cached_ = nullptr;
  return var;
}

void BlockBuilder::update_func(const GlobalVar& var, BaseFunc func) {
  auto known = function_index_.find(var->name_hint);
  if (known == function_index_.end()) {
    function_index_[var->name_hint] = functions_.size();
    global_vars_.push_back(var);
    functions_.push_back(std::move(func));
    cached_ = nullptr;
    return;
  }
  if (functions_[known->second] == func) return;
  functions_[known->second] = std::move(func);
  cached_ = nullptr;
}

IRModule BlockBuilder::get() const {
  if (!cached_) {
    if (functions_ == base_->functions) return cached_ = base_;
    cached_ = with(base_, [&](IRModuleNode& node) {
      node.global_vars = global_vars_;
      node.functions = functions_;
    });
  }
  return cached_;
}

const IRModuleNode* BlockBuilder::module_for_inference() const { return get().get(); }

}  // namespace tilewright::relax
