// sample_partitioned_tile: factors whose inner ones are multiples of a number.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kLong = R"(
    @T.prim_func
    def main(A: T.Buffer((48,), "float32")):
        for i in range(48):
            with T.block("A"):
                vi = T.axis.spatial(48, i)
                A[vi] = T.float32(1)
)";

TEST(SamplePartitionedTile, InnerFactorsHaveTheDivisor) {
  check_schedule(kLong, [](Schedule& sch) {
    const LoopRef loop = sch.call("get_loops", "A").loops()[0];
    for (int n = 0; n < 20; ++n) {
      const std::vector<ExprRef> factors = sch.call("sample_partitioned_tile", loop, 4, 2, 6).exprs();
      EXPECT_EQ(sch.get(factors[2]) * sch.get(factors[3]) % 6, 0);
    }
    const std::vector<ExprRef> factors =
        sch.call("sample_partitioned_tile", loop, 2, 1, 6, ArgValue{4, 12}).exprs();
    sch.call("split", loop, Factors{factors[0], factors[1]});
  });
}

TEST(SamplePartitionedTile, WhatCannotBeIsRefused) {
  const auto draw = [](std::initializer_list<ArgValue> values) {
    const ArgValue::List args(values);
    return [args](Schedule& sch) {
      sch.call("sample_partitioned_tile", sch.call("get_loops", "A").loops()[0], args[0], args[1], args[2],
               args[3]);
    };
  };
  const std::string place =
      "\n  f.py:3:5\n   2 | def main(A: T.Buffer((48,), \"float32\")):\n   3 |     for i in range(48):\n     "
      "|     ^^^^^^^^^^^^^^^^^^^\n   4 |         with T.block(\"A\"):";
  const std::string start = "error: sample_partitioned_tile: ";
  check_refused(kLong, draw({0, 0, 1, {}}), start + "0 factors are asked for, expected 1 to 64" + place);
  check_refused(kLong, draw({2, 2, 1, {}}), start + "partition_pos 2 is none of the 2 factors" + place);
  check_refused(kLong, draw({2, 1, 5, {}}),
                start + "innerpart_factor 5 does not divide the extent 48 of loop i" + place);
  check_refused(kLong, draw({2, 1, 6, ArgValue{12, 4}}),
                start + "the inner factors of the decision multiply to 4, which 6 does not divide" + place);
}

}  // namespace
}  // namespace tilewright::schedule
