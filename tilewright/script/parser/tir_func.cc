// @T.prim_func: parameters, the root block, and the check that all variables are defined.
#include "tilewright/analysis/verify.h"
#include "tilewright/ir/walk.h"
#include "tilewright/script/parser/tir_parser.h"

namespace tilewright::script {
namespace {

// The version of the language that the spellings of the text imply, found before anything is parsed.
struct Spellings {
  bool has_blocks = false, is_sblock_era = false;
  void look_at(const ast::Expr* expr) {
    if (!expr || expr->kind != ast::ExprKind::kCall) return;
    const ast::Expr* callee = expr->items[0];
    const std::string_view name = callee->text;
    has_blocks = has_blocks || name == "block" || name == "sblock";
    is_sblock_era =
        is_sblock_era || name == "sblock" || name == "sblock_alloc_buffer" || name == "sblock_attr";
  }
  void look_at(const ast::Body& body) {
    for (const ast::Stmt* stmt : body) {
      look_at(stmt->value);
      for (const ast::WithItem& item : stmt->items) look_at(item.value);
      look_at(stmt->body);
      look_at(stmt->orelse);
    }
  }
};

bool contains_block(const tir::Stmt& body) {
  bool found = false;
  ir::walk(body, [&](const BlockRealizeNode*) {
    found = true;
    return false;
  });
  return found;
}

}  // namespace

void TirParser::parse_decorators(const ast::Stmt* function) {
  bool is_private = false;
  for (const ast::Expr* decorator : function->decorators) {
    if (decorator->kind != ast::ExprKind::kCall ||
        !parser_.path_of(decorator->items[0]).ends_with("prim_func"))
      continue;
    Args args = parser_.eval_args(decorator, {});
    if (const Arg* arg = args.keyword("private"))
      is_private = parser_.to_flag(arg->value, arg->place, "private");
    if (const Arg* arg = args.keyword("s_tir"))
      state_.is_sblock_era = parser_.to_flag(arg->value, arg->place, "s_tir") || state_.is_sblock_era;
    if (const Arg* arg = args.keyword("check_well_formed"))
      state_.check_well_formed =
          parser_.to_flag(arg->value, arg->place, "check_well_formed") && state_.check_well_formed;
    args.done();
  }
  if (!is_private) state_.attrs.set("global_symbol", string_imm(std::string(function->name)));
}

void TirParser::parse_param(const ast::Param& param, size_t index) {
  if (!param.annotation)
    throw UserError(parser_.span(param.place), "parameter {} has no type", param.name)
        .help("as in {}: T.Buffer((128, 128), \"float32\") or {}: T.int32", param.name, param.name);
  if (param.default_value)
    throw UserError(parser_.span(param.default_value), "a parameter of a T.prim_func has no default value");
  const std::string name(param.name);
  const Place place = param.annotation->place;
  const Value type = parser_.eval(param.annotation, {param.name});
  DataType dtype;
  if (auto buffer = type.ref<BufferNode>()) {
    state_.params[index] =
        tir::VarNode::make("var_" + name, DataType::handle(), ir::Type(), parser_.span(param.place));
    state_.buffers[index] = buffer;
    parser_.names.define(name, buffer, param.place);
  } else if (auto var = type.ref<tir::VarNode>()) {  // n: T.int32(), p: T.handle("float32")
    state_.params[index] = var;
    state_.defined.insert(var.get());
    parser_.names.define(name, var, param.place);
  } else if (parser_.as_data_type(type, &dtype)) {
    state_.params[index] = make_var(name, dtype, parser_.span(param.place));
    parser_.names.define(name, state_.params[index], param.place);
  } else {
    throw UserError(parser_.span(place), "{} cannot be the type of a parameter", describe(type))
        .help("a parameter is a T.Buffer(...), a T.handle or a scalar such as T.int32");
  }
  state_.defined.insert(state_.params[index].get());
}

// Scalars first: the shapes of buffers before them may use their names.
void TirParser::parse_params(const ast::Stmt* function) {
  const size_t count = function->params.size();
  state_.params.resize(count);
  state_.buffers.resize(count);
  for (size_t n = 0; n < count; ++n) {
    for (size_t other = 0; other < n; ++other) {
      if (function->params[other].name == function->params[n].name)
        throw UserError(parser_.span(function->params[n].place), "two parameters are called {}",
                        function->params[n].name);
    }
  }
  auto is_buffer = [&](const ast::Param& param) {
    return param.annotation && (param.annotation->kind == ast::ExprKind::kCall ||
                                param.annotation->kind == ast::ExprKind::kSubscript);
  };
  for (bool buffers : {false, true}) {
    for (size_t n = 0; n < count; ++n) {
      const ast::Param& param = function->params[n];
      if (is_buffer(param) == buffers) parser_.at(param.place, [&] { parse_param(param, n); });
    }
  }
}

ir::Type result_type(Parser& parser, const ast::Expr* annotation) {
  if (!annotation || annotation->kind == ast::ExprKind::kNone) return nullptr;
  const Value type = parser.eval(annotation);
  if (auto node = type.ref<ir::TypeNode>()) return node;
  return ir::PrimTypeNode::make(parser.to_data_type(type, annotation->place));
}

// A program with blocks is itself a block, the root, which the text may omit.
tir::Stmt TirParser::with_root(tir::Stmt body) {
  const auto* realize = body.as<BlockRealizeNode>();
  if (realize && realize->block->iter_vars.empty() && state_.root_buffers.empty()) {
    if (realize->block != state_.top_block || (!state_.top_reads_found && !state_.top_writes_found))
      return body;
    tir::Block root = with(realize->block, [&](BlockNode& n) {
      if (state_.top_reads_found) n.reads.clear();
      if (state_.top_writes_found) n.writes.clear();
    });
    return with(realize, [&](BlockRealizeNode& n) { n.block = root; });
  }
  if (state_.root_buffers.empty() && !contains_block(body)) return body;
  tir::Block root = BlockNode::make(
      std::string("root"), std::vector<IterVar>{}, state_.root_buffers, std::vector<BufferRegion>{},
      std::vector<BufferRegion>{}, std::vector<MatchBufferRegion>{}, AttrMap(), tir::Stmt(), std::move(body));
  return BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), root);
}

// Raises UserError for a variable that is only declared (n = T.int64()) and never defined.
void TirParser::check_defined(const PrimFunc& func) {
  std::unordered_map<const tir::VarNode*, Span> undefined;
  for (const auto& [var, span] : state_.declared) {
    if (!state_.defined.contains(var.get())) undefined.emplace(var.get(), span);
  }
  if (undefined.empty()) return;
  auto check = [&](const tir::VarNode* var) {
    auto found = undefined.find(var);
    if (found == undefined.end()) return;
    throw UserError(found->second, "variable {} is used, but nothing gives it a value", var->name_hint)
        .help(
            "a variable gets its value by standing alone as a dimension, stride or offset of a parameter's "
            "buffer");
  };
  for (const Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    for (const PrimExpr& extent : buffer->shape) ir::walk(extent, check);
    for (const PrimExpr& stride : buffer->strides) ir::walk(stride, check);
    ir::walk(buffer->elem_offset, check);
  }
  ir::walk(func->body, check);
}

PrimFunc TirParser::parse_function(const ast::Stmt* function) {
  Spellings spellings;
  spellings.look_at(function->body);
  state_.name = function->name;
  state_.has_blocks = spellings.has_blocks;
  state_.is_sblock_era = spellings.is_sblock_era;
  state_.check_well_formed = parser_.options.check_well_formed;
  FrameGuard frame(&parser_.names);
  parse_decorators(function);
  parse_params(function);
  state_.ret_type = result_type(parser_, function->annotation);
  StmtList list;
  state_.out = &list;
  parse_whole(function->body);
  state_.out = nullptr;
  PrimFunc func = parser_.at(function->place, [&] {
    return PrimFuncNode::make(state_.params, state_.buffers, with_root(list.close()), state_.ret_type,
                              state_.attrs, parser_.tree.span(function));
  });
  check_defined(func);
  if (state_.check_well_formed) analysis::verify(func);
  return func;
}

}  // namespace tilewright::script
