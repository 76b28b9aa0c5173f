// Translates statements to lines of source.
#include <fmt/format.h>

#include "tilewright/codegen/source/printer.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/bounds_conditions.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::codegen {
namespace {

// True if the loop may evaluate this extent in each iteration: its body cannot change it, and it costs
// nothing.
bool is_constant_in_loop(const PrimExpr& extent) {
  bool is_constant = true;
  walk(
      extent, [&](const BufferLoadNode*) { is_constant = false; },
      [&](const CallNode*) { is_constant = false; }, [&](const SelectNode*) { is_constant = false; },
      [&](const LetNode*) { is_constant = false; });
  return is_constant;
}

const char* loop_comment(ForKind kind) {
  if (kind == ForKind::kVectorized) return "  // vectorized";
  if (kind == ForKind::kUnrolled) return "  // unrolled";
  return "";
}

}  // namespace

void SourcePrinter::line(std::string text) {
  lines_.push_back(std::string(static_cast<size_t>(depth_) * 2, ' ') + std::move(text));
}

void SourcePrinter::open(const std::string& header) {
  line(header);
  ++depth_;
  names_.enter();
}

void SourcePrinter::close(const std::string& tail) {
  names_.leave();
  --depth_;
  line(tail);
}

void SourcePrinter::reopen(const std::string& header) {
  close(header);
  ++depth_;
  names_.enter();
}

void SourcePrinter::run_cleanups(size_t above) {
  for (size_t n = cleanups_.size(); n > above; --n) line(cleanups_[n - 1]);
}

void SourcePrinter::stmt(const Stmt& s) {
  const auto refuse = [](const StmtNode* node) {
    throw InternalError("a {} was not lowered before code generation", info_of(*node)->name);
  };
  by_kind(
      s, [&](const BufferStoreNode* node) { store(node); }, [&](const ForNode* node) { loop(node); },
      [&](const WhileNode* node) { while_loop(node); },
      [&](const IfThenElseNode* node) { condition(node, ""); },
      [&](const SeqStmtNode* node) {
        for (const Stmt& item : node->seq) stmt(item);
      },
      [&](const LetStmtNode* let) {
        define(let->var.get(), let->value);
        const auto scope = analyzer_.enter();
        if (arith::is_index(let->value->dtype) && lower::is_stable(let->value))
          analyzer_.bind(let->var, let->value);
        stmt(let->body);
      },
      [&](const AllocBufferNode* node) { alloc(node); },
      [&](const DeclBufferNode* node) { stmt(node->body); },
      [&](const AttrStmtNode* node) { stmt(node->body); },
      [&](const AssertStmtNode* check) {
        open("if (" + text(logical_not(check->condition)) + ") {");
        fail("RuntimeError", check->message);
        close();
      },
      [&](const EvaluateNode* node) { evaluate(node->value); }, [&](const BlockNode* node) { refuse(node); },
      [&](const BlockRealizeNode* node) { refuse(node); });
}

void SourcePrinter::store_lanes(const BufferStoreNode* node) {
  vector(node->value->dtype.is_scalar() ? node->predicate : node->value);
  throw InternalError("a store of vectors was not lowered before code generation");
}

void SourcePrinter::store(const BufferStoreNode* node) {
  if (node->predicate || !node->value->dtype.is_scalar()) return store_lanes(node);
  const std::string place = element(node->buffer, node->indices);
  // A[i] = A[i] + x is A[i] += x
  const auto* sum = node->value.as<AddNode>();
  const auto* old = sum ? sum->a.as<BufferLoadNode>() : nullptr;
  const bool is_update = old && node->value->dtype.is_float() && old->buffer == node->buffer &&
                         !old->predicate && structural_equal(old->indices[0], node->indices[0]);
  if (is_update) return line(place + " += " + text(sum->b) + ";");
  std::string value = text(node->value);
  line(place + " = " + value + ";");
}

std::string SourcePrinter::loop_end(const ForNode* node) {
  const PrimExpr end = node->min + node->extent;
  if (is_constant_in_loop(end)) return index_text(end, Level::kShift);
  return temporary(node->loop_var->name_hint + "_end", node->loop_var->dtype, index_text(end));
}

void SourcePrinter::loop(const ForNode* node) {
  if (node->for_kind == ForKind::kThreadBinding) return thread_loop(node);
  TILEWRIGHT_CHECK(node->for_kind != ForKind::kParallel, "loop {} was not lowered before code generation",
                   node->loop_var->name_hint);
  const std::string begin = index_text(node->min), end = loop_end(node);
  const auto scope = analyzer_.enter();
  lower::learn_range(node, analyzer_);
  // the name is declared in the loop's own block, so that the next loop may use the same one
  names_.enter();
  const std::string name = names_.declare(loop_name(node));
  names_.set(node->loop_var.get(), name);
  std::string hint = loop_hint(node);
  const char* comment = hint.starts_with("#pragma") ? "" : loop_comment(node->for_kind);
  if (!hint.empty()) line(std::move(hint));
  nest_.push_back(node);
  open(fmt::format("for ({} {} = {}; {} < {}; ++{}) {{{}", type_name(node->loop_var->dtype), name, begin,
                   name, end, name, comment));
  loops_.push_back(cleanups_.size());
  stmt(node->body);
  loops_.pop_back();
  close();
  nest_.pop_back();
  names_.leave();
}

void SourcePrinter::while_loop(const WhileNode* node) {
  const Branch test = branch(node->condition);
  const bool is_plain = test.lines.empty();
  open(is_plain ? "while (" + test.code.text + ") {" : "while (true) {");
  if (!is_plain) {
    // print the statements of the condition again, since their names must be declared in this block
    const std::string condition = text(node->condition, Level::kPrefix);
    open("if (!" + condition + ") {");
    line("break;");
    close();
  }
  loops_.push_back(cleanups_.size());
  stmt(node->body);
  loops_.pop_back();
  close();
}

void SourcePrinter::condition(const IfThenElseNode* node, const std::string& before) {
  open(before + "if (" + text(node->condition) + ") {");
  {
    const auto scope = analyzer_.enter();
    lower::learn_condition(node->condition, analyzer_);
    stmt(node->then_case);
  }
  if (!node->else_case) return close();
  const auto* next = node->else_case.as<IfThenElseNode>();
  if (next && branch(next->condition).lines.empty()) {
    names_.leave();
    --depth_;
    return condition(next, "} else ");
  }
  reopen("} else {");
  stmt(node->else_case);
  close();
}

void SourcePrinter::evaluate(const PrimExpr& value) {
  if (is<IntImmNode>(value)) return;
  const auto* call = value.as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  const std::string_view name = op ? std::string_view(op->name) : std::string_view();
  if (name == "tir.break_loop" || name == "tir.continue_loop") {
    const char* word = name == "tir.break_loop" ? "break" : "continue";
    if (loops_.empty()) throw UserError("{} is outside of any loop", word);
    run_cleanups(loops_.back());
    return line(fmt::format("{};", word));
  }
  const Code code = expr(value);
  if (code.text.empty()) return;  // its statements are printed already
  line((call ? code.text : "(void)" + within(code, Level::kPrefix)) + ";");
}

}  // namespace tilewright::codegen
