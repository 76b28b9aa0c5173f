// Overlaps the statements of a loop: one of stage s runs s iterations behind one of stage 0.
//   for i in range(8):  # software_pipeline_stage [0, 1]       A = alloc(2 * 16); copy(A[0], 0)
//       A = alloc(16)                                          for i in range(7):
//       copy(A, i)                                  ->             copy(A[(i + 1) % 2], i + 1)
//       use(A, i)                                                  use(A[i % 2], i)
//                                                              use(A[1], 7)
// Memory that each iteration has for itself gets as many versions as iterations use it at a time.  Statements run in the
// order of software_pipeline_order.  A loop of an open or small extent has conditions around its beginning and end.  A
// pipelined loop in another one is three statements of it: its beginning, the loop and its end.
// Copies to shared memory of a stage in software_pipeline_async_stages are asynchronous where the target has that, as few
// of them awaited as possible.  The wait for a copy stands before the first of its users, or before the next copy if that
// comes first: the barrier after it then also keeps that copy from what is still read.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/async_copy.h"
#include "tilewright/lower/common/pipelined_loop.h"
#include "tilewright/lower/common/ramps.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

struct Options {
  bool async_copies = false;
  static constexpr auto fields() {
    return std::tuple{ir::field<&Options::async_copies>("async_copies",
                                                        "the target copies to shared memory asynchronously")};
  }
};

bool is_pipelined(const ForNode* loop) {
  return loop->annotations.get(kPipelineStage) || loop->annotations.get(kPipelineOrder) ||
         loop->annotations.get(kPipelineAsync);
}

// ---- versions of memory

/// Memory that several iterations use at a time.
struct Versions {
  Buffer buffer, all;  // one version, and all of them one after the other
  PrimExpr size;       // elements from one to the next
  PrimExpr begin;      // of the version of an iteration, in elements
};

// Versions begin where vectors may.
PrimExpr distance_of_versions(const Buffer& buffer) {
  constexpr int64_t kVectorBytes = 16;
  const int64_t part = std::max<int64_t>(1, kVectorBytes / std::max<int64_t>(1, buffer->dtype.num_bytes()));
  const PrimExpr& size = buffer->shape[0];
  int64_t elements;
  if (buffer->scope() == "local" || !as_const_int(size, &elements)) return size;
  return imm((elements + part - 1) / part * part, size->dtype);
}

Versions versions_of(const PipelinedLoop& pipeline, const Buffer& buffer, int64_t count) {
  const PrimExpr size = distance_of_versions(buffer);
  const Buffer all =
      with(buffer, [&](BufferNode& changed) { changed.shape = {arith::simplify(size * count)}; });
  const PrimExpr iteration = pipeline.loop->loop_var - pipeline.loop->min;
  return {buffer, all, size, floormod(iteration, count) * size};
}

Stmt with_versions(const Stmt& stmt, const Versions& versions) {
  const VarNode* data = versions.buffer->data.get();
  const auto moved = [&](const Buffer& buffer, std::vector<PrimExpr> indices) {
    const PrimExpr begin =
        buffer->dtype == versions.buffer->dtype
            ? versions.begin
            : floordiv(versions.begin * versions.buffer->dtype.num_bytes(), buffer->dtype.num_bytes());
    const auto* ramp = indices[0].as<RampNode>();
    return std::vector<PrimExpr>{ramp ? PrimExpr(with_base(ramp, ramp->base + begin)) : indices[0] + begin};
  };
  const auto own = [&](const Buffer& buffer) { return buffer == versions.buffer ? versions.all : buffer; };
  return rewrite(
      stmt,
      [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
        const BufferLoad load = self.children(node);
        if (node->buffer->data.get() != data) return load;
        return BufferLoadNode::make(own(node->buffer), moved(node->buffer, load->indices), load->predicate);
      },
      [&](auto& self, const BufferStoreNode* node) -> Stmt {
        const BufferStore store = self.children(node);
        if (node->buffer->data.get() != data) return store;
        return BufferStoreNode::make(own(node->buffer), store->value, moved(node->buffer, store->indices),
                                     store->predicate);
      },
      [&](auto& self, const CallNode* node) -> PrimExpr {
        Call call = self.children(node);
        for (size_t n = 0; n < node->args.size(); ++n) {
          if (node->args[n].get() != data) continue;
          call = with(call, [&](CallNode& changed) {
            changed.args[n] =
                tir::call(DataType::handle(), "tir.address_of", {load(versions.all, {versions.begin})});
          });
        }
        return call;
      });
}

// ---- asynchronous copies

/// Neighbouring statements of a stage that copy asynchronously: what they begin is awaited together.
struct CopyGroup {
  size_t first, last;  // their places
  int64_t stage;
  const PipelinedStatement* user;  // the first statement that needs a copy
};

const PipelinedStatement* first_user(const PipelinedLoop& pipeline, const PipelinedStatement& copy) {
  const PipelinedStatement* first = nullptr;
  for (const Touch& touch : copy.touches) {
    if (!touch.is_written) continue;
    for (const PipelinedStatement& user : pipeline.statements) {
      if (&user == &copy || !user.find(touch.data.get())) continue;
      if (!first || std::tie(user.stage, user.place) < std::tie(first->stage, first->place)) first = &user;
    }
  }
  return first;
}

// True if nothing else writes what is copied, or to where; somebody uses it; and it is another one in each iteration.
bool can_be_async(const PipelinedLoop& pipeline, const PipelinedStatement& copy) {
  for (const Touch& touch : copy.touches) {
    const bool is_own = std::ranges::any_of(
        pipeline.memory, [&](const AllocBuffer& alloc) { return alloc->buffer->data == touch.data; });
    bool is_used = false;
    for (const PipelinedStatement& other : pipeline.statements) {
      const Touch* also = &other == &copy ? nullptr : other.find(touch.data.get());
      if (also && also->is_written) return false;
      is_used |= also != nullptr;
    }
    if (touch.is_written && !(is_own && is_used)) return false;
  }
  return true;
}

std::vector<CopyGroup> make_copies_async(PipelinedLoop& pipeline) {
  for (PipelinedStatement& statement : pipeline.statements) {
    if (!statement.is_async) continue;
    const Stmt copy = can_be_async(pipeline, statement) ? as_async_copy(statement.stmt) : Stmt();
    statement.is_async = copy != nullptr;
    if (copy) statement.stmt = copy;
  }
  std::vector<CopyGroup> groups;
  const PipelinedStatement* before = nullptr;
  for (const PipelinedStatement* statement : pipeline.in_order()) {
    const bool continues =
        before && before->is_async && statement->is_async && before->stage == statement->stage;
    before = statement;
    if (!statement->is_async) continue;
    const PipelinedStatement* user = first_user(pipeline, *statement);
    if (!continues) groups.push_back({statement->place, statement->place, statement->stage, user});
    CopyGroup& group = groups.back();
    group.last = statement->place;
    if (std::tie(user->stage, user->place) < std::tie(group.user->stage, group.user->place))
      group.user = user;
  }
  return groups;
}

// ---- the new statements

/// A round of the new loop: each statement s does iteration `first` - s.stage of the old one.
struct Round {
  PrimExpr first;
  int64_t from_begin = -1;  // the same as a number from the loop's beginning, or -1
  int64_t from_end = -1;    // from its extent on, or -1

  /// True if statements of `stage` have begun, and have not ended yet.
  bool runs(int64_t stage) const { return from_begin >= 0 ? stage <= from_begin : stage > from_end; }
};

class Pipeline {
 public:
  Pipeline(PipelinedLoop loop, bool has_async_copies) : pipeline_(std::move(loop)) {
    if (has_async_copies) groups_ = make_copies_async(pipeline_);
    for (const AllocBuffer& alloc : pipeline_.memory) {
      const int64_t count = num_versions(pipeline_, alloc->buffer);
      if (count == 1) continue;
      versions_.push_back(versions_of(pipeline_, alloc->buffer, count));
      for (PipelinedStatement& statement : pipeline_.statements)
        statement.stmt = with_versions(statement.stmt, versions_.back());
    }
    order_ = pipeline_.in_order();
  }

  Stmt stmt() const {
    Stmt all = seq({part(beginning()), part(body()), part(end())});
    for (size_t n = pipeline_.memory.size(); n-- > 0;) {
      const AllocBuffer& alloc = pipeline_.memory[n];
      const auto more = std::ranges::find(versions_, alloc->buffer, &Versions::buffer);
      const Buffer& buffer = more == versions_.end() ? alloc->buffer : more->all;
      all = AllocBufferNode::make(buffer, alloc->annotations, all, alloc->span);
    }
    return all;
  }

 private:
  const For& loop() const { return pipeline_.loop; }
  int64_t num_behind() const { return pipeline_.last_stage; }
  // `value` as a number of iterations.
  PrimExpr number(int64_t value) const { return imm(value, loop()->loop_var->dtype); }

  static Stmt part(const Stmt& stmt) {
    return AttrStmtNode::make(ObjectRef(), std::string(kPipelineStatement), imm(1), stmt);
  }

  Stmt beginning() const {
    std::vector<Stmt> all;
    for (int64_t n = 0; n < num_behind(); ++n) {
      for (const Stmt& stmt : round({.first = loop()->min + number(n), .from_begin = n})) all.push_back(stmt);
    }
    return seq(std::move(all));
  }

  Stmt body() const {
    const PrimExpr extent = arith::simplify(loop()->extent - number(num_behind()));
    int64_t count;
    if (as_const_int(extent, &count) && count <= 0) return seq({});
    const Var var = make_var(loop()->loop_var->name_hint, loop()->loop_var->dtype, loop()->loop_var->span);
    return with(loop(), [&](ForNode& changed) {
      changed.loop_var = var;
      changed.extent = extent;
      for (std::string_view key : {kPipelineStage, kPipelineOrder, kPipelineAsync})
        changed.annotations.erase(key);
      arith::Analyzer analyzer;
      analyzer.bind(var, make_range(changed.min, extent));
      changed.body = arith::simplify(seq(round({.first = var + number(num_behind())})), analyzer);
    });
  }

  Stmt end() const {
    std::vector<Stmt> all;
    for (int64_t n = 0; n < num_behind(); ++n) {
      const Stmt last = seq(round({.first = loop()->min + loop()->extent + number(n), .from_end = n}));
      // what ran at the beginning does not run again
      all.push_back(under(loop()->extent > number(num_behind() - n - 1), last));
    }
    return seq(std::move(all));
  }

  // What runs in one round, in order.
  std::vector<Stmt> round(const Round& round) const {
    std::vector<Stmt> all;
    std::vector<std::pair<int64_t, size_t>> waits;  // so far: open groups, and the place
    for (const PipelinedStatement* statement : order_) {
      wait(round, statement->place, waits, all);
      if (round.runs(statement->stage)) add_guarded(round, *statement, all);
      for (const CopyGroup& group : groups_) {
        const bool has_ended = round.from_end >= 0 && !round.runs(group.stage);
        if (group.last == statement->place && !has_ended) all.push_back(called("tir.ptx_commit_group", {}));
      }
    }
    return all;
  }

  // At the beginning, a loop of fewer iterations does not reach all of them.
  void add_guarded(const Round& round, const PipelinedStatement& statement, std::vector<Stmt>& all) const {
    const PrimExpr iteration = round.first - number(statement.stage);
    const Stmt copy = arith::simplify(fresh_copy(statement.stmt, {{loop()->loop_var.get(), iteration}}));
    all.push_back(round.from_begin < 0
                      ? copy
                      : under(loop()->extent > number(round.from_begin - statement.stage), copy));
  }

  static Stmt under(const PrimExpr& condition, const Stmt& stmt) {
    int64_t holds;
    if (is_no_op(stmt)) return stmt;
    if (!as_const_int(arith::simplify(condition), &holds)) return IfThenElseNode::make(condition, stmt);
    return holds ? stmt : seq({});
  }

  static Stmt called(std::string_view op, std::vector<PrimExpr> args) {
    return EvaluateNode::make(call(kInt32, op, std::move(args)));
  }

  // ---- waits

  // The wait before the statement at `place`, if one is needed there.
  void wait(const Round& round, size_t place, std::vector<std::pair<int64_t, size_t>>& waits,
            std::vector<Stmt>& all) const {
    int64_t most = -1;  // groups that may stay open
    for (const CopyGroup& group : groups_) {
      const bool is_here = place_of_wait(group) == place && round.runs(group.user->stage);
      if (!is_here) continue;
      const auto ends_it = [&](const auto& earlier) {
        return earlier.first <= num_later(round, group, earlier.second);
      };
      const int64_t open = num_later(round, group, place);
      if (std::ranges::none_of(waits, ends_it)) most = most < 0 ? open : std::min(most, open);
    }
    if (most < 0) return;
    waits.emplace_back(most, place);
    all.push_back(called("tir.ptx_wait_group", {imm(most)}));
  }

  static size_t place_of_wait(const CopyGroup& group) {
    return group.user->stage > group.stage ? std::min(group.first, group.user->place) : group.user->place;
  }

  // How many groups are closed after the one that the user of `group` needs in this round, before `place`.
  int64_t num_later(const Round& round, const CopyGroup& group, size_t place) const {
    const int64_t behind = group.user->stage - group.stage;
    int64_t count = 0;
    for (const CopyGroup& other : groups_) {
      for (int64_t ago = behind; ago >= 0; --ago) {
        const bool is_after = ago < behind || other.last > group.last;
        const bool is_before = ago > 0 || other.last < place;
        // in this many rounds after the loop's extent, groups whose stage has ended are not closed
        const bool is_closed = round.from_end < ago || other.stage > round.from_end - ago;
        count += is_after && is_before && is_closed;
      }
    }
    return count;
  }

  PipelinedLoop pipeline_;
  std::vector<CopyGroup> groups_;
  std::vector<Versions> versions_;
  std::vector<const PipelinedStatement*> order_;
};

// Axes of threads with their ranges.
arith::IterRanges threads_of(const PrimFunc& func) {
  arith::IterRanges threads;
  walk(func->body, [&](const ForNode* loop) {
    if (kernel_axis(loop) && is_thread_axis(loop->thread_tag))
      threads.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
  });
  return threads;
}

bool has_pipelines(const PrimFunc& func) {
  bool found = false;
  walk(
      func->body, [&](const ForNode* loop) { found |= is_pipelined(loop); },
      [&](const AttrStmtNode* attr) { found |= attr->attr_key == kPipelineStatement; });
  return found;
}

Stmt without_marks(const Stmt& body) {
  return rewrite(
      body,
      [](auto& self, const SeqStmtNode* node) -> Stmt {
        std::vector<Stmt> items = self(node->seq);
        if (items == node->seq) return Stmt(node);
        std::erase_if(items, is_no_op);
        return seq(std::move(items));
      },
      [](auto& self, const AttrStmtNode* attr) -> Stmt {
        return attr->attr_key == kPipelineStatement ? self(attr->body) : Stmt(self.children(attr));
      });
}

PrimFunc software_pipeline(const PrimFunc& func, const ir::AttrMap& attrs) {
  const auto options = ir::from_attrs<Options>(attrs, "software_pipeline");
  if (!has_pipelines(func)) return func;
  const arith::IterRanges threads = threads_of(func);
  const Stmt body = rewrite(func->body, [&](auto& self, const ForNode* node) -> Stmt {
    const For loop = self.children(node);
    if (!is_pipelined(node)) return loop;
    PipelinedLoop pipeline = read_pipeline(loop);
    check_dependences(pipeline, threads);
    return Pipeline(std::move(pipeline), options.async_copies).stmt();
  });
  return with(func, [&](PrimFuncNode& changed) { changed.body = without_marks(body); });
}

}  // namespace

extern constinit const StepInfo software_pipeline_info = {
    .name = "software_pipeline",
    .doc =
        "statements of loops annotated `software_pipeline_stage` overlap, with versions of what iterations "
        "have for themselves",
    .without = kManyDimensions | kPartsOfBytes,
    .run = software_pipeline,
    .schema = &ir::option_schema<Options>,
};

}  // namespace tilewright::lower
