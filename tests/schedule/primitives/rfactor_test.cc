// rfactor: a reduction becomes partial results and their reduction.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

std::string argmax(std::string_view keeps, std::string_view place = "vk") {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), I: T.Buffer((5,), "int32"), V: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 12):
            with T.block("best"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(I[vi], V[vi])
                with T.init():
                    I[vi] = -1
                    V[vi] = T.min_value("float32")
                v_i: T.int32 = T.Select({0}, I[vi], {1})
                v_v: T.float32 = T.Select({0}, V[vi], A[vi, vk])
                I[vi] = v_i
                V[vi] = v_v
)",
                     keeps, place);
}

std::vector<LoopRef> halves_of_k(Schedule& sch, std::string_view block) {
  return sch
      .call("split", sch.call("get_loops", std::string(block)).loops().back(), Factors{None{}, int64_t{4}})
      .loops();
}

TEST(Rfactor, OfAChoiceThatComparesPlacesAsWell) {
  const std::string program = argmax("V[vi] > A[vi, vk] or (V[vi] == A[vi, vk] and I[vi] < vk)");
  check_schedule(program, [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "best")[1], 0); });
  check_schedule(program, [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "best")[0], -1); });
}

TEST(Rfactor, OfAChoiceByOrderTheOutermostLoop) {
  check_schedule(argmax("V[vi] >= A[vi, vk]"),
                 [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "best")[0], 0); });
}

// The place of a term says what came first: partial results that compare places need no order.
TEST(Rfactor, OfAChoiceByOrderAnInnerLoopThatPlacesTellApart) {
  for (const char* keeps : {"V[vi] >= A[vi, vk]", "not V[vi] < A[vi, vk]"})
    check_schedule(argmax(keeps), [](Schedule& sch) {
      const LoopRef inner = halves_of_k(sch, "best")[1];
      sch.call("rfactor", inner, 0);
      sch.call("rfactor", sch.call("get_loops", std::string("best")).loops().back(), 0);
    });
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((2, 4), "float32"), I: T.Buffer((2,), "int32"), V: T.Buffer((2,), "float32")):
        for i, k in T.grid(2, 4):
            with T.block("best"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(I[vi], V[vi])
                with T.init():
                    I[vi] = -1
                    V[vi] = T.min_value("float32")
                v_i: T.int32 = T.Select(V[vi] >= A[vi, vk], I[vi], vk)
                v_v: T.float32 = T.max(V[vi], A[vi, vk])
                I[vi] = v_i
                V[vi] = v_v
)",
      [](Schedule& sch) {
        const std::vector<LoopRef> loops = sch.call("get_loops", std::string("best")).loops();
        sch.call("rfactor", sch.call("split", loops[1], Factors{None{}, int64_t{2}}).loops()[1], 0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((2, 4), "float32"), I: T.Buffer((2,), "int32"), V: T.Buffer((2,), "float32")):
        I_rf = T.alloc_buffer((2, 2), "int32")
        V_rf = T.alloc_buffer((2, 2))
        for i, k_0, k_1 in T.grid(2, 2, 2):
            with T.block("best_rf"):
                vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
                T.reads(A[vi, vk_0 * 2 + vk_1])
                T.writes(I_rf[vk_1, vi], V_rf[vk_1, vi])
                with T.init():
                    I_rf[vk_1, vi] = -1
                    V_rf[vk_1, vi] = T.min_value("float32")
                v_I_rf: T.int32 = T.Select(
                    V_rf[vk_1, vi] >= A[vi, vk_0 * 2 + vk_1], I_rf[vk_1, vi], vk_0 * 2 + vk_1
                )
                v_V_rf: T.float32 = T.max(V_rf[vk_1, vi], A[vi, vk_0 * 2 + vk_1])
                I_rf[vk_1, vi] = v_I_rf
                V_rf[vk_1, vi] = v_V_rf
        for ax0, ax1 in T.grid(2, 2):
            with T.block("best"):
                vk_1, vi = T.axis.remap("RS", [ax1, ax0])
                T.reads(I_rf[vk_1, vi], V_rf[vk_1, vi])
                T.writes(I[vi], V[vi])
                with T.init():
                    I[vi] = -1
                    V[vi] = T.min_value("float32")
                v_I: T.int32 = T.Select(
                    I[vi] < I_rf[vk_1, vi] and V[vi] >= V_rf[vk_1, vi]
                    or not I[vi] < I_rf[vk_1, vi] and not V_rf[vk_1, vi] >= V[vi],
                    I[vi],
                    I_rf[vk_1, vi],
                )
                v_V: T.float32 = T.max(V[vi], V_rf[vk_1, vi])
                I[vi] = v_I
                V[vi] = v_V
)");
}

TEST(Rfactor, OfAChoiceByOrderAnInnerLoopIsRefused) {
  check_refused(
      argmax("V[vi] >= A[vi, vk]", "11 - vk"),
      [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "best")[1], 0); }, R"(
    error: rfactor: block best takes one of equal terms by their order, which loop k_1 inside of loop k_0 changes
      <main as scheduled>:4:17
       3 |     # with T.block("root"):
       4 |     for i, k_0, k_1 in T.grid(5, 3, 4):
         |                 ^^^
       5 |         with T.block("best"):
    note: k_1 was made from this line
       3 |     for i, k in T.grid(5, 12):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: factor loop k_0, or let the block compare places too: a > b or (a == b and i < j)
  )");
}

TEST(Rfactor, OfNamedValues) {
  check_schedule(R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 12):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                x: T.float32 = A[vi, vk] + T.float32(1)
                Y[vi] = Y[vi] + x * x
  )",
                 [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "Y")[1], 0); });
}

// The name stands for the running sum, which is no term.
TEST(Rfactor, OfANameForTheSumIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 12):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                x: T.float32 = Y[vi] * A[vi, vk]
                Y[vi] = Y[vi] + x
  )",
      [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "Y")[1], 0); }, R"(
    error: rfactor: block Y is not a reduction of the form Y[...] = op(Y[...], x) with an init, nor one that chooses the better of what was and a term by comparing both
      f.py:4:14
       3 |     for i, k in T.grid(5, 12):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi, vk = T.axis.remap("SR", [i, k])
  )");
}

constexpr std::string_view kRowsOfTwo = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), D: T.Buffer((5, 12), "float32")):
        S = T.alloc_buffer((5,))
        for i in range(5):
            for k in range(12):
                with T.block("S"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        S[vi] = T.float32(0)
                    S[vi] = S[vi] + A[vi, vk]
            for j in range(12):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = A[vi, vj] - S[vi]
)";

TEST(Rfactor, BesideAnotherBlock) {
  check_schedule(kRowsOfTwo, [](Schedule& sch) { sch.call("rfactor", halves_of_k(sch, "S")[1], 0); });
}

constexpr std::string_view kSum = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 12):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
)";

TEST(Rfactor, PartialSums) {
  check_schedule(
      kSum,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        const auto [k0, k1] = sch.call("split", k, by(4)).loops<2>();
        sch.call("rfactor", k1, 0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        Y_rf = T.alloc_buffer((4, 5))
        for i, k_0, k_1 in T.grid(5, 3, 4):
            with T.block("Y_rf"):
                vk_1 = T.axis.spatial(4, k_1)
                vi = T.axis.spatial(5, i)
                vk_0 = T.axis.reduce(3, k_0)
                with T.init():
                    Y_rf[vk_1, vi] = T.float32(0)
                Y_rf[vk_1, vi] = Y_rf[vk_1, vi] + A[vi, vk_0 * 4 + vk_1]
        for ax0, ax1 in T.grid(5, 4):
            with T.block("Y"):
                vk_1 = T.axis.reduce(4, ax1)
                vi = T.axis.spatial(5, ax0)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + Y_rf[vk_1, vi]
  )");
}

// What no term was added to has not been written.
TEST(Rfactor, PartialSumsWithoutTermsAreLeftOut) {
  check_schedule(
      kSum,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        const auto [k0, k1] = sch.call("split", k, Factors{int64_t{1}, int64_t{16}}).loops<2>();
        sch.call("rfactor", k1, 0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        Y_rf = T.alloc_buffer((16, 5))
        for i, k_0, k_1 in T.grid(5, 1, 16):
            with T.block("Y_rf"):
                vk_1 = T.axis.spatial(16, k_1)
                vi = T.axis.spatial(5, i)
                vk_0 = T.axis.reduce(1, k_0)
                T.where(k_0 * 16 + k_1 < 12)
                with T.init():
                    Y_rf[vk_1, vi] = T.float32(0)
                Y_rf[vk_1, vi] = Y_rf[vk_1, vi] + A[vi, vk_0 * 16 + vk_1]
        for ax0, ax1 in T.grid(5, 16):
            with T.block("Y"):
                vk_1 = T.axis.reduce(16, ax1)
                vi = T.axis.spatial(5, ax0)
                T.where(ax1 < 12)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + Y_rf[vk_1, vi]
  )");
}

TEST(Rfactor, UnstartedPartialSumIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k_0, k_1 in T.grid(5, 1, 16):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                vk = T.axis.reduce(12, k_0 * 16 + k_1)
                T.where(12 > k_0 * 16 + k_1)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
  )",
      [](Schedule& sch) { sch.call("rfactor", sch.call("get_loops", "Y").loops()[2], 0); },
      R"(
    error: rfactor: block Y is guarded by 12 > k_0 * 16 + k_1, which may leave iterations of loop k_1 without any term
      f.py:4:14
       3 |     for i, k_0, k_1 in T.grid(5, 1, 16):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(5, i)
    help: rfactor(loop k_0, 0) would be legal
  )");
}

// Random schedules 7075: the block around has the loop over c, and each of its runs began the sum anew.
TEST(Rfactor, SumThatGoesOnOutsideOfTheBlockAroundIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((2, 3), "float32"), Y: T.Buffer((1,), "float32")):
        for c in range(2):
            with T.block("outer"):
                vc = T.axis.opaque(2, c)
                for k in range(3):
                    with T.block("Y"):
                        v0 = T.axis.spatial(1, 0)
                        vr = T.axis.reduce(2, vc)
                        vk = T.axis.reduce(3, k)
                        with T.init():
                            Y[v0] = T.float32(0)
                        Y[v0] = Y[v0] + A[vr, vk]
  )",
      [](Schedule& sch) { sch.call("rfactor", sch.call("get_loops", "Y").loops()[0], 0); },
      R"(
    error: rfactor: block Y cannot be factored: the sum of block Y does not start inside of block outer
      f.py:7:22
       6 |             for k in range(3):
       7 |                 with T.block("Y"):
         |                      ^^^^^^^^^^^^
       8 |                     v0 = T.axis.spatial(1, 0)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
