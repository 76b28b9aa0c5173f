// Masks of stores to registers go where the other lanes hold nothing.
#include "lower_testing.h"
#include "tilewright/script/print.h"

namespace tilewright::lower {
namespace {

/// A mask of four lanes stays where `statement` comes before it.
void check_keeps_mask_after(const char* statement) {
  check_unchanged("whole_registers", std::string(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
        C = T.decl_buffer((8,), scope="local")
        )") + statement + R"(
        C[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(4, 8), C[0:8] + A[0:8], C[0:8])
        B[0:8] = C[0:8]
  )");
}

// Only the text is compared: the interpreter refuses to read what nothing wrote, as the lanes left out are.
TEST(WholeRegisters, LanesThatHoldNothingNeedNoMask) {
  EXPECT_EQ(script::print(run_step("whole_registers", func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        C = T.decl_buffer((16,), scope="local")
        C[0:8] = T.Broadcast(T.float32(2), 8)
        C[8:16] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(5, 8), T.Broadcast(T.float32(1), 8), C[8:16])
        for k in range(3):
            C[0:8] = C[0:8] + A[0:8]
            C[8:16] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(5, 8), C[8:16] + A[0:8], C[8:16])
        B[0:8] = C[0:8]
  )"))),
            R"(# from tilewright.script import tir as T

@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    C = T.decl_buffer((16,), scope="local")
    C[0:8] = T.Broadcast(T.float32(2), 8)
    C[8:16] = T.Broadcast(T.float32(1), 8)
    for k in range(3):
        C[0:8] = C[0:8] + A[0:8]
        C[8:16] = C[8:16] + A[0:8]
    B[0:8] = C[0:8]
)");
}

// Values that other statements put into a lane stay there.
TEST(WholeRegisters, LanesThatHoldSomethingKeepTheirMask) {
  for (const char* store : {
           "C[0:8] = T.Broadcast(T.float32(1), 8)",                                   // all lanes
           "C[7] = T.float32(1)",                                                     // one of them
           "C[4:8] = T.Broadcast(T.float32(1), 4)",                                   // another vector
           "C[n] = T.float32(1)",                                                     // anywhere
           "C[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(7, 8), A[0:8], C[0:8])",  // more lanes
           "C[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(4, 8), A[0:8], A[0:8])",  // others, too
       }) {
    SCOPED_TRACE(store);
    check_keeps_mask_after(store);
  }
}

// Whoever has the address may write to all of it.
TEST(WholeRegisters, MemoryThatOthersKnowKeepsItsMasks) {
  for (const char* call :
       {"T.evaluate(T.call_extern(\"int32\", \"fill\", T.address_of(C[0])))",
        "T.evaluate(T.call_extern(\"int32\", \"fill\", C.data))",
        "T.evaluate(T.call_extern(\"int32\", \"memset\", T.reinterpret(\"handle\", C.data), 1, T.int64(32)))",
        "T.evaluate(T.call_extern(\"int32\", \"fill\", T.if_then_else(A[0] < T.float32(0), C.data, C.data)))",
        "T.evaluate(T.call_extern(\"int32\", \"fill\", T.Select(A[0] < T.float32(0), C.data, A.data)))"}) {
    SCOPED_TRACE(call);
    check_keeps_mask_after(call);
  }
}

// The lanes of one iteration are those that another iteration leaves out.
TEST(WholeRegisters, MasksThatChangeStay) {
  check_unchanged("whole_registers", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        C = T.decl_buffer((8,), scope="local")
        for k in range(9):
            C[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(8 - k, 8), A[0:8], C[0:8])
        B[0:8] = C[0:8]
  )");
}

TEST(WholeRegisters, MemoryIsLeftAlone) {
  check_unchanged("whole_registers", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        M = T.decl_buffer((8,))
        M[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(4, 8), A[0:8], M[0:8])
        B[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(4, 8), M[0:8], B[0:8])
  )");
}

}  // namespace
}  // namespace tilewright::lower
