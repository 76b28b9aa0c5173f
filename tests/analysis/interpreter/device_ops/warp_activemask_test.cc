// The mask of the lanes that run together.
#include "kernel_testing.h"

namespace tilewright::analysis {

TEST(WarpActivemask, NamesTheLanesThatCome) {
  const Tensor A = floats(std::vector<float>(40));
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((40,), "float32")):
        tx = T.launch_thread("threadIdx.x", 40)
        if tx % 32 < 5:
            A[tx] = T.Cast("float32", T.tvm_warp_activemask())
        elif tx < 7:
            A[tx] = T.Cast("float32", T.tvm_warp_activemask())
        elif tx > 31:
            A[tx] = T.Cast("float32", T.tvm_warp_activemask())
  )",
             {A});
  std::vector<float> expected{31, 31, 31, 31, 31, 96, 96};
  expected.resize(32);
  expected.insert(expected.end(), {31, 31, 31, 31, 31, 224, 224, 224});
  EXPECT_EQ(content(A), expected);
}

}  // namespace tilewright::analysis
