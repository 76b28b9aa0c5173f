// Features of programs: as many as names, finite for any program.
#include "tilewright/tune/features.h"

#include <cmath>
#include <set>

#include "nest_testing.h"

namespace tilewright::tune {
namespace {

std::map<std::string, float> features(const std::string& text) {
  const std::vector<std::string> names = program_feature_names();
  const Described found = describe(module_of(text), round_machine());
  EXPECT_EQ(found.all.size(), names.size());
  for (const std::vector<float>& store : found.stores) EXPECT_EQ(store.size(), store_feature_names().size());
  std::map<std::string, float> result;
  for (size_t n = 0; n < names.size(); ++n) {
    EXPECT_TRUE(std::isfinite(found.all[n])) << names[n];
    result[names[n]] = found.all[n];
  }
  EXPECT_EQ(result.size(), names.size());  // no name stands twice
  return result;
}

TEST(Features, of_a_product) {
  const auto found = features(R"(
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    for i in T.parallel(64):
        for k in range(64):
            for j in T.vectorized(64):
                with T.block("C"):
                    vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  const auto count = [&](const std::string& name) { return std::round(std::exp2(found.at(name)) - 1); };
  EXPECT_EQ(count("float_fma"), 64 * 64 * 64);
  EXPECT_EQ(count("lanes"), 64);
  EXPECT_EQ(count("parallel"), 64);
  EXPECT_EQ(count("accumulators"), 4);
  EXPECT_EQ(count("access0.unique_bytes"), 64 * 64 * 4);
  EXPECT_EQ(count("access0.kept"), 64);
  EXPECT_EQ(found.at("vector_use"), 1);
  EXPECT_LT(found.at("intensity0"), found.at("intensity9"));
}

TEST(Features, programs_of_any_form_have_them) {
  features("\ndef main():\n    T.evaluate(0)\n");
  features(R"(
def main(a: T.handle, I: T.Buffer((7,), "int32"), B: T.Buffer((7,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (n, n), "float32")
    for i in range(n):
        if i % 3 == 1:
            for j in range(7):
                B[j] = A[I[j], i * i // 2] + T.if_then_else(i < j, A[n - 1 - i, T.min(i, j)], T.float32(0))
        else:
            B[i % 7] = T.exp(B[i % 7])
)");
}

}  // namespace
}  // namespace tilewright::tune
