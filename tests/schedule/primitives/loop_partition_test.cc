// loop_partition: a loop becomes several, one after the other.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(LoopPartition, TheRestIsAPartOfItsOwn) {
  check_schedule(
      kDouble127,
      [](Schedule& sch) {
        const auto [a, b, c] =
            sch.call("loop_partition", sch.call("get_loops", "B").loops()[0], ArgValue{2, 64}).loops<3>();
        EXPECT_EQ(sch.get(sch.call("get_block", "B_2").block())->name_hint, "B_2");
        sch.call("vectorize", b);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i_0 in range(2):
            with T.block("B"):
                vi = T.axis.spatial(2, i_0)
                B[vi] = A[vi] * T.float32(2)
        for i_1 in T.vectorized(2, 66):
            with T.block("B_1"):
                vi = T.axis.spatial((2, 66), i_1)
                B[vi] = A[vi] * T.float32(2)
        for i_2 in range(66, 127):
            with T.block("B_2"):
                vi = T.axis.spatial((66, 127), i_2)
                B[vi] = A[vi] * T.float32(2)
  )");
}

constexpr std::string_view kTriangle = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 5), "float32"), B: T.Buffer((5, 5), "float32")):
        for i in range(5):
            for j in range(i + 1):
                with T.block("B"):
                    vi = T.axis.spatial(5, i)
                    vj = T.axis.spatial(i + 1, j)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
)";

// The first part is shorter where there is less.
TEST(LoopPartition, OfAnyExtent) {
  check_schedule(
      kTriangle,
      [](Schedule& sch) {
        sch.call("loop_partition", sch.call("get_loops", "B").loops()[1], Factors{int64_t{2}, None{}});
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 5), "float32"), B: T.Buffer((5, 5), "float32")):
        for i in range(5):
            for j_0 in range(T.min(i + 1, 2)):
                with T.block("B"):
                    vi = T.axis.spatial(5, i)
                    vj = T.axis.spatial(T.min(i + 1, 2), j_0)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j_1 in range(T.min(i + 1, 2), i + 1):
                with T.block("B_1"):
                    vi = T.axis.spatial(5, i)
                    vj = T.axis.spatial((T.min(i + 1, 2), i + 1), j_1)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
  )");
  const auto partition = [](Factors factors) {
    return [factors](Schedule& sch) {
      sch.call("loop_partition", sch.call("get_loops", "B").loops()[1], factors);
    };
  };
  const std::string place =
      "\n  f.py:4:9\n   3 |     for i in range(5):\n   4 |         for j in range(i + 1):\n     |         "
      "^^^^^^^^^^^^^^^^^^^^^^\n   5 |             with T.block(\"B\"):";
  check_refused(
      kTriangle, partition({None{}, int64_t{4}}),
      "error: loop_partition: loop j has extent i + 1, which is not constant: only the last factor may be "
      "None" +
          place);
  check_refused(kTriangle, partition({int64_t{2147483647}, int64_t{1}}),
                "error: loop_partition: factors of loop j are together more than int32 holds" + place);
}

TEST(LoopPartition, ASumWithItsInitIsRefused) {
  check_refused(
      kRowSums,
      [](Schedule& sch) {
        sch.call("loop_partition", sch.call("get_loops", "Y").loops()[1], ArgValue::List{3});
      },
      R"(
    error: loop_partition: loop k reduces in block Y, which has an init
      f.py:4:14
       3 |     for i, k in T.grid(5, 7):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi, vk = T.axis.remap("SR", [i, k])
    help: give the init a block of its own with decompose_reduction first
  )");
}

TEST(LoopPartition, ASumWithoutInit) {
  check_schedule(
      kRowSums,
      [](Schedule& sch) {
        const LoopRef k = sch.call("get_loops", "Y").loops()[1];
        sch.call("decompose_reduction", "Y", k);
        sch.call("loop_partition", k, Factors{int64_t{3}, None{}});
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), Y: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("Y_init"):
                vi = T.axis.spatial(5, i)
                Y[vi] = T.float32(0)
            for k_0 in range(3):
                with T.block("Y_update"):
                    vi = T.axis.spatial(5, i)
                    vk = T.axis.reduce(3, k_0)
                    Y[vi] = Y[vi] + A[vi, vk]
            for k_1 in range(3, 7):
                with T.block("Y_update_1"):
                    vi = T.axis.spatial(5, i)
                    vk = T.axis.reduce((3, 7), k_1)
                    Y[vi] = Y[vi] + A[vi, vk]
  )");
}

TEST(LoopPartition, PartsThatDoNotFitAreRefused) {
  const auto partition = [](Factors factors) {
    return [factors](Schedule& sch) {
      sch.call("loop_partition", sch.call("get_loops", "B").loops()[0], factors);
    };
  };
  const std::string place =
      "\n  f.py:3:5\n   2 | def main(A: T.Buffer((127,), \"float32\"), B: T.Buffer((127,), \"float32\")):\n  "
      " 3 |     for i in range(127):\n     |     ^^^^^^^^^^^^^^^^^^^^\n   4 |         with T.block(\"B\"):";
  const std::string start = "error: loop_partition: ";
  const int64_t big = 100;
  check_refused(kDouble127, partition({big, big}),
                start + "parts of together 200 do not fit into loop i of extent 127" + place);
  check_refused(
      kDouble127, partition({int64_t{127}, None{}}),
      start + "parts of together 127 do not fit into loop i of extent 127, which leaves nothing for None" +
          place);
  check_refused(kDouble127, partition({None{}, None{}}),
                start + "more than one factor of loop i is None" + place);
  check_refused(kDouble127, partition({int64_t{0}}), start + "factor 0 of loop i is below 1" + place);
  check_refused(kDouble127, partition({}), start + "no factors are given for loop i" + place);
}

TEST(LoopPartition, LaterPartsAreNoThreads) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("A"):
                vi = T.axis.spatial(7, i)
                A[vi] = T.float32(1)
  )",
      [](Schedule& sch) {
        const std::vector<LoopRef> parts =
            sch.call("loop_partition", sch.call("get_loops", "A").loops()[0], ArgValue::List{2}).loops();
        sch.call("bind", parts[1], "vthread.x");
      },
      R"(
    error: bind: loop i_1 starts at 2, threads at 0
      <main as scheduled>:10:5
       9 |             A[vi] = T.float32(1)
      10 |     for i_1 in range(2, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^
      11 |         with T.block("A_1"):
    note: i_1 was made from this line
       3 |     for i in range(7):
         |     ^^^^^^^^^^^^^^^^^^
    help: split it by 1 first: the outer loop starts at 0
  )");
}

// Iterations of j overlap in B: each has a B of its own as long as only they use it.
TEST(LoopPartition, BuffersOfParallelIterationsStayTheirs) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((5, 6), "float32")):
        B = T.alloc_buffer((7,))
        for i, j in T.grid(5, 6):
            for k in range(2):
                with T.block("B"):
                    vi = T.axis.spatial(7, j + k)
                    B[vi] = A[vi] * T.float32(2)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj] + B[vj + 1]
  )",
      [](Schedule& sch) {
        const auto [i, j] = sch.call("get_loops", "C").loops<2>();
        sch.call("parallel", j);
        sch.call("loop_partition", i, ArgValue::List{2});
      },
      R"(
    error: loop_partition: the iterations of loop j could not run at once any more: block B writes B[vi] in several iterations of loop j
      f.py:4:5
       3 |     B = T.alloc_buffer((7,))
       4 |     for i, j in T.grid(5, 6):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         for k in range(2):
    note: block B at j=1 writes B[1], written by block B at j=0
  )");
}

// Blocks whose axes are fewer than their loop runs keep them, and the condition that says so.
TEST(LoopPartition, AnAxisThatIsShorterThanTheLoop) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(2, i)
                T.where(i < 2)
                B[vi] = A[vi] * T.float32(2)
  )",
      [](Schedule& sch) {
        sch.call("loop_partition", sch.call("get_loops", "B").loops()[0], ArgValue::List{3});
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i_0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(2, i_0)
                T.where(i_0 < 2)
                B[vi] = A[vi] * T.float32(2)
        for i_1 in range(3, 5):
            with T.block("B_1"):
                vi = T.axis.spatial(2, i_1)
                T.where(T.bool(False))
                B[vi] = A[vi] * T.float32(2)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
