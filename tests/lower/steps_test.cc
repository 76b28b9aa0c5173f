// Every step of the lowering leaves a well-formed program that computes the same, on randomly scheduled
// programs.
#include <cstdlib>
#include <iostream>

#include "lower_testing.h"
#include "random_schedule.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/pipeline.h"
#include "tilewright/lower/verify_step.h"
#include "tilewright/script/print.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {
using schedule::expect_same_numbers;
using schedule::RandomSchedule;
using schedule::show;

// Loops were cut on purpose, and what T.reads and T.writes say counts no more when lowering begins.
constexpr analysis::VerifyOptions kVerifyOptions{.axes_match_loops = false, .regions_cover_accesses = false};

ir::IRModule module_with(const tir::PrimFunc& func) {
  return with_function(ir::IRModuleNode::make(), "main", func);
}

void check_steps(const ir::IRModule& module, const Pipeline& pipeline, uint64_t seed) {
  const tir::PrimFunc scheduled = ir::ref_as<tir::PrimFuncNode>(module->functions[0]);
  tir::PrimFunc last = scheduled;
  if (seed % 3 == 0) {
    last = with(last, [](tir::PrimFuncNode& checked) {
      checked.attrs.set(std::string(kCheckBounds), tir::string_imm("main"));
    });
  }
  analysis::InterpretOptions options;
  options.check_regions = false;
  Constructs allowed = kAnything;
  for (const Step* step : pipeline.steps()) {
    tir::PrimFunc func;
    try {
      func = (*step)(last);
      allowed = step->left_of(allowed);
      verify_step(*step, func, allowed);
      const tir::PrimFunc complete = with_views_declared(func);
      analysis::verify(complete, kVerifyOptions);
      expect_same_numbers(module_with(scheduled), module_with(complete), seed, options);
    } catch (const Error& error) {
      ADD_FAILURE() << error.render();
    }
    if (::testing::Test::HasFailure()) {
      std::cout << step->name() << " of\n" << script::print(last);
      if (func) std::cout << "gives\n" << script::print(func);
      return;
    }
    last = func;
  }
}

// TILEWRIGHT_FUZZ_RUNS sets the number of schedules per program, TILEWRIGHT_FUZZ_SEED the first seed.
TEST(Steps, EachKeepsTheNumbersOfScheduledPrograms) {
  const char* runs = std::getenv("TILEWRIGHT_FUZZ_RUNS");
  const char* first = std::getenv("TILEWRIGHT_FUZZ_SEED");
  const uint64_t num_runs = runs ? std::strtoull(runs, nullptr, 10) : 3;
  const uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1;
  for (const schedule::FuzzProgram& program : schedule::kFuzzPrograms) {
    for (uint64_t n = 0; n < num_runs; ++n) {
      SCOPED_TRACE(fmt::format("{}, seed {}", program.name, seed + n));
      RandomSchedule random(program.text, seed + n);
      for (uint64_t count = 0; count < n % 30; ++count) random.step();
      check_steps(random.schedule().module(), n % 2 ? c_pipeline() : llvm_pipeline(), random.number());
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tilewright::lower
