// Damaged programs are refused with an error of the user's kind, whatever the damage: no crash, no internal
// error.
#include <random>

#include "script_testing.h"

namespace tilewright::script {
namespace {

constexpr std::string_view kProgram = R"(from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class M:
    @T.prim_func
    def mm(a: T.handle, B: T.Buffer((7, "n"), "float32"), C: T.Buffer[(5, 7), "float32"]):
        T.func_attr({"tir.noalias": True, "x": [1, 2.5]})
        n = T.int64()
        A = T.match_buffer(a, (5, n), "float32", strides=[n, 1], offset_factor=4)
        Y = T.alloc_buffer((5, 7), dtype="float32", scope="shared")
        for i, j in T.grid(5, 7):
            for k in T.serial(0, n, annotations={"p": 1}):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    vk = T.axis.reduce(n, k)
                    T.where(k < 3 and i != 2)
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] += A[vi, vk] * B[vj, vk]
        for t in T.thread_binding(35, thread="threadIdx.x"):
            with T.block("C"):
                v = T.axis.spatial(35, t)
                x: T.float32 = T.max(Y[v // 7, v % 7], 0.0)
                C[v // 7, v % 7] = T.if_then_else(v > 3, x, T.exp(-x), dtype="float32")
    @R.function
    def main(x: R.Tensor((5, "m"), "float32"), w: R.Tensor((7, "m"), "float32")) -> R.Tensor((5, 7), "float32"):
        m = T.int64()
        with R.dataflow():
            lv = R.call_tir(M.mm, (x, w), out_sinfo=R.Tensor((5, 7), "float32"))
            gv = R.call_tir("mm", (lv, w), (5, 7), dtype="float32")
            R.output(gv)
        y = R.match_cast(gv, R.Tensor((5, 7), "float32"))
        return y
)";

TEST(ParseFuzz, UndamagedProgramParses) { EXPECT_TRUE(parse(source_of(std::string(kProgram)))); }

TEST(ParseFuzz, DamagedProgramsAreRefused) {
  std::mt19937 random(20260101);
  const std::string_view pieces[] = {"(",
                                     ")",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ":",
                                     ",",
                                     ".",
                                     "=",
                                     "\n",
                                     "    ",
                                     "\"",
                                     "'",
                                     "\\",
                                     "#",
                                     "T",
                                     "R",
                                     "1",
                                     "-1",
                                     "0.5",
                                     "None",
                                     "True",
                                     "x",
                                     "m",
                                     "*",
                                     "**",
                                     "//",
                                     "lambda x: x",
                                     "if",
                                     "else",
                                     "for",
                                     "with",
                                     "T.int64()",
                                     "T.block(\"b\")",
                                     "R.const(1)",
                                     "99999999999999999999",
                                     "1e400",
                                     "\"\"\"",
                                     "\xff",
                                     "...",
                                     "@",
                                     "A[0:4]",
                                     "T.Buffer",
                                     "m if x else y"};
  for (int run = 0; run < 4000; ++run) {
    std::string text(kProgram);
    const int damages = 1 + static_cast<int>(random() % 3);
    for (int n = 0; n < damages; ++n) {
      const size_t at = random() % text.size(), length = random() % 12;
      switch (random() % 4) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, pieces[random() % std::size(pieces)]); break;
        case 2: text.replace(at, length, pieces[random() % std::size(pieces)]); break;
        default: text.insert(at, text.substr(random() % text.size(), length)); break;
      }
    }
    try {
      parse(source_of(text));
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), Error::Kind::kInternal) << error.render() << "\n" << text;
      ASSERT_FALSE(error.render().empty());
    }
  }
}

}  // namespace
}  // namespace tilewright::script
