// Loops marked vectorized become vector expressions, or serial loops with the reason.
#include "lower_testing.h"

#include "tilewright/ir/walk.h"

namespace tilewright::lower {
namespace {

// The annotation of the loop that stayed, after a check that the numbers did.
std::string refusal(std::string_view program) {
  const PrimFunc before = func_of(program), after = run_step("vectorize_loops", before);
  expect_same_numbers(before, after);
  std::string reason = "there is no serial loop";
  walk(after, [&](const ForNode* loop) {
    EXPECT_EQ(loop->for_kind, ForKind::kSerial);
    if (loop->annotations.get("no_vector_form")) reason = loop->annotations.get_string("no_vector_form", "");
  });
  return reason;
}

TEST(VectorizeLoops, AccessesBecomeRamps) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((20,), "float32"), x: T.Buffer((1,), "float32"), B: T.Buffer((20,), "float32")):
        for i in range(5):
            for j in T.vectorized(4):
                B[i * 4 + j] = A[i * 4 + j] + x[0]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((20,), "float32"), x: T.Buffer((1,), "float32"), B: T.Buffer((20,), "float32")):
        for i in range(5):
            B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] + T.Broadcast(x[0], 4)
  )");
}

TEST(VectorizeLoops, StridesAndReversals) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((20,), "float32"), B: T.Buffer((4,), "float32")):
        for j in T.vectorized(4):
            B[3 - j] = A[j * 5 + 1]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((20,), "float32"), B: T.Buffer((4,), "float32")):
        B[T.Broadcast(3, 4) - T.Ramp(0, 1, 4)] = A[T.Ramp(1, 5, 4)]
  )");
}

TEST(VectorizeLoops, OneLaneIsNoVector) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        for j in T.vectorized(3, 4):
            B[j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        B[3] = T.float32(1)
  )");
}

TEST(VectorizeLoops, TailsAreMasked) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(2):
            for j in T.vectorized(8):
                if i * 8 + j < n:
                    B[i * 8 + j] = A[i * 8 + j]
  )",
             R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(2):
            if i * 8 < n:
                B.vstore([T.Ramp(i * 8, 1, 8)], A.vload([T.Ramp(i * 8, 1, 8)], "float32x8", predicate=T.Ramp(i * 8, 1, 8) < T.Broadcast(n, 8)), predicate=T.Ramp(i * 8, 1, 8) < T.Broadcast(n, 8))
  )");
}

TEST(VectorizeLoops, RegistersHoldWholeVectors) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        Y = T.alloc_buffer((8,), "float32", scope="local")
        for j in T.vectorized(8):
            Y[j] = T.float32(0)
        for j in T.vectorized(8):
            if j < n:
                Y[j] = A[j]
        for j in T.vectorized(8):
            if j < n:
                B[j] = Y[j]
  )",
             R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        Y = T.alloc_buffer((8,), "float32", scope="local")
        Y[T.Ramp(0, 1, 8)] = T.Broadcast(T.float32(0), 8)
        if 0 < n:
            Y[T.Ramp(0, 1, 8)] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(n, 8), A.vload([T.Ramp(0, 1, 8)], "float32x8", predicate=T.Ramp(0, 1, 8) < T.Broadcast(n, 8)), Y[T.Ramp(0, 1, 8)])
        if 0 < n:
            B.vstore([T.Ramp(0, 1, 8)], Y[T.Ramp(0, 1, 8)], predicate=T.Ramp(0, 1, 8) < T.Broadcast(n, 8))
  )");
}

TEST(VectorizeLoops, RegistersThatAreTooShortAreMasked) {
  check_numbers("vectorize_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        Y = T.alloc_buffer((5,), "float32", scope="local")
        for j in T.vectorized(8):
            if j < 5:
                Y[j] = A[j]
        for j in T.vectorized(8):
            if j < 5:
                B[j] = Y[j]
  )");
}

TEST(VectorizeLoops, PaddingLoadsOnlyWhatIsThere) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            B[j] = T.if_then_else(1 <= j and j < 6, A[j - 1], T.float32(0))
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((8,), "float32")):
        B[T.Ramp(0, 1, 8)] = T.Select(T.Broadcast(1, 8) <= T.Ramp(0, 1, 8) and T.Ramp(0, 1, 8) < T.Broadcast(6, 8), A.vload([T.Ramp(-1, 1, 8)], "float32x8", predicate=T.Broadcast(1, 8) <= T.Ramp(0, 1, 8) and T.Ramp(0, 1, 8) < T.Broadcast(6, 8)), T.Broadcast(T.float32(0), 8))
  )");
}

TEST(VectorizeLoops, ChoiceThatLanesShareStaysAChoice) {
  check_pass("vectorize_loops", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            B[j] = T.if_then_else(n < 2, A[j + 100], T.float32(7))
  )",
             R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        B[T.Ramp(0, 1, 8)] = T.if_then_else(n < 2, A[T.Ramp(100, 1, 8)], T.Broadcast(T.float32(7), 8))
  )");
}

TEST(VectorizeLoops, GuardedQuotientsByNumbersAndPureCallsAreHarmless) {
  check_numbers("vectorize_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((16,), "float32")):
        for j in T.vectorized(16):
            B[j] = T.if_then_else(j < 10, T.exp(A[j // 2]), T.float32(0))
  )");
}

TEST(VectorizeLoops, InnerSerialLoopsAndLets) {
  check_numbers("vectorize_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((24,), "float32"), B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            if j < 7:
                x: T.int32 = j * 3
                B[j] = T.float32(0)
                for k in range(3):
                    B[j] = B[j] + A[x + k]
  )");
}

TEST(VectorizeLoops, SeveralGuards) {
  check_numbers("vectorize_loops", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((64,), "float32"), B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            if j < 7 and n < 100:
                if j * 2 < 9:
                    B[j] = A[j * j] + T.Select(j < 2, T.float32(1), T.float32(2))
  )");
}

TEST(VectorizeLoops, SerialLoopsAreLeftAlone) {
  check_unchanged("vectorize_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for j in range(8):
            B[j] = T.float32(1)
  )");
}

TEST(VectorizeLoops, UnknownExtent) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func(check_well_formed=False)
    def main(n: T.int32, B: T.Buffer((8,), "float32")):
        for j in T.vectorized(n):
            B[j] = T.float32(1)
  )"),
            "the extent is not constant");
}

TEST(VectorizeLoops, TooManyLanes) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(B: T.Buffer((257,), "float32")):
        for j in T.vectorized(257):
            B[j] = T.float32(1)
  )"),
            "more lanes than 256");
}

TEST(VectorizeLoops, ConditionThatIsNoBound) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            if j % 2 == 0:
                B[j] = T.float32(1)
  )"),
            "a condition differs between lanes");
}

TEST(VectorizeLoops, BoundBelow) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            if 3 < j:
                B[j] = T.float32(1)
  )"),
            "a condition differs between lanes");
}

TEST(VectorizeLoops, ConditionWithElse) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            if j < 5:
                B[j] = T.float32(1)
            else:
                B[j] = T.float32(2)
  )"),
            "a condition with an else differs between lanes");
}

TEST(VectorizeLoops, SumOfAllLanes) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
        for j in T.vectorized(8):
            B[0] = B[0] + A[j]
  )"),
            "all lanes store to the same element");
}

TEST(VectorizeLoops, GuardedSumOfOneElement) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
        for j in T.vectorized(8):
            if j < 5:
                B[0] = B[0] + T.float32(1)
  )"),
            "all lanes store to the same element");
}

TEST(VectorizeLoops, InnerBounds) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            for k in range(j):
                B[j] = B[j] + T.float32(1)
  )"),
            "bounds of an inner loop differ between lanes");
}

TEST(VectorizeLoops, MemoryOfEachLane) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            Y = T.alloc_buffer((1,), "float32")
            Y[0] = A[j]
            B[j] = Y[0] + Y[0]
  )"),
            "a statement that each lane needs for itself");
}

TEST(VectorizeLoops, GuardedQuotient) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for j in T.vectorized(8):
            B[j] = T.if_then_else(A[j] != 0, 7 // A[j], 0)
  )"),
            "a guarded division differs between lanes");
}

TEST(VectorizeLoops, GuardedElementThatLanesShare) {
  EXPECT_EQ(refusal(R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for j in T.vectorized(8):
            B[j] = T.if_then_else(j < 0, A[n + 100], 0)
  )"),
            "a guarded access differs between lanes");
}

}  // namespace
}  // namespace tilewright::lower
