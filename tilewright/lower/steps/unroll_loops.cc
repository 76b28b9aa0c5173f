// for i in T.unroll(n): body(i)  ->  body(0); ...; body(n - 1)
// A loop whose extent is not constant, or that would make too many or too large copies, is left to the code
// generator.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/common/num_nodes.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"

namespace tilewright::lower {
namespace {

constexpr int64_t kMaxCopies = 1024;
// limit for all copies together: loops of 1000 iterations may be nested
constexpr int64_t kMaxNodes = 100'000;

bool is_too_large(const ForNode* loop) {
  const auto* extent = loop->extent.as<IntImmNode>();
  return !extent || extent->value > kMaxCopies ||
         (extent->value > 1 && num_nodes(loop->body) > kMaxNodes / extent->value);
}

PrimFunc unroll_loops(const PrimFunc& func) {
  return rewrite(func, join_sequences, [](auto& self, const ForNode* node) -> Stmt {
    For loop = self.children(node);
    if (loop->for_kind != ForKind::kUnrolled) return loop;
    if (is_too_large(loop.get()))
      return with(loop, [](ForNode& changed) {
        changed.for_kind = ForKind::kSerial;
        changed.annotations.set("pragma_unroll", bool_imm(true));
      });
    std::vector<Stmt> copies;
    const int64_t extent = loop->extent.template as<IntImmNode>()->value;
    for (int64_t n = 0; n < extent; ++n)
      copies.push_back(fresh_copy(loop->body, {{loop->loop_var.get(), loop->min + n}}));
    return seq(std::move(copies));
  });
}

}  // namespace

extern constinit const StepInfo unroll_loops_info = {
    .name = "unroll_loops",
    .doc = "unrolled loops are copies",
    .ends = kUnrolledLoops,
    .run = without_options<unroll_loops>,
};

}  // namespace tilewright::lower
