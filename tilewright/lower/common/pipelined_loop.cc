#include "tilewright/lower/common/pipelined_loop.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/pointer_use.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

// ---- what statements touch

class TouchFinder {
 public:
  std::vector<Touch> find(const Stmt& stmt) {
    walk(
        stmt, [&](const BufferLoadNode* load) { touch(load->buffer->data, load->buffer->name, true, false); },
        [&](const BufferStoreNode* store) { touch(store->buffer->data, store->buffer->name, false, true); },
        [&](const CallNode* call) { return visit_call(call); },
        // a pointer of which it is unknown what is done with it
        [&](const VarNode* var) {
          if (var->dtype.is_handle()) touch(Var(var), var->name_hint, true, true);
        });
    return std::move(found_);
  }

 private:
  bool visit_call(const CallNode* call) {
    for (size_t n = 0; n < call->args.size(); ++n) {
      const BufferLoadNode* load = pointed_to(call->args[n]);
      const std::vector<PrimExpr> inside = load ? load->indices : std::vector<PrimExpr>{call->args[n]};
      const PointerUse use = pointer_use(call, n);
      if (load) touch(load->buffer->data, load->buffer->name, use.reads, use.writes);
      for (const PrimExpr& expr : inside) {
        for (Touch& each : TouchFinder().find(EvaluateNode::make(expr)))
          touch(each.data, each.name, each.is_read, each.is_written);
      }
    }
    return false;
  }

  void touch(const Var& data, const std::string& name, bool is_read, bool is_written) {
    auto known = std::ranges::find(found_, data, &Touch::data);
    if (known == found_.end()) known = found_.insert(found_.end(), Touch{data, name});
    known->is_read |= is_read;
    known->is_written |= is_written;
  }

  std::vector<Touch> found_;
};

// ---- annotations

std::vector<int64_t> numbers(const ForNode* loop, std::string_view key) {
  const ObjectRef value = loop->annotations.get(key);
  const auto* list = value.as<ArrayNode>();
  std::vector<int64_t> numbers;
  for (const ObjectRef& item : list ? list->items : std::vector<ObjectRef>()) {
    const auto* number = item.as<IntImmNode>();
    numbers.push_back(number ? number->value : -1);
  }
  if (!list || std::ranges::any_of(numbers, [](int64_t number) { return number < 0; }))
    throw UserError(loop, "{} of loop {} is no list of whole numbers from 0 on", key,
                    loop->loop_var->name_hint)
        .help("write for example sch.annotate(loop, \"{}\", [0, 0, 1])", key);
  return numbers;
}

// "statement 1, which writes A_shared"
std::string text_of(const PipelinedLoop& pipeline, const PipelinedStatement& statement) {
  std::vector<std::string> written;
  for (const Touch& touch : statement.touches) {
    if (touch.is_written) written.push_back(touch.name);
  }
  return fmt::format("statement {}, which writes {}", &statement - pipeline.statements.data(),
                     written.empty() ? "nothing" : fmt::format("{}", fmt::join(written, " and ")));
}

void require_number_of_each(const PipelinedLoop& pipeline, std::string_view key, size_t count) {
  if (count == pipeline.statements.size()) return;
  std::vector<std::string> texts;
  for (const PipelinedStatement& statement : pipeline.statements)
    texts.push_back(text_of(pipeline, statement));
  throw UserError(pipeline.loop, "{} of loop {} has {} numbers, but the loop's body has {} statements: {}",
                  key, pipeline.loop->loop_var->name_hint, count, texts.size(), fmt::join(texts, "; "))
      .help(
          "give each statement one number, in their order; a pipelined loop among them is three: its "
          "beginning, "
          "the loop and its end");
}

void read_stages(PipelinedLoop& pipeline) {
  const std::vector<int64_t> stages = numbers(pipeline.loop.get(), kPipelineStage);
  require_number_of_each(pipeline, kPipelineStage, stages.size());
  const int64_t first = std::ranges::min(stages);
  for (size_t n = 0; n < stages.size(); ++n) {
    pipeline.statements[n].stage = stages[n] - first;
    pipeline.last_stage = std::max(pipeline.last_stage, stages[n] - first);
  }
  if (!pipeline.loop->annotations.get(kPipelineAsync)) return;
  for (const int64_t stage : numbers(pipeline.loop.get(), kPipelineAsync)) {
    if (std::ranges::find(stages, stage) == stages.end())
      throw UserError(pipeline.loop, "{} of loop {} has {}, but none of its statements has that stage: {}",
                      kPipelineAsync, pipeline.loop->loop_var->name_hint, stage, stages)
          .help("name the stage of the copies");
    for (size_t n = 0; n < stages.size(); ++n) pipeline.statements[n].is_async |= stages[n] == stage;
  }
}

void read_order(PipelinedLoop& pipeline) {
  for (size_t n = 0; n < pipeline.statements.size(); ++n) pipeline.statements[n].place = n;
  if (!pipeline.loop->annotations.get(kPipelineOrder)) return;
  const std::vector<int64_t> order = numbers(pipeline.loop.get(), kPipelineOrder);
  require_number_of_each(pipeline, kPipelineOrder, order.size());
  for (size_t n = 0; n < order.size(); ++n) {
    if (std::ranges::count(order, static_cast<int64_t>(n)) != 1)
      throw UserError(pipeline.loop, "{} of loop {} is {}, which does not have each number from 0 to {} once",
                      kPipelineOrder, pipeline.loop->loop_var->name_hint, order, order.size() - 1)
          .help("give each statement its place among those that run together");
    pipeline.statements[n].place = static_cast<size_t>(order[n]);
  }
}

// Allocations around `stmt`, taken off.
Stmt without_memory(Stmt stmt, std::vector<AllocBuffer>& memory) {
  while (const auto* alloc = stmt.as<AllocBufferNode>()) {
    memory.emplace_back(alloc);
    stmt = Stmt(alloc->body);
  }
  return stmt;
}

const AttrStmtNode* marked(const Stmt& stmt) {
  const auto* attr = stmt.as<AttrStmtNode>();
  return attr && attr->attr_key == kPipelineStatement ? attr : nullptr;
}

// One statement of the body, or the parts of a pipelined loop.
void add_statement(const Stmt& stmt, PipelinedLoop& pipeline) {
  const AttrStmtNode* mark = marked(stmt);
  if (!mark) return pipeline.statements.push_back({stmt});
  std::vector<AllocBuffer> memory;
  const Stmt inside = without_memory(mark->body, memory);
  const auto* parts = inside.as<SeqStmtNode>();
  const bool is_pipeline = parts && std::ranges::all_of(parts->seq, [](const Stmt& part) {
                             const AttrStmtNode* mark = marked(part);
                             return mark && is_one(mark->value);
                           });
  if (!is_pipeline) return pipeline.statements.push_back({mark->body});
  pipeline.memory.insert(pipeline.memory.end(), memory.begin(), memory.end());
  for (const Stmt& part : parts->seq) pipeline.statements.push_back({marked(part)->body});
}

// `stmt` inside of the definition `let`, which gets a new name in each copy.
template <class Definition>
void put_inside(const Definition* definition, PipelinedLoop& pipeline) {
  for (PipelinedStatement& statement : pipeline.statements)
    statement.stmt =
        fresh_copy(with(definition, [&](Definition& changed) { changed.body = statement.stmt; }));
}

void read_statements(const Stmt& body, PipelinedLoop& pipeline) {
  const Stmt inside = without_memory(body, pipeline.memory);
  if (const auto* let = inside.as<LetStmtNode>()) {
    read_statements(let->body, pipeline);
    put_inside(let, pipeline);
  } else if (const auto* view = inside.as<DeclBufferNode>()) {
    read_statements(view->body, pipeline);
    put_inside(view, pipeline);
  } else if (const auto* sequence = inside.as<SeqStmtNode>()) {
    for (const Stmt& stmt : sequence->seq) add_statement(stmt, pipeline);
  } else {
    add_statement(inside, pipeline);
  }
}

// ---- dependences

bool runs_before(const PipelinedStatement& a, const PipelinedStatement& b) {
  return std::tie(a.stage, a.place) < std::tie(b.stage, b.place);
}

bool is_own(const PipelinedLoop& pipeline, const VarNode* data) {
  return std::ranges::any_of(pipeline.memory,
                             [&](const AllocBuffer& alloc) { return alloc->buffer->data.get() == data; });
}

// The elements that a statement touches of some memory: indices with the loops around them.
struct Elements {
  std::vector<std::pair<PrimExpr, bool>> indices;  // each with whether it is written; null: unknown
  arith::IterRanges loops;
};
Elements elements_of(const Stmt& stmt, const VarNode* data) {
  Elements found;
  const auto add = [&](const Buffer& buffer, const std::vector<PrimExpr>& indices, bool is_write) {
    if (buffer->data.get() != data) return;
    const bool is_known = indices.size() == 1 && indices[0]->dtype.is_scalar();
    found.indices.emplace_back(is_known ? indices[0] : PrimExpr(), is_write);
  };
  walk(
      stmt, [&](const BufferLoadNode* load) { add(load->buffer, load->indices, false); },
      [&](const BufferStoreNode* store) { add(store->buffer, store->indices, true); },
      [&](const CallNode* call) {
        for (size_t n = 0; n < call->args.size(); ++n) {
          const BufferLoadNode* load = pointed_to(call->args[n]);
          if (load && load->buffer->data.get() == data && pointer_use(call, n).writes)
            found.indices.emplace_back(PrimExpr(), true);
        }
      },
      [&](const ForNode* loop) {
        found.loops.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
      },
      [&](const VarNode* var) {
        if (var == data) found.indices.emplace_back(PrimExpr(), true);
      },
      [&](const LetStmtNode* let) {
        if (!let->var->dtype.is_handle()) found.loops.emplace_back(let->var, Range());
      });
  return found;
}

// True if it is proved that `first`, `distance` iterations later, touches no element that `second` touches now and one of
// both writes.
bool are_apart(const PipelinedLoop& pipeline, const PipelinedStatement& first,
               const PipelinedStatement& second, const VarNode* data, int64_t distance,
               const arith::IterRanges& threads) {
  const Var& var = pipeline.loop->loop_var;
  Substitution names = {{var.get(), var + distance}};
  arith::Analyzer analyzer;
  analyzer.bind(var, make_range(pipeline.loop->min, pipeline.loop->extent));
  for (const auto& [thread, range] : threads) {  // of another thread
    const Var other = make_var(thread->name_hint, thread->dtype);
    names[thread.get()] = other;
    analyzer.bind(thread, range);
    analyzer.bind(other, range);
  }
  const Elements a = elements_of(fresh_copy(first.stmt, names), data), b = elements_of(second.stmt, data);
  for (const arith::IterRanges* loops : {&a.loops, &b.loops}) {
    for (const auto& [each, range] : *loops) {
      if (!range) return false;
      analyzer.bind(each, range);
    }
  }
  for (const auto& [left, left_writes] : a.indices) {
    for (const auto& [right, right_writes] : b.indices) {
      if (!left_writes && !right_writes) continue;
      if (!left || !right) return false;
      const arith::ConstBounds bounds = analyzer.const_bounds(analyzer.simplify(left - right));
      if (bounds.min <= 0 && bounds.max >= 0) return false;
    }
  }
  return true;
}

[[noreturn]] void refuse(const PipelinedLoop& pipeline, const PipelinedStatement& earlier,
                         const PipelinedStatement& later, const Touch& touch, int64_t distance) {
  const auto what = [&](const PipelinedStatement& statement) {
    const Touch* own = statement.find(touch.data.get());
    return own->is_written ? "writes" : "reads";
  };
  const std::string when = distance == 0   ? "in the same iteration"
                           : distance == 1 ? "an iteration later"
                                           : fmt::format("{} iterations later", distance);
  throw UserError(pipeline.loop,
                  "loop {} cannot be pipelined so: statement {} {} {}, and statement {} {} it {}, but with "
                  "stages {} and {} and places {} and {} the second runs before the first",
                  pipeline.loop->loop_var->name_hint, &earlier - pipeline.statements.data(), what(earlier),
                  touch.name, &later - pipeline.statements.data(), what(later), when, earlier.stage,
                  later.stage, earlier.place, later.place)
      .note(earlier.stmt, "{}", text_of(pipeline, earlier))
      .note(later.stmt, "{}", text_of(pipeline, later))
      .help("{}",
            distance == 0
                ? "give the second a larger stage, or a later place in software_pipeline_order"
                : "give both the same stage, or let each iteration have the memory for itself: allocate "
                  "it so that no iteration reads what another wrote");
}

// `a` stands before `b` in the program.
void check_pair(const PipelinedLoop& pipeline, const PipelinedStatement& a, const PipelinedStatement& b,
                const arith::IterRanges& threads) {
  for (const Touch& touch : a.touches) {
    const Touch* other = b.find(touch.data.get());
    if (!other || !(touch.is_written || other->is_written)) continue;
    if (!runs_before(a, b)) refuse(pipeline, a, b, touch, 0);
    if (is_own(pipeline, touch.data.get())) continue;  // versions keep iterations apart
    // b runs that many iterations behind: a of these iterations has run before
    const int64_t most = b.stage - a.stage - (b.place < a.place ? 1 : 0);
    for (int64_t distance = 1; distance <= most; ++distance) {
      if (!are_apart(pipeline, a, b, touch.data.get(), distance, threads))
        refuse(pipeline, b, a, touch, distance);
    }
  }
}

}  // namespace

const Touch* PipelinedStatement::find(const VarNode* data) const {
  const auto found =
      std::ranges::find_if(touches, [&](const Touch& touch) { return touch.data.get() == data; });
  return found == touches.end() ? nullptr : &*found;
}

std::vector<const PipelinedStatement*> PipelinedLoop::in_order() const {
  std::vector<const PipelinedStatement*> order(statements.size());
  for (const PipelinedStatement& statement : statements) order[statement.place] = &statement;
  return order;
}

PipelinedLoop read_pipeline(const For& loop) {
  if (loop->for_kind != ForKind::kSerial && loop->for_kind != ForKind::kUnrolled)
    throw UserError(loop, "{}: the iterations of loop {} do not run one after the other", kPipelineStage,
                    loop->loop_var->name_hint)
        .help("annotate a serial loop");
  PipelinedLoop pipeline{loop, {}, {}};
  read_statements(loop->body, pipeline);
  for (PipelinedStatement& statement : pipeline.statements)
    statement.touches = TouchFinder().find(statement.stmt);
  read_stages(pipeline);
  read_order(pipeline);
  for (const AllocBuffer& alloc : pipeline.memory) {
    for (const PrimExpr& extent : alloc->buffer->shape) {
      if (uses(extent, loop->loop_var.get()))
        throw UserError(alloc, "loop {} cannot be pipelined: buffer {} has another size in each iteration",
                        loop->loop_var->name_hint, alloc->buffer->name)
            .help("split the loops around so that all iterations need as many elements");
    }
  }
  return pipeline;
}

void check_dependences(const PipelinedLoop& pipeline, const arith::IterRanges& threads) {
  for (size_t later = 0; later < pipeline.statements.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier)
      check_pair(pipeline, pipeline.statements[earlier], pipeline.statements[later], threads);
  }
}

int64_t num_versions(const PipelinedLoop& pipeline, const Buffer& buffer) {
  const VarNode* data = buffer->data.get();
  int64_t versions = 1;
  for (const PipelinedStatement& writer : pipeline.statements) {
    const Touch* write = writer.find(data);
    if (!write || !write->is_written) continue;
    for (const PipelinedStatement& user : pipeline.statements) {
      const int64_t behind = user.stage - writer.stage;
      if (!user.find(data) || behind < 1) continue;
      // the iteration that writes the same version again: `behind` ones later, after the user or before it
      const bool is_after = writer.place > user.place && !is_shared(buffer);
      versions = std::max(versions, behind + (is_after ? 0 : 1));
    }
  }
  return versions;
}

}  // namespace tilewright::lower
