// A loop whose statements overlap (annotation software_pipeline_stage): a statement of stage s works s iterations behind one
// of stage 0.  What annotations ask for, what statements touch, whether that order keeps what they compute, and how many
// versions of its memory a loop then needs.
#pragma once
#include <string>
#include <vector>

#include "tilewright/arith/iter_map.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// What a statement does with memory.
struct Touch {
  Var data;  // the pointer
  std::string name;
  bool is_read = false, is_written = false;
};

struct PipelinedStatement {
  Stmt stmt;
  int64_t stage = 0;
  size_t place = 0;  // among those that run together
  bool is_async = false;
  std::vector<Touch> touches = {};  // in order of first use

  const Touch* find(const VarNode* data) const;
};

struct PipelinedLoop {
  For loop;
  std::vector<AllocBuffer> memory;             // that each iteration has for itself
  std::vector<PipelinedStatement> statements;  // as the program says
  int64_t last_stage = 0;

  /// The statements in the order in which they run.
  std::vector<const PipelinedStatement*> in_order() const;
};

/// The statements of `loop` and what its annotations say of them; `is_async` for all of an asynchronous stage.  Raises
/// UserError for annotations that do not fit its body.
PipelinedLoop read_pipeline(const For& loop);

/// Raises UserError, with both statements, if one would run before another whose numbers it needs.  `threads`: ranges of
/// the variables around the loop that differ between threads.
void check_dependences(const PipelinedLoop& pipeline, const arith::IterRanges& threads);

/// How many iterations have their own elements of `buffer`, one of the loop's memory, at a time.  Shared memory has one
/// version more where that saves a barrier: what is written then was read before the last one.
int64_t num_versions(const PipelinedLoop& pipeline, const Buffer& buffer);

}  // namespace tilewright::lower
