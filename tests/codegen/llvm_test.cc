// Programs built by hand, lowered, compiled and run; results are compared with plain C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/lower/lower.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::codegen {
namespace {
using namespace tir;
using runtime::Tensor;

runtime::Function compile(const PrimFunc& func) {
  const NativeTarget target = native_target(target::parse_target("llvm"));
  const std::string names[] = {"f"};
  const std::string objects[] = {emit_object(lower::lower_for_cpu("f", func), target),
                                 emit_library_object(names, {}, target)};
  return load_objects("test", objects).get_function("f");
}

PrimFunc prim_func(const std::vector<Buffer>& buffers, Stmt body) {
  std::vector<Var> params;
  for (const Buffer& buffer : buffers)
    params.push_back(make_var(buffer->name + "_handle", DataType::handle()));
  return PrimFuncNode::make(params, buffers, std::move(body), Type(),
                            AttrMap{{"tir.noalias", bool_imm(true)}});
}

template <class T>
Tensor tensor(std::vector<int64_t> shape, DataType dtype, const std::vector<T>& values) {
  return Tensor::copy_of(values.data(), values.size() * sizeof(T), shape, dtype);
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  return std::vector<T>(tensor.data_as<T>(), tensor.data_as<T>() + tensor.num_elements());
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

// B[i] = op(A[i]) for 7 elements
template <class T>
std::vector<T> map(DataType dtype, const std::vector<T>& input, const std::function<PrimExpr(PrimExpr)>& op,
                   ForKind kind = ForKind::kSerial) {
  const int64_t n = static_cast<int64_t>(input.size());
  Buffer a = make_buffer("A", {imm(n)}, dtype), b = make_buffer("B", {imm(n)}, dtype);
  Var i = make_var("i");
  const runtime::Function f =
      compile(prim_func({a, b}, loop(i, imm(n), store(b, op(load(a, {i})), {i}), kind)));
  Tensor out = Tensor::empty(std::vector<int64_t>{n}, dtype);
  f(tensor({n}, dtype, input), out);
  return values_of<T>(out);
}

TEST(Llvm, AddsOne) {
  const std::vector<float> x{-2, -1, 0, 1, 2, 3, 4};
  EXPECT_THAT(map<float>(kFloat32, x, [](PrimExpr v) { return v + float_imm(1); }),
              testing::ElementsAre(-1, 0, 1, 2, 3, 4, 5));
}

std::string ir_text(const PrimFunc& func, const std::string& cpu, bool optimised = false) {
  return emit_llvm_ir(lower::lower_for_cpu("f", func),
                      native_target(target::parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=" + cpu)),
                      optimised);
}

// The calls that fetch lines, as the program's text has them.
std::vector<std::string> fetches_of(const PrimFunc& func) {
  const std::string call = "call void @llvm.prefetch", text = ir_text(func, "x86-64");
  std::vector<std::string> calls;
  for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1))
    calls.push_back(text.substr(at, text.find('\n', at) - at));
  return calls;
}

// The rows of a tile read the same vectors, and four short vectors share a line: it is fetched once.
TEST(Llvm, FetchesEachLineAheadOnce) {
  Buffer a = make_buffer("A", {imm(128)}, kFloat32), b = make_buffer("B", {imm(32)}, kFloat32);
  Var i = make_var("i"), v = make_var("v");
  PrimExpr sum = float_imm(0);
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t part = 0; part < 4; ++part) sum = sum + load(a, {i * 16 + part * 4 + v});
  }
  const Stmt vector = loop(v, imm(4), store(b, sum, {i * 4 + v}), ForKind::kVectorized);
  const For asking = with(ir::ref_as<ForNode>(loop(i, imm(8), vector)),
                          [](ForNode& n) { n.annotations.set(std::string(kPrefetchAhead), imm(256)); });
  EXPECT_THAT(fetches_of(prim_func({a, b}, asking)), testing::SizeIs(1));
}

// B[i * 4 + v] = A[i * 4 + v]: only what moves with the loop that asks for it is fetched.
TEST(Llvm, FetchesAheadWhatLoopsRead) {
  Buffer a = make_buffer("A", {imm(32)}, kFloat32), b = make_buffer("B", {imm(32)}, kFloat32);
  Var i = make_var("i"), v = make_var("v");
  const Stmt vector =
      loop(v, imm(4), store(b, load(a, {i * 4 + v}) + load(a, {v}), {i * 4 + v}), ForKind::kVectorized);
  const For plain = ir::ref_as<ForNode>(loop(i, imm(8), vector));
  const For asking =
      with(plain, [](ForNode& n) { n.annotations.set(std::string(kPrefetchAhead), imm(256)); });
  EXPECT_THAT(fetches_of(prim_func({a, b}, plain)), testing::IsEmpty());
  EXPECT_THAT(fetches_of(prim_func({a, b}, asking)), testing::SizeIs(1));
  std::vector<float> x(32), expected;
  for (int n = 0; n < 32; ++n)
    x[static_cast<size_t>(n)] = static_cast<float>(n), expected.push_back(static_cast<float>(n + n % 4));
  const Tensor out = Tensor::empty(std::vector<int64_t>{32}, kFloat32);
  compile(prim_func({a, b}, asking))(tensor({32}, kFloat32, x), out);
  EXPECT_EQ(values_of<float>(out), expected);
}

// Lines go to L1, or no nearer than to L2, as the program says; the distance decides nothing.
TEST(Llvm, FetchesIntoTheCacheThatIsAskedFor) {
  Buffer a = make_buffer("A", {imm(32)}, kFloat32), b = make_buffer("B", {imm(32)}, kFloat32);
  Var i = make_var("i"), v = make_var("v");
  const Stmt vector = loop(v, imm(4), store(b, load(a, {i * 4 + v}), {i * 4 + v}), ForKind::kVectorized);
  const auto fetched = [&](int64_t distance, std::optional<int64_t> level) {
    return fetches_of(prim_func({a, b}, with(ir::ref_as<ForNode>(loop(i, imm(8), vector)), [&](ForNode& n) {
                                  n.annotations.set(std::string(kPrefetchAhead), imm(distance));
                                  if (level) n.annotations.set(std::string(kPrefetchLevel), imm(*level));
                                })));
  };
  for (const int64_t distance : {64, 4096}) {
    EXPECT_THAT(fetched(distance, {}), testing::ElementsAre(testing::EndsWith(", i32 0, i32 3, i32 1)")));
    EXPECT_THAT(fetched(distance, 1), testing::ElementsAre(testing::EndsWith(", i32 0, i32 3, i32 1)")));
    EXPECT_THAT(fetched(distance, 2), testing::ElementsAre(testing::EndsWith(", i32 0, i32 2, i32 1)")));
  }
}

// B[i * 4 + v] = A[(3 - i) * 4 + v]: LLVM writes four iterations out, unless the program says that the loop
// stays.
TEST(Llvm, KeepsALoopThatIsToStay) {
  Buffer a = make_buffer("A", {imm(16)}, kFloat32), b = make_buffer("B", {imm(16)}, kFloat32);
  Var i = make_var("i"), v = make_var("v");
  const Stmt vector =
      loop(v, imm(4), store(b, load(a, {(imm(3) - i) * 4 + v}), {i * 4 + v}), ForKind::kVectorized);
  const For plain = ir::ref_as<ForNode>(loop(i, imm(4), vector));
  const For kept = with(plain, [](ForNode& n) { n.annotations.set(std::string(kKeepLoop), bool_imm(true)); });
  const auto has_loop = [&](const For& body) {
    return ir_text(prim_func({a, b}, body), "haswell", true).find("\nloop:") != std::string::npos;
  };
  EXPECT_FALSE(has_loop(plain));
  EXPECT_TRUE(has_loop(kept));
  std::vector<float> x(16), expected(16);
  for (size_t n = 0; n < 16; ++n)
    x[n] = static_cast<float>(n), expected[n] = static_cast<float>((3 - n / 4) * 4 + n % 4);
  const Tensor out = Tensor::empty(std::vector<int64_t>{16}, kFloat32);
  compile(prim_func({a, b}, kept))(tensor({16}, kFloat32, x), out);
  EXPECT_EQ(values_of<float>(out), expected);
}

// if v < 7: B[v] = A[v * 2], where A ends with A[12]: the lanes that are wanted are loaded where masks are
// instructions.
TEST(Llvm, LoadsEverySecondElementUnderAMask) {
  Buffer a = make_buffer("A", {imm(13)}, kFloat32), b = make_buffer("B", {imm(7)}, kFloat32);
  Var v = make_var("v");
  const PrimFunc func = prim_func(
      {a, b},
      loop(v, imm(8), IfThenElseNode::make(v < 7, store(b, load(a, {v * 2}), {v})), ForKind::kVectorized));
  const auto uses = [&](const std::string& cpu, const std::string& call) {
    return ir_text(func, cpu).find("@llvm.masked." + call) != std::string::npos;
  };
  for (const std::string cpu : {"haswell", "skylake-avx512"}) {
    EXPECT_TRUE(uses(cpu, "load.v16f32"));
    EXPECT_FALSE(uses(cpu, "gather"));
  }
  EXPECT_TRUE(uses("x86-64", "gather"));
  const std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Tensor out = Tensor::empty(std::vector<int64_t>{7}, kFloat32);
  compile(func)(tensor({13}, kFloat32, x), out);
  EXPECT_THAT(values_of<float>(out), testing::ElementsAre(0, 2, 4, 6, 8, 10, 12));
}

// B[i * 4 + v] = A[v], C[v] = A[v]: what moves with the loop that asks for it is fetched to be written.
TEST(Llvm, FetchesAheadWhatLoopsWrite) {
  Buffer a = make_buffer("A", {imm(4)}, kFloat32), b = make_buffer("B", {imm(32)}, kFloat32),
         c = make_buffer("C", {imm(4)}, kFloat32);
  Var i = make_var("i"), v = make_var("v"), w = make_var("w");
  const Stmt moving = loop(v, imm(4), store(b, load(a, {v}), {i * 4 + v}), ForKind::kVectorized),
             staying = loop(w, imm(4), store(c, load(a, {w}), {w}), ForKind::kVectorized);
  const For asking = with(ir::ref_as<ForNode>(loop(i, imm(8), seq({moving, staying}))),
                          [](ForNode& n) { n.annotations.set(std::string(kPrefetchWrites), imm(256)); });
  const PrimFunc func = prim_func({a, b, c}, asking);
  EXPECT_THAT(fetches_of(func), testing::ElementsAre(testing::EndsWith(", i32 1, i32 3, i32 1)")));
  const Tensor out = Tensor::empty(std::vector<int64_t>{32}, kFloat32);
  compile(func)(tensor({4}, kFloat32, std::vector<float>{1, 2, 3, 4}), out,
                Tensor::empty(std::vector<int64_t>{4}, kFloat32));
  for (int n = 0; n < 32; ++n)
    EXPECT_EQ(values_of<float>(out)[static_cast<size_t>(n)], static_cast<float>(n % 4 + 1));
}

TEST(Llvm, VectorizedLoopOfSevenLanes) {
  const std::vector<float> x{-2, -1, 0, 1, 2, 3, 4};
  EXPECT_THAT(map<float>(
                  kFloat32, x, [](PrimExpr v) { return v * float_imm(2); }, ForKind::kVectorized),
              testing::ElementsAre(-4, -2, 0, 2, 4, 6, 8));
}

TEST(Llvm, ParallelLoop) {
  std::vector<float> x(127), expected;
  for (size_t n = 0; n < x.size(); ++n)
    x[n] = static_cast<float>(n), expected.push_back(static_cast<float>(n) + 3);
  EXPECT_EQ(
      map<float>(kFloat32, x, [](PrimExpr v) { return v + float_imm(3); }, ForKind::kParallel), expected);
}

TEST(Llvm, FloorDivisionRoundsDown) {
  const std::vector<int32_t> x{-8, -7, -1, 0, 1, 7, 8};
  EXPECT_THAT(map<int32_t>(kInt32, x, [](PrimExpr v) { return floordiv(v, 3); }),
              testing::ElementsAre(-3, -3, -1, 0, 0, 2, 2));
  EXPECT_THAT(map<int32_t>(kInt32, x, [](PrimExpr v) { return floormod(v, 3); }),
              testing::ElementsAre(1, 2, 2, 0, 1, 1, 2));
  EXPECT_THAT(map<int32_t>(kInt32, x, [](PrimExpr v) { return floordiv(v, 4); }),
              testing::ElementsAre(-2, -2, -1, 0, 0, 1, 2));
  EXPECT_THAT(map<int32_t>(kInt32, x, [](PrimExpr v) { return floormod(v, 4); }),
              testing::ElementsAre(0, 1, 3, 0, 1, 3, 0));
}

TEST(Llvm, DivisionByZeroOfDataIsZeroAndDoesNotTrap) {
  const std::vector<int32_t> x{0, 1, -1, INT32_MIN, 5, -5, 7};
  const auto quotient = [](PrimExpr v) { return DivNode::make(imm(INT32_MIN), v); };
  EXPECT_THAT(map<int32_t>(kInt32, x, quotient),
              testing::ElementsAre(0, INT32_MIN, INT32_MIN, 1, -429496729, 429496729, -306783378));
}

TEST(Llvm, MaxKeepsNan) {
  const std::vector<float> x{NAN, 1, -1};
  const std::vector<float> y = map<float>(kFloat32, x, [](PrimExpr v) { return tir::max(v, float_imm(0)); });
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
}

TEST(Llvm, IntegersOfAllWidthsWrap) {
  EXPECT_THAT(map<int8_t>(DataType::int_(8), {127, -128, 5}, [](PrimExpr v) { return v + 1; }),
              testing::ElementsAre(-128, -127, 6));
  EXPECT_THAT(map<uint16_t>(DataType::uint(16), {65535, 0, 5}, [](PrimExpr v) { return v + 1; }),
              testing::ElementsAre(0, 1, 6));
  EXPECT_THAT(map<int64_t>(kInt64, {int64_t{1} << 40, 0, 5}, [](PrimExpr v) { return v + 1; }),
              testing::ElementsAre((int64_t{1} << 40) + 1, 1, 6));
}

TEST(Llvm, Float64AndBool) {
  EXPECT_THAT(map<double>(DataType::float_(64), {0.5, 1e300, -2},
                          [](PrimExpr v) { return v * make_const(v->dtype, 2); }),
              testing::ElementsAre(1, 2e300, -4));
  EXPECT_THAT(map<uint8_t>(kBoolType, {0, 1, 1}, [](PrimExpr v) { return logical_not(v); }),
              testing::ElementsAre(1, 0, 0));
}

TEST(Llvm, MathFunctionsOfTheCLibrary) {
  const std::vector<float> x{-2.5f, -0.5f, 0, 0.5f, 2.5f};
  for (const char* name : {"exp", "tanh", "sin", "cos", "erf", "sigmoid"}) {
    const std::vector<float> y =
        map<float>(kFloat32, x, [&](PrimExpr v) { return call(v->dtype, name, {v}); });
    for (size_t n = 0; n < x.size(); ++n) {
      const double v = x[n];
      const std::string op = name;
      const double expected = op == "exp"    ? std::exp(v)
                              : op == "tanh" ? std::tanh(v)
                              : op == "sin"  ? std::sin(v)
                              : op == "cos"  ? std::cos(v)
                              : op == "erf"  ? std::erf(v)
                                             : 1 / (1 + std::exp(-v));
      EXPECT_NEAR(y[n], expected, 2e-7 * std::max(1.0, std::abs(expected))) << name << "(" << v << ")";
    }
  }
}

// Y[i, j] = sum over k of A[i, k] * B[k, j], 5 x 7 x 3, as a block with init
TEST(Llvm, MatmulBlockWithInit) {
  Buffer a = make_buffer("A", {imm(5), imm(7)}, kFloat32), b = make_buffer("B", {imm(7), imm(3)}, kFloat32),
         y = make_buffer("Y", {imm(5), imm(3)}, kFloat32);
  Var i = make_var("i"), j = make_var("j"), k = make_var("k"), vi = make_var("vi"), vj = make_var("vj"),
      vk = make_var("vk");
  auto axis = [](const Var& var, int64_t extent, IterType type) {
    return IterVarNode::make(var, make_range(imm(0), imm(extent)), type);
  };
  Block block =
      BlockNode::make("Y",
                      std::vector<IterVar>{axis(vi, 5, IterType::kSpatial), axis(vj, 3, IterType::kSpatial),
                                           axis(vk, 7, IterType::kReduce)},
                      std::vector<Buffer>{}, std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                      std::vector<MatchBufferRegion>{}, AttrMap{}, store(y, float_imm(0), {vi, vj}),
                      store(y, load(y, {vi, vj}) + load(a, {vi, vk}) * load(b, {vk, vj}), {vi, vj}));
  Stmt body = BlockRealizeNode::make(std::vector<PrimExpr>{i, j, k}, bool_imm(true), block);
  const runtime::Function f =
      compile(prim_func({a, b, y}, loop(i, imm(5), loop(j, imm(3), loop(k, imm(7), body)))));
  std::vector<float> av(35), bv(21), expected(15);
  for (size_t n = 0; n < av.size(); ++n) av[n] = static_cast<float>(n % 11) - 5;
  for (size_t n = 0; n < bv.size(); ++n) bv[n] = static_cast<float>(n % 5) - 2;
  for (size_t r = 0; r < 5; ++r)
    for (size_t c = 0; c < 3; ++c)
      for (size_t m = 0; m < 7; ++m) expected[r * 3 + c] += av[r * 7 + m] * bv[m * 3 + c];
  Tensor out = Tensor::empty(std::vector<int64_t>{5, 3}, kFloat32);
  f(tensor<float>({5, 7}, kFloat32, av), tensor<float>({7, 3}, kFloat32, bv), out);
  EXPECT_EQ(values_of<float>(out), expected);
}

TEST(Llvm, SymbolicExtentComesFromTheArgument) {
  Var n = make_var("n", kInt64), i = make_var("i", kInt64);
  Buffer a = make_buffer("A", {n}, kFloat32), b = make_buffer("B", {n}, kFloat32);
  const runtime::Function f =
      compile(prim_func({a, b}, loop(i, n, store(b, load(a, {i}) + float_imm(1), {i}))));
  Tensor out = Tensor::empty(std::vector<int64_t>{5}, kFloat32);
  f(tensor<float>({5}, kFloat32, {1, 2, 3, 4, 5}), out);
  EXPECT_THAT(values_of<float>(out), testing::ElementsAre(2, 3, 4, 5, 6));
  Tensor other = Tensor::empty(std::vector<int64_t>{7}, kFloat32);
  EXPECT_EQ(error_of([&] { f(out, other); }), "f: argument B has shape [7], expected [5]");
}

TEST(Llvm, ArgumentsAreChecked) {
  Buffer a = make_buffer("A", {imm(2), imm(3)}, kFloat32);
  Var i = make_var("i");
  const runtime::Function f = compile(prim_func({a}, loop(i, imm(2), store(a, float_imm(1), {i, imm(0)}))));
  Tensor right = Tensor::zeros(std::vector<int64_t>{2, 3}, kFloat32);
  f(right);
  EXPECT_EQ(right.data_as<float>()[3], 1);
  EXPECT_EQ(error_of([&] { f(right, right); }), "f: 2 arguments given, expected 1 (A)");
  EXPECT_EQ(error_of([&] { f(5); }), "f: argument A is not a tensor");
  EXPECT_EQ(error_of([&] { f(Tensor::zeros(std::vector<int64_t>{2, 4}, kFloat32)); }),
            "f: argument A has shape [2, 4], expected [2, 3]");
  EXPECT_EQ(error_of([&] { f(Tensor::zeros(std::vector<int64_t>{6}, kFloat32)); }),
            "f: argument A is 1-dimensional, expected 2-dimensional");
  EXPECT_EQ(error_of([&] { f(Tensor::zeros(std::vector<int64_t>{2, 3}, kInt32)); }),
            "f: argument A has dtype int32, expected float32");
}

TEST(Llvm, LargeTemporaryIsWorkspace) {
  constexpr int64_t kCount = 100000;
  Buffer a = make_buffer("A", {imm(kCount)}, kFloat32), t = make_buffer("T", {imm(kCount)}, kFloat32);
  Var i = make_var("i"), j = make_var("j");
  Stmt body = seq({loop(i, imm(kCount), store(t, load(a, {i}) + float_imm(1), {i})),
                   loop(j, imm(kCount), store(a, load(t, {imm(kCount - 1) - j}), {j}))});
  const runtime::Function f = compile(prim_func({a}, AllocBufferNode::make(t, AttrMap{}, body)));
  std::vector<float> input(kCount);
  for (int64_t n = 0; n < kCount; ++n) input[static_cast<size_t>(n)] = static_cast<float>(n);
  Tensor x = tensor<float>({kCount}, kFloat32, input);
  f(x);
  EXPECT_EQ(x.data_as<float>()[0], kCount);
  EXPECT_EQ(x.data_as<float>()[kCount - 1], 1);
}

TEST(Llvm, FailedAssertIsAnError) {
  Buffer a = make_buffer("A", {imm(1)}, kInt32);
  Stmt body = seq({AssertStmtNode::make(load(a, {imm(0)}) > imm(0), std::string("A must be positive")),
                   store(a, imm(9), {imm(0)})});
  const runtime::Function f = compile(prim_func({a}, body));
  Tensor x = tensor<int32_t>({1}, kInt32, {0});
  EXPECT_EQ(error_of([&] { f(x); }), "A must be positive");
  EXPECT_EQ(x.data_as<int32_t>()[0], 0);
}

TEST(Llvm, ExternFunctionOfTheProcess) {
  const std::vector<double> x{-1.5, 2.5};
  EXPECT_THAT(
      map<double>(DataType::float_(64), x,
                  [](PrimExpr v) { return call(v->dtype, "call_pure_extern", {string_imm("fabs"), v}); }),
      testing::ElementsAre(1.5, 2.5));
}

TEST(Llvm, MissingExternFunctionIsNamed) {
  Buffer a = make_buffer("A", {imm(1)}, kFloat32);
  Stmt body = EvaluateNode::make(
      call(kInt32, "call_extern", {string_imm("tilewright_no_such_function"), load(a, {imm(0)})}));
  EXPECT_EQ(error_of([&] { compile(prim_func({a}, body)); }),
            "test: there is no C function tilewright_no_such_function in this process");
}

TEST(Llvm, UnknownCpuTripleAndFeature) {
  EXPECT_EQ(
      error_of([] { native_target(target::parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=zen99")); }),
      "target llvm: x86_64-unknown-linux-gnu has no CPU \"zen99\"");
  EXPECT_EQ(error_of([] { native_target(target::parse_target("llvm -mtriple=pdp11-unix")); }),
            "target llvm: cannot generate code for -mtriple=pdp11-unix");
  EXPECT_EQ(error_of([] { native_target(target::parse_target("llvm -mattr=avx512f")); }),
            "target llvm: feature \"avx512f\" of -mattr must begin with + or -");
}

TEST(Llvm, CodeForOtherMachines) {
  Buffer a = make_buffer("A", {imm(4)}, kFloat32);
  Var i = make_var("i");
  const ir::IRModule lowered =
      lower::lower_for_cpu("f", prim_func({a}, loop(i, imm(4), store(a, float_imm(1), {i}))));
  const auto assembly = [&](const char* target) {
    return emit_assembly(lowered, native_target(target::parse_target(target)));
  };
  EXPECT_THAT(assembly("llvm -mtriple=aarch64-linux-gnu"), testing::HasSubstr("__tvm_ffi_f"));
  EXPECT_THAT(assembly("llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d"),
              testing::HasSubstr("__tvm_ffi_f"));
}

// Accumulators of constant index become registers: no alloca is left.
TEST(Llvm, UnrolledTileStaysInRegisters) {
  Buffer a = make_buffer("A", {imm(64)}, kFloat32), y = make_buffer("Y", {imm(4)}, kFloat32),
         t = make_buffer("T", {imm(4)}, kFloat32, "local");
  Var k = make_var("k"), i = make_var("i"), j = make_var("j"), m = make_var("m");
  Stmt body =
      seq({loop(i, imm(4), store(t, float_imm(0), {i}), ForKind::kUnrolled),
           loop(k, imm(16),
                loop(j, imm(4), store(t, load(t, {j}) + load(a, {k * 4 + j}), {j}), ForKind::kUnrolled)),
           loop(m, imm(4), store(y, load(t, {m}), {m}), ForKind::kUnrolled)});
  const ir::IRModule lowered =
      lower::lower_for_cpu("f", prim_func({a, y}, AllocBufferNode::make(t, AttrMap{}, body)));
  const std::string text = emit_llvm_ir(lowered, native_target(target::parse_target("llvm")));
  const std::string compute = text.substr(
      text.find("@f_compute"), text.find("\n}", text.find("@f_compute")) - text.find("@f_compute"));
  EXPECT_THAT(compute, testing::Not(testing::HasSubstr("alloca")));
}

}  // namespace
}  // namespace tilewright::codegen
