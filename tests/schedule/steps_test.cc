// Steps with types are those of the primitives' field tables.
#include "tilewright/schedule/steps.h"

#include "schedule_testing.h"
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {
namespace {

template <class Returned, class... Args>
std::string signature_of(const steps::Step<Returned, Args...>& step) {
  using primitive_detail::TypeName;
  std::string text(step.name);
  size_t place = 0;
  ((text += fmt::format(" {}: {}", step.args[place++], TypeName<Args>::kText)), ...);
  return fmt::format("{} -> {}", text, TypeName<Returned>::kText);
}

// The first `num_args` arguments of a primitive.
std::string signature_of(const PrimitiveInfo& primitive, size_t num_args) {
  std::string text(primitive.name);
  const std::vector<ArgInfo> args = primitive.args();
  for (size_t n = 0; n < std::min(num_args, args.size()); ++n)
    text += fmt::format(" {}: {}", args[n].name, args[n].type);
  return fmt::format("{} -> {}", text, primitive.returns);
}

TEST(Steps, HaveTheArgumentsOfTheirPrimitives) {
  const auto check = [](const auto& step) {
    const PrimitiveInfo& primitive = find_primitive(step.name);
    EXPECT_EQ(signature_of(step), signature_of(primitive, step.args.size()));
    const std::vector<ArgInfo> args = primitive.args();
    for (size_t n = step.args.size(); n < args.size(); ++n)
      EXPECT_FALSE(args[n].is_required) << step.name << " lacks argument " << args[n].name;
  };
  std::apply([&](const auto&... step) { (check(step), ...); }, steps::kAll);
}

TEST(Steps, AreRecordedLikeOthers) {
  constexpr std::string_view kText = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
  )";
  Schedule typed(module_of(kText)), named(module_of(kText));
  const std::vector<LoopRef> loops = steps::split(
      typed, steps::get_loops(typed, steps::get_block(typed, "B", std::nullopt))[1], {None{}, int64_t{4}});
  steps::annotate(typed, loops[0], "note", IntImmNode::make(kInt64, int64_t{1}));
  steps::vectorize(typed, loops[1]);
  const std::vector<LoopRef> same =
      named
          .call("split", named.call("get_loops", named.call("get_block", "B").block()).loops()[1],
                Factors{None{}, int64_t{4}})
          .loops();
  named.call("annotate", same[0], "note", IntImmNode::make(kInt64, int64_t{1}));
  named.call("vectorize", same[1]);
  EXPECT_EQ(typed.trace().str(), named.trace().str());
}

TEST(Steps, RaiseWhatTheirPrimitivesRaise) {
  Schedule sch(module_of(R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("A"):
                vi = T.axis.spatial(7, i)
                A[vi] = T.float32(1)
  )"));
  EXPECT_THROW(steps::get_block(sch, "B", "main"), UserError);
  EXPECT_TRUE(sch.trace().steps.empty());
}

}  // namespace
}  // namespace tilewright::schedule
