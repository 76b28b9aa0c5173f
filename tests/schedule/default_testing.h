// Shared by tests of the rules that schedule plain functions.
#pragma once
#include <string>
#include <vector>

#include "schedule_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

/// Runs the rules and gives the program; checks the numbers, and that the trace makes the same program.
inline IRModule scheduled(std::string_view text, const Features& features,
                          std::vector<Attempt>* attempts = nullptr) {
  const IRModule module = module_of(text);
  Schedule sch(module, {.seed = 1, .verify_steps = true});
  std::vector<Attempt> found = schedule_by_rules(sch, "main", features);
  try {
    expect_same_numbers(module, sch.module());
  } catch (const Error& error) {
    ADD_FAILURE() << error.render() << "\n" << show(sch.module());
  }
  Schedule again(module), loaded(module);
  sch.trace().apply_to(again);
  EXPECT_FALSE(first_mismatch(again.module(), sch.module()));
  Trace::load_json(sch.trace().save_json()).simplified().apply_to(loaded);
  EXPECT_FALSE(first_mismatch(loaded.module(), sch.module()));
  if (attempts) *attempts = std::move(found);
  return sch.module();
}

/// A line for each attempt of `attempts` that concerns its block: "block | rule | reason", without the reason
/// where the rule was applied.
inline std::string text_of(const std::vector<Attempt>& attempts) {
  std::string text;
  for (const Attempt& each : attempts) {
    if (each.concerns_block())
      text += fmt::format("{} | {}{}\n", each.block, each.rule,
                          each.is_applied() ? "" : " | " + each.reason->text);
  }
  return text;
}

/// A product of rows x terms by terms x columns.
inline std::string product_text(int rows, int columns, int terms) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer(({0}, {2}), "float32"), B: T.Buffer(({2}, {1}), "float32"), C: T.Buffer(({0}, {1}), "float32")):
        for i, j, k in T.grid({0}, {1}, {2}):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                     rows, columns, terms);
}

}  // namespace tilewright::schedule
