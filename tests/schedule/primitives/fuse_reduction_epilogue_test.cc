// fuse_reduction_epilogue: a sum starts with what is added to it.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kBias = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,))
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[4 - vi] = Y[vi] + C[vi]
)";

TEST(FuseReductionEpilogue, TheSumStartsWithTheBias) {
  check_schedule(kBias, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[4 - vi] = C[vi]
                D[4 - vi] = D[4 - vi] + A[vi, vk]
  )");
}

// relu of a maximum: the bound comes first, and the numbers are the same to the bit
TEST(FuseReductionEpilogue, AMaximumStartsWithTheBound) {
  constexpr std::string_view kMaxima = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), D: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(-100)
                Y[vi] = T.max(Y[vi], A[vi, vk])
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[vi] = T.max(Y[vi], T.float32(0))
  )";
  check_schedule(kMaxima, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), D: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[vi] = T.float32(0)
                D[vi] = T.max(D[vi], A[vi, vk])
  )");
  std::string minimum(kMaxima);
  minimum.replace(minimum.find("T.max(Y[vi], T.float32(0))"), 5, "T.min");
  check_refused(minimum, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    error: fuse_reduction_epilogue: block D does not take the maximum of something and Y, but computes T.min(Y[vi], T.float32(0))
      f.py:11:14
      10 |     for i in range(5):
      11 |         with T.block("D"):
         |              ^^^^^^^^^^^^
      12 |             vi = T.axis.spatial(5, i)
    help: reverse_compute_at computes any epilogue where the sum is finished
  )");
}

TEST(FuseReductionEpilogue, AProductStartsWithAFactor) {
  std::string product(kBias);
  for (size_t at = 0; (at = product.find("Y[vi] + ", at)) != std::string::npos;) product[at + 6] = '*';
  product.replace(product.find("Y[vi] = T.float32(0)"), 20, "Y[vi] = T.float32(1)");
  check_schedule(product, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5,), "float32"), D: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 7):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[4 - vi] = C[vi]
                D[4 - vi] = D[4 - vi] * A[vi, vk]
  )");
}

TEST(FuseReductionEpilogue, OtherEpiloguesAreRefused) {
  std::string relu(kBias);
  relu.replace(relu.find("Y[vi] + C[vi]"), 13, "T.max(Y[vi], C[vi])");
  check_refused(relu, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    error: fuse_reduction_epilogue: block D does not add to Y, but computes T.max(Y[vi], C[vi])
      f.py:11:14
      10 |     for i in range(5):
      11 |         with T.block("D"):
         |              ^^^^^^^^^^^^
      12 |             vi = T.axis.spatial(5, i)
    help: reverse_compute_at computes any epilogue where the sum is finished
  )");
  check_refused(kWindow, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "B", "C"); }, R"(
    error: fuse_reduction_epilogue: block B is not a single sum, product, maximum or minimum with an init
      f.py:5:14
       4 |     for i, j in T.grid(9, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
  )");
  std::string part(kBias);
  part.replace(part.find("for i in range(5)"), 17, "for i in range(4)");
  part.replace(part.find("T.axis.spatial(5, i)"), 20, "T.axis.spatial(4, i)");
  check_refused(part, [](Schedule& sch) { sch.call("fuse_reduction_epilogue", "Y", "D"); }, R"(
    error: fuse_reduction_epilogue: block D does not write an element for each sum of block Y: not always vi < 4
      f.py:11:14
      10 |     for i in range(4):
      11 |         with T.block("D"):
         |              ^^^^^^^^^^^^
      12 |             vi = T.axis.spatial(4, i)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
