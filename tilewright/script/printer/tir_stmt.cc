// Statements: loops, branches, lets, attributes, allocations, stores.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/script/printer/tir_printer.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/range_end.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/uses.h"

namespace tilewright::script {
using namespace tir;
namespace {

// True if the loop may share a T.grid: serial, from zero, without annotations.
bool is_plain(const ForNode* loop) {
  return loop->for_kind == ForKind::kSerial && is_zero(loop->min) && loop->annotations.empty() &&
         loop->thread_tag.empty();
}

bool uses_one_of(const PrimExpr& expr, const std::vector<const ForNode*>& loops) {
  return tir::uses_any(expr, [&](const VarNode* var) {
    return std::any_of(loops.begin(), loops.end(),
                       [&](const ForNode* loop) { return loop->loop_var.get() == var; });
  });
}

bool calls(const PrimExpr& expr, std::string_view op_name) {
  const auto* call = expr.as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  return op && op->name == op_name;
}

}  // namespace

void TirPrinter::scope(const Stmt& body) {
  w_.names.push();
  w_.indented([&] { statement(body); });
  w_.names.pop();
}

void TirPrinter::statement(const Stmt& stmt, bool is_last) {
  if (!stmt) return;  // of a node that is not complete
  by_kind(
      stmt,
      [&](const SeqStmtNode* list) {
        for (size_t n = 0; n < list->seq.size(); ++n)
          statement(list->seq[n], is_last && n + 1 == list->seq.size());
      },
      [&](const ForNode* node) { loops(node); }, [&](const BlockRealizeNode* node) { block(node); },
      [&](const BlockNode* node) { block_alone(node); }, [&](const IfThenElseNode* node) { branch(node); },
      [&](const WhileNode* node) { while_loop(node); }, [&](const LetStmtNode* node) { let(node, is_last); },
      [&](const AttrStmtNode* node) { attr(node, is_last); },
      [&](const AllocBufferNode* node) { allocate(node, is_last); },
      [&](const DeclBufferNode* node) { declare_view(node, is_last); },
      [&](const BufferStoreNode* node) { line(node, [&] { store(node); }); },
      [&](const EvaluateNode* node) { line(node, [&] { evaluate(node); }); },
      [&](const AssertStmtNode* node) {
        line(node, [&] {
          w_.out += "assert ";
          w_.expr(node->condition);
          w_.out += ", " + quoted(node->message);
        });
      });
}

template <class Write>
void TirPrinter::line(const StmtNode* stmt, Write&& write) {
  w_.begin_line();
  const size_t begin = w_.out.size();
  write();
  w_.place(stmt, begin);
  w_.end_line();
}

void TirPrinter::while_loop(const WhileNode* node) {
  w_.begin_line();
  const size_t begin = w_.out.size();
  w_.out += "while ";
  w_.expr(node->condition);
  w_.place(node, begin);
  w_.out += ':';
  w_.end_line();
  scope(node->body);
}

void TirPrinter::loops(const ForNode* loop) {
  std::vector<const ForNode*> chain;
  for (const ForNode* inner = loop; inner && is_plain(inner) && !uses_one_of(inner->extent, chain);
       inner = inner->body.as<ForNode>())
    chain.push_back(inner);
  if (chain.size() < 2) return one_loop(loop);
  w_.names.push();
  w_.begin_line();
  w_.out += "for ";
  const size_t begin = w_.out.size() - 4;
  for (size_t n = 0; n < chain.size(); ++n) {
    if (n) w_.out += ", ";
    const size_t start = w_.out.size();
    w_.define_name(chain[n]->loop_var.get(), chain[n]->loop_var->name_hint);
    if (n) w_.place(chain[n], start);
    loops_[chain[n]->loop_var.get()] = chain[n];
  }
  w_.out += fmt::format(" in {}grid(", w_.tir_prefix());
  for (size_t n = 0; n < chain.size(); ++n) {
    if (n) w_.out += ", ";
    w_.expr(chain[n]->extent);
  }
  w_.out += ')';
  w_.place(loop, begin);
  w_.out += ':';
  w_.end_line();
  scope(chain.back()->body);
  w_.names.pop();
}

// for i in range(n): / T.serial, T.parallel, T.vectorized, T.unroll, T.thread_binding
void TirPrinter::one_loop(const ForNode* loop) {
  constexpr std::string_view kFunctions[] = {"serial", "parallel", "vectorized", "unroll", "thread_binding"};
  const bool is_range = loop->for_kind == ForKind::kSerial && loop->annotations.empty();
  w_.names.push();
  w_.begin_line();
  const size_t begin = w_.out.size();
  const std::string head =
      is_range && !w_.is_2022()
          ? "range("
          : fmt::format("{}{}(", w_.tir_prefix(), kFunctions[static_cast<size_t>(loop->for_kind)]);
  w_.out += "for ";
  w_.define_name(loop->loop_var.get(), loop->loop_var->name_hint);
  loops_[loop->loop_var.get()] = loop;
  w_.out += " in " + head;
  if (is_zero(loop->min)) {
    w_.expr(loop->extent);
  } else {
    w_.expr(loop->min);
    w_.out += ", ";
    w_.derived(end_of(loop->min, loop->extent));
  }
  if (loop->for_kind == ForKind::kThreadBinding) w_.out += ", thread=" + quoted(loop->thread_tag);
  if (!loop->annotations.empty()) {
    w_.out += ", annotations=";
    w_.attributes(loop->annotations);
  }
  w_.out += ')';
  w_.place(loop, begin);
  w_.out += ':';
  w_.end_line();
  scope(loop->body);
  w_.names.pop();
}

void TirPrinter::branch(const IfThenElseNode* stmt) {
  w_.begin_line();
  const size_t begin = w_.out.size();
  w_.out += "if ";
  w_.expr(stmt->condition);
  w_.place(stmt, begin);
  w_.out += ':';
  w_.end_line();
  scope(stmt->then_case);
  if (!stmt->else_case) return;
  w_.line("else:");
  scope(stmt->else_case);
}

// x: T.int32 = value, up to the end of the scope; or with T.LetStmt(value) as x:
void TirPrinter::let(const LetStmtNode* let, bool is_last) {
  const VarNode* var = let->var.get();
  const bool is_declared = static_cast<bool>(var->type_annotation);
  w_.begin_line();
  const size_t begin = w_.out.size();
  if (is_declared) {
    w_.out += fmt::format("with {}LetStmt(", w_.tir_prefix());
    w_.expr(let->value);
    w_.out += ", var=" + w_.name_of(var) + ")";
  } else if (is_last) {
    w_.define_name(var, var->name_hint);
    w_.out += ": " + w_.tir_prefix() + var->dtype.str() + " = ";
    w_.expr(let->value);
  } else {
    w_.out += fmt::format("with {}LetStmt(", w_.tir_prefix());
    w_.expr(let->value);
    w_.out += ") as ";
    w_.names.push();
    w_.define_name(var, var->name_hint);
  }
  w_.place(let, begin);
  if (is_last && !is_declared) {
    w_.end_line();
    return statement(let->body);
  }
  w_.out += ':';
  w_.end_line();
  scope(let->body);
  if (!is_declared) w_.names.pop();
}

void TirPrinter::attr_node(const ObjectRef& node) {
  const auto* axis = node.as<IterVarNode>();
  if (!axis) {
    if (is<PrimExprNode>(node))
      w_.expr(ref_as<PrimExprNode>(node));
    else
      w_.attribute(node);
    return;
  }
  constexpr std::string_view kTypes[] = {"DataPar", "CommReduce", "Ordered", "Opaque", "ThreadIndex"};
  w_.out += w_.tir_prefix() + "iter_var(" + w_.name_of(axis->var.get()) + ", ";
  if (axis->dom) {
    w_.out += w_.tir_prefix() + "Range(";
    w_.expr(axis->dom->min);
    w_.out += ", ";
    w_.derived(end_of(axis->dom->min, axis->dom->extent));
    w_.out += ')';
  } else {
    w_.out += "None";
  }
  w_.out +=
      fmt::format(", \"{}\", {})", kTypes[static_cast<size_t>(axis->iter_type)], quoted(axis->thread_tag));
}

void TirPrinter::attr(const AttrStmtNode* attr, bool is_last) {
  const auto* axis = attr->node.as<IterVarNode>();
  const bool is_launch = axis && attr->attr_key == "thread_extent" && !axis->dom &&
                         axis->iter_type == IterType::kThread && axis->var->dtype == attr->value->dtype;
  const bool is_named = is_launch && !survey_.launched_again.contains(axis->var.get());
  w_.begin_line();
  const size_t begin = w_.out.size();
  if (!is_last) {
    w_.out += "with ";
    w_.names.push();
  }
  if (is_last && is_named) {
    w_.define_name(axis->var.get(), axis->var->name_hint);
    w_.out += " = ";
  }
  if (is_launch) {
    w_.out += w_.tir_prefix() + "launch_thread(" +
              (is_named ? quoted(axis->thread_tag) : w_.name_of(axis->var.get())) + ", ";
    w_.expr(attr->value);
    w_.out += ')';
  } else {
    w_.out += w_.tir_prefix() + "attr(";
    attr_node(attr->node);
    w_.out += ", " + quoted(attr->attr_key) + ", ";
    w_.expr(attr->value);
    w_.out += ')';
  }
  if (!is_last && is_named) {
    w_.out += " as ";
    w_.define_name(axis->var.get(), axis->var->name_hint);
  }
  w_.place(attr, begin);
  if (is_last) {
    w_.end_line();
    return statement(attr->body);
  }
  w_.out += ':';
  w_.end_line();
  scope(attr->body);
  w_.names.pop();
}

// A = T.decl_buffer(...) without data allocates memory; since 2026 that is the meaning of T.alloc_buffer.
void TirPrinter::allocate(const AllocBufferNode* alloc, bool is_last) {
  const BufferNode* buffer = alloc->buffer.get();
  const std::string_view function = w_.dialect == Dialect::kTvm027 ? "alloc_buffer" : "decl_buffer";
  declare_variables_of(buffer);
  w_.begin_line();
  const size_t begin = w_.out.size();
  if (!is_last) w_.names.push();
  if (is_last) {
    define_buffer(buffer);
    w_.out += w_.name_of(buffer);
    w_.place(buffer, begin);
    w_.out += " = ";
    buffer_call(buffer, function, "", false, alloc->annotations);
    w_.place(alloc, begin);
    w_.end_line();
    return statement(alloc->body);
  }
  w_.out += "with ";
  buffer_call(buffer, function, "", false, alloc->annotations);
  define_buffer(buffer);
  w_.out += " as " + w_.name_of(buffer);
  w_.place(alloc, begin);
  w_.out += ':';
  w_.end_line();
  scope(alloc->body);
  w_.names.pop();
}

void TirPrinter::declare_view(const DeclBufferNode* decl, bool is_last) {
  const BufferNode* buffer = decl->buffer.get();
  declare_variables_of(buffer);
  w_.begin_line();
  const size_t begin = w_.out.size();
  if (is_last) {
    w_.define_name(buffer, buffer->name);
    w_.out += " = ";
    buffer_call(buffer, "decl_buffer", "", true);
    w_.place(decl, begin);
    w_.end_line();
    return statement(decl->body);
  }
  w_.names.push();
  w_.out += "with ";
  buffer_call(buffer, "decl_buffer", "", true);
  w_.out += " as ";
  w_.define_name(buffer, buffer->name);
  w_.place(decl, begin);
  w_.out += ':';
  w_.end_line();
  scope(decl->body);
  w_.names.pop();
}

void TirPrinter::store(const BufferStoreNode* store) {
  const size_t begin = w_.out.size();
  w_.out += w_.name_of(store->buffer.get());
  w_.place(store->buffer.get(), begin);
  if (store->predicate) {
    w_.out += ".vstore([";
    w_.exprs(store->indices);
    w_.out += "], ";
    w_.expr(store->value);
    w_.out += ", predicate=";
    w_.expr(store->predicate);
    w_.out += ')';
    return;
  }
  w_.out += '[';
  w_.indices(store->indices);
  w_.out += "] = ";
  w_.expr(store->value);
}

void TirPrinter::evaluate(const EvaluateNode* evaluate) {
  if (calls(evaluate->value, "tir.break_loop")) {
    w_.out += "break";
  } else if (calls(evaluate->value, "tir.continue_loop")) {
    w_.out += "continue";
  } else if (is<CallNode>(evaluate->value) && !w_.is_2022()) {
    w_.expr(evaluate->value);
  } else {
    w_.out += w_.tir_prefix() + "evaluate(";
    w_.expr(evaluate->value);
    w_.out += ')';
  }
}

}  // namespace tilewright::script
