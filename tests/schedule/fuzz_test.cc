// Random schedules: each step is refused with a reason or keeps the numbers, and the trace replays.
#include <cstdlib>
#include <iostream>

#include "random_schedule.h"
#include "tilewright/ir/services.h"

namespace tilewright::schedule {
namespace {

void check_sequence(std::string_view program, uint64_t seed, int num_steps) {
  RandomSchedule random(program, seed);
  for (int n = 0; n < num_steps; ++n) {
    const Schedule last = random.schedule();
    if (!random.step()) {
      if (::testing::Test::HasFailure()) return;
      continue;
    }
    try {
      expect_same_numbers(random.before(), random.schedule().module(), random.number());
    } catch (const Error& error) {
      ADD_FAILURE() << error.render();
    }
    if (::testing::Test::HasFailure()) {
      std::cout << "steps:\n"
                << random.schedule().trace().simplified().str() << "before the last\n"
                << show(last.module()) << "after\n"
                << show(random.schedule().module());
      return;
    }
  }
  Schedule again(random.before());
  random.schedule().trace().apply_to(again);
  EXPECT_TRUE(structural_equal(again.module(), random.schedule().module()))
      << "replayed\n"
      << random.schedule().trace().simplified().str() << show(again.module()) << "instead of\n"
      << show(random.schedule().module());
}

class Fuzz : public ::testing::TestWithParam<FuzzProgram> {};

// TILEWRIGHT_FUZZ_RUNS sets the number of sequences per program (300: 10,000 sequences), TILEWRIGHT_FUZZ_SEED
// the first seed.
TEST_P(Fuzz, RandomSequencesKeepTheNumbers) {
  const char* runs = std::getenv("TILEWRIGHT_FUZZ_RUNS");
  const char* first = std::getenv("TILEWRIGHT_FUZZ_SEED");
  const uint64_t num_runs = runs ? std::strtoull(runs, nullptr, 10) : 2;
  const uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t n = 0; n < num_runs; ++n) {
    SCOPED_TRACE(fmt::format("seed {}", seed + n));
    check_sequence(GetParam().text, seed + n, 30);
    if (::testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Fuzz, ::testing::ValuesIn(kFuzzPrograms),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tilewright::schedule
