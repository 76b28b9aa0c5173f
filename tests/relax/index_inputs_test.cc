#include "tilewright/relax/index_inputs.h"

#include <gmock/gmock.h>

#include "script_testing.h"

namespace tilewright::relax {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Of the function with these parameters and this body.
std::map<size_t, int64_t> indices(const std::string& params, const std::string& body) {
  std::string text = "@R.function\ndef main(" + params + "):\n";
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find('\n', at), body.size());
    text += "    " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return index_inputs(ir::ref_as<FunctionNode>(script::parse_text(text)));
}

constexpr const char* kTable = R"(x: R.Tensor((7, 5), "float32"), i: R.Tensor((3,), "int64"))";

TEST(IndexInputs, OfOneDimension) {
  EXPECT_THAT(indices(kTable, "y = R.take(x, i, axis=0)\nreturn y"), ElementsAre(Pair(1, 7)));
  EXPECT_THAT(indices(kTable, "y = R.take(x, i, axis=-1)\nreturn y"), ElementsAre(Pair(1, 5)));
  EXPECT_THAT(indices(R"(x: R.Tensor((7, 5), "float32"), i: R.Tensor((7, 2), "int32"))",
                      "y = R.gather_elements(x, i, axis=1)\nreturn y"),
              ElementsAre(Pair(1, 5)));
  EXPECT_THAT(indices(R"(x: R.Tensor((7, 5), "float32"), i: R.Tensor((2, 5), "int32"))",
                      "y = R.scatter_elements(x, i, R.zeros((2, 5), 'float32'), axis=0)\nreturn y"),
              ElementsAre(Pair(1, 7)));
}

TEST(IndexInputs, OfSeveralDimensions) {
  EXPECT_THAT(indices(R"(x: R.Tensor((7, 5), "float32"), i: R.Tensor((3, 2), "int64"))",
                      "y = R.gather_nd(x, i)\nreturn y"),
              ElementsAre(Pair(1, 5)));
  EXPECT_THAT(indices(R"(x: R.Tensor((7, 5), "float32"), i: R.Tensor((3, 2), "int64"))",
                      "y = R.scatter_nd(x, i, R.zeros((3,), 'float32'))\nreturn y"),
              ElementsAre(Pair(1, 5)));
  EXPECT_THAT(indices(kTable, "y = R.index_tensor(x, (i, i))\nreturn y"), ElementsAre(Pair(1, 5)));
}

TEST(IndexInputs, OfAnOpenDimensionAreZero) {
  EXPECT_THAT(indices(R"(x: R.Tensor(("n", 5), "float32"), i: R.Tensor((3,), "int64"))",
                      "y = R.take(x, i, axis=0)\nreturn y"),
              ElementsAre(Pair(1, 1)));
  EXPECT_THAT(indices(R"(x: R.Tensor(ndim=2, dtype="float32"), i: R.Tensor((3,), "int64"))",
                      "y = R.take(x, i, axis=0)\nreturn y"),
              ElementsAre(Pair(1, 1)));
}

TEST(IndexInputs, BehindCastsAndMoves) {
  EXPECT_THAT(indices(kTable,
                      "j = R.astype(i, 'int32')\nk = R.reshape(j, (1, 3))\nl = R.concat((k, k), axis=0)\n"
                      "y = R.take(x, l, axis=0)\nreturn y"),
              ElementsAre(Pair(1, 7)));
  EXPECT_THAT(indices(kTable, "p = R.split(i, 3)\nj = p[0]\ny = R.take(x, j, axis=0)\nreturn y"),
              ElementsAre(Pair(1, 7)));
}

TEST(IndexInputs, BehindArithmeticAreZero) {
  EXPECT_THAT(indices(kTable, "j = R.add(i, R.const(2, 'int64'))\ny = R.take(x, j, axis=0)\nreturn y"),
              ElementsAre(Pair(1, 1)));
}

TEST(IndexInputs, TheLeastBoundOfAllUses) {
  EXPECT_THAT(indices(kTable,
                      "y = R.take(x, i, axis=0)\nz = R.take(x, i, axis=1)\nw = R.sum(z)\n"
                      "v = R.add(R.sum(y), w)\nreturn v"),
              ElementsAre(Pair(1, 5)));
}

TEST(IndexInputs, InBranches) {
  EXPECT_THAT(
      indices(std::string(kTable) + R"(, c: R.Tensor((), "bool"))",
              "if c:\n    r = R.take(x, i, axis=0)\nelse:\n    r = R.zeros((3, 5), 'float32')\nreturn r"),
      ElementsAre(Pair(1, 7)));
  EXPECT_THAT(
      indices(R"(x: R.Tensor((7,), "float32"), i: R.Tensor((3,), "int64"), c: R.Tensor((), "bool"))",
              "if c:\n    j = R.flip(i, axis=0)\nelse:\n    j = i\ny = R.take(x, j, axis=0)\nreturn y"),
      ElementsAre(Pair(1, 7)));
}

TEST(IndexInputs, OtherIntegersAreNone) {
  EXPECT_THAT(indices(kTable, "j = R.add(i, i)\nreturn j"), IsEmpty());
  EXPECT_THAT(indices(R"(x: R.Tensor((7,), "int64"))", "y = R.take(x, R.const([0, 6]), axis=0)\nreturn y"),
              IsEmpty());
}

}  // namespace
}  // namespace tilewright::relax
