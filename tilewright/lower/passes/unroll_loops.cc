// for i in T.unroll(n): body(i)  ->  body(0); ...; body(n - 1)
// A loop whose extent is not constant, or that would make more than kMaxCopies copies, is left to the code
// generator.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/passes/fresh_copy.h"
#include "tilewright/lower/passes/join_sequences.h"
#include "tilewright/lower/passes/passes.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

constexpr int64_t kMaxCopies = 1024;

}  // namespace

PrimFunc unroll_loops(const PrimFunc& func) {
  return rewrite(func, join_sequences, [](auto& self, const ForNode* node) -> Stmt {
    For loop = self.children(node);
    if (loop->for_kind != ForKind::kUnrolled) return loop;
    const auto* extent = loop->extent.template as<IntImmNode>();
    if (!extent || extent->value > kMaxCopies)
      return with(loop, [](ForNode& changed) {
        changed.for_kind = ForKind::kSerial;
        changed.annotations.set("pragma_unroll", bool_imm(true));
      });
    std::vector<Stmt> copies;
    for (int64_t n = 0; n < extent->value; ++n)
      copies.push_back(fresh_copy(loop->body, {{loop->loop_var.get(), loop->min + n}}));
    return seq(std::move(copies));
  });
}

}  // namespace tilewright::lower
