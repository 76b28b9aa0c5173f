#include "tilewright/te/create_prim_func.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"

namespace tilewright::testing {
namespace {
using te::Tensor;
using ::testing::ElementsAre;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.help_text().empty() ? error.text() : error.text() + "\nhelp: " + error.help_text();
  }
  return "no error";
}

const BlockNode* block_named(const PrimFunc& func, std::string_view name) {
  const BlockNode* found = nullptr;
  walk(func->body, [&](const BlockNode* block) {
    if (block->name_hint == name) found = block;
  });
  return found;
}

struct Matmul {
  Tensor a = te::placeholder(dims({5, 7}, kInt32), kFloat32, "A");
  Tensor b = te::placeholder(dims({7, 3}, kInt32), kFloat32, "B");
  IterVar k = te::reduce_axis(imm(7), "k");
  Tensor c = te::compute(dims({5, 3}, kInt32),
                         [&](Var i, Var j) { return te::sum(a(i, k->var) * b(k->var, j), {k}); },
                         {.name = "C", .axis_names = {"i", "j"}});
};

TEST(CreatePrimFunc, MatmulIsOneReductionBlock) {
  Matmul m;
  PrimFunc func = te::create_prim_func({m.a, m.b, m.c});

  Buffer A = make_buffer("A", dims({5, 7}, kInt32), kFloat32),
         B = make_buffer("B", dims({7, 3}, kInt32), kFloat32);
  Buffer C = make_buffer("C", dims({5, 3}, kInt32), kFloat32);
  Var i = make_var("i"), j = make_var("j"), k = make_var("k");
  Var vi = make_var("v_i"), vj = make_var("v_j"), vk = make_var("v_k");
  auto axis = [](const Var& var, int64_t extent, IterType type) {
    return IterVarNode::make(var, make_range(imm(0), imm(extent)), type);
  };
  auto point = [](const Buffer& buffer, const Var& x, const Var& y) {
    return BufferRegion(
        BufferRegionNode::make(buffer, std::vector<Range>{make_range(x, imm(1)), make_range(y, imm(1))}));
  };
  Stmt init = store(C, float_imm(0), {vi, vj});
  Stmt update = store(C, load(C, {vi, vj}) + load(A, {vi, vk}) * load(B, {vk, vj}), {vi, vj});
  Block block = BlockNode::make(
      "C",
      std::vector<IterVar>{axis(vi, 5, IterType::kSpatial), axis(vj, 3, IterType::kSpatial),
                           axis(vk, 7, IterType::kReduce)},
      std::vector<Buffer>{}, std::vector<BufferRegion>{point(A, vi, vk), point(B, vk, vj)},
      std::vector<BufferRegion>{point(C, vi, vj)}, std::vector<MatchBufferRegion>{}, AttrMap{}, init, update);
  Stmt body = BlockRealizeNode::make(std::vector<PrimExpr>{i, j, k}, PrimExpr(bool_imm(true)), block);
  body = loop(i, imm(5), loop(j, imm(3), loop(k, imm(7), body)));
  Block root =
      BlockNode::make("root", std::vector<IterVar>{}, std::vector<Buffer>{}, std::vector<BufferRegion>{},
                      std::vector<BufferRegion>{}, std::vector<MatchBufferRegion>{}, AttrMap{}, Stmt(), body);
  std::vector<Var> params{make_var("var_A", DataType::handle()), make_var("var_B", DataType::handle()),
                          make_var("var_C", DataType::handle())};
  PrimFunc expected = PrimFuncNode::make(
      params, std::vector<Buffer>{A, B, C},
      Stmt(BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), root)), Type(),
      AttrMap{{"global_symbol", string_imm("main")}, {"tir.noalias", bool_imm(true)}});
  auto mismatch = first_mismatch(func, expected);
  EXPECT_FALSE(mismatch) << mismatch->path << ": " << mismatch->reason << "\n" << repr(func);
  EXPECT_EQ(func->params[0]->name_hint, "var_A");
  EXPECT_EQ(block_named(func, "C")->iter_vars[2]->var->name_hint, "v_k");
}

TEST(CreatePrimFunc, MatmulComputesTheProduct) {
  Matmul m;
  Array x = Array::some({5, 7}), y = Array::some({7, 3}, kFloat32, 2);
  Array z = evaluate(m.c, {{m.a, x}, {m.b, y}});
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double expected = 0;
      for (int64_t k = 0; k < 7; ++k) expected += x.at({i, k}) * y.at({k, j});
      EXPECT_EQ(z.at({i, j}), expected);
    }
  }
}

TEST(CreatePrimFunc, TensorsThatAreNoArgumentsAreAllocated) {
  Matmul m;
  Tensor d =
      te::compute(m.c.shape(), [&](Var i, Var j) { return max(m.c(i, j), float_imm(0)); }, {.name = "D"});
  PrimFunc inner = te::create_prim_func({m.a, m.b, d});
  EXPECT_EQ(inner->params.size(), 3u);
  EXPECT_EQ(block_named(inner, "root")->alloc_buffers.size(), 1u);
  EXPECT_EQ(block_named(inner, "root")->alloc_buffers[0]->name, "C");
  PrimFunc outer = te::create_prim_func({m.a, m.b, m.c, d});
  EXPECT_EQ(outer->params.size(), 4u);
  EXPECT_EQ(block_named(outer, "root")->alloc_buffers.size(), 0u);
}

TEST(CreatePrimFunc, EqualNamesAreNumbered) {
  Tensor a = te::placeholder(dims({3}), kFloat32, "A");
  Tensor b = te::compute(a.shape(), [&](Var i) { return a(i) + float_imm(1); });
  Tensor c = te::compute(a.shape(), [&](Var i) { return b(i) * float_imm(2); });
  PrimFunc func = te::create_prim_func({a, c});
  EXPECT_TRUE(block_named(func, "compute"));
  EXPECT_TRUE(block_named(func, "compute_1"));
}

TEST(CreatePrimFunc, SymbolicDimensionIsBoundByAParameter) {
  Var n = make_var("n", kInt64);
  Tensor a = te::placeholder({n}, kFloat32, "A");
  Tensor b = te::compute({n}, [&](Var i) { return a(i) + a(i); }, {.name = "B"});
  PrimFunc func = te::create_prim_func({a, b});
  Array x = Array::some({5}), y = Array::zeros({5});
  Evaluator().run(func, {&x, &y});
  EXPECT_EQ(y.data[4], 2 * x.data[4]);
}

TEST(CreatePrimFunc, ScalarVariableIsAParameter) {
  Var s = make_var("s", kInt64);
  Tensor a = te::placeholder(dims({5}), kFloat32, "A");
  Tensor b = te::compute(dims({5}), [&](Var i) { return a(floormod(i + s, PrimExpr(imm(5, kInt64)))); },
                         {.name = "B"});
  Array x = Array::some({5}), y = Array::zeros({5}), two{{}, {2}, kInt64};
  Evaluator().run(te::create_prim_func({a, s, b}), {&x, &two, &y});
  EXPECT_EQ(y.data[4], x.data[1]);
}

TEST(CreatePrimFunc, ConstantDistanceReadsAreOneRegion) {
  Tensor a = te::placeholder(dims({7}), kFloat32, "A");
  Tensor b = te::compute(dims({5}), [&](Var i) { return a(i) + a(i + 2); }, {.name = "B"});
  PrimFunc func = te::create_prim_func({a, b});
  const BlockNode* block = block_named(func, "B");
  ASSERT_EQ(block->reads.size(), 1u);
  EXPECT_EQ(block->reads[0]->region[0]->min.get(), block->iter_vars[0]->var.get());
  EXPECT_TRUE(is_const_int(block->reads[0]->region[0]->extent, 3));
}

TEST(CreatePrimFunc, IndirectReadIsOneElement) {
  Tensor a = te::placeholder(dims({7}), kFloat32, "A"), index = te::placeholder(dims({5}), kInt64, "I");
  Tensor b = te::compute(dims({5}), [&](Var i) { return a(index(i)); }, {.name = "B"});
  const PrimFunc func = te::create_prim_func({a, index, b});
  const BlockNode* block = block_named(func, "B");
  ASSERT_EQ(block->reads.size(), 2u);
  for (const BufferRegion& read : block->reads)
    EXPECT_TRUE(is_const_int(read->region[0]->extent, 1)) << repr(read);
}

TEST(CreatePrimFunc, ScalarOutputHasOneUnitAxis) {
  Tensor a = te::placeholder({}, kFloat32, "A");
  Tensor b = te::compute({}, [&](const std::vector<Var>&) { return a() * float_imm(3); }, {.name = "B"});
  PrimFunc func = te::create_prim_func({a, b});
  EXPECT_EQ(block_named(func, "B")->iter_vars.size(), 1u);
  Array x{{}, {2.5}, kFloat32}, y = Array::zeros({});
  Evaluator().run(func, {&x, &y});
  EXPECT_EQ(y.data[0], 7.5);
}

TEST(CreatePrimFunc, SeveralValuesReduceTogether) {  // argmax: the position of the largest
  Tensor a = te::placeholder(dims({5, 7}), kFloat32, "A");
  IterVar k = te::reduce_axis(imm(7, kInt64), "k");
  CommReducer argmax = te::comm_reducer(
      [](const std::vector<Var>& x, const std::vector<Var>& y) {
        PrimExpr left = PrimExpr(x[1]) >= PrimExpr(y[1]);
        return std::vector<PrimExpr>{select(left, x[0], y[0]), select(left, x[1], y[1])};
      },
      {imm(-1, kInt64), min_value(kFloat32)});
  std::vector<Tensor> out = te::compute_many(
      dims({5}),
      [&](const std::vector<Var>& i) { return te::reduce(argmax, {k->var, a(i[0], k->var)}, {k}); },
      {.name = "argmax"});
  Array x = Array::some({5, 7}), index = Array::zeros({5}, kInt64), value = Array::zeros({5});
  Evaluator().run(te::create_prim_func({a, out[0], out[1]}), {&x, &index, &value});
  for (int64_t i = 0; i < 5; ++i) {
    auto row = x.data.begin() + i * 7;
    EXPECT_EQ(index.at({i}), static_cast<double>(std::max_element(row, row + 7) - row));
    EXPECT_EQ(value.at({i}), *std::max_element(row, row + 7));
  }
}

TEST(Compute, MissingValuesAreRefused) {
  EXPECT_EQ(error_of([] {
              te::compute(dims({5}), [](const std::vector<Var>&) { return PrimExpr(); }, {.name = "B"});
            }),
            "computation B has no value for an element");
  CommReducer sum = te::comm_reducer(
      [](const std::vector<Var>& x, const std::vector<Var>& y) { return std::vector<PrimExpr>{x[0] + y[0]}; },
      {imm(0, kInt64)});
  IterVar k = te::reduce_axis(imm(7, kInt64), "k");
  EXPECT_EQ(error_of([&] { te::reduce(sum, {k->var, k->var}, {k}); }), "reduce: 2 values for a reducer of 1");
}

TEST(CreatePrimFunc, ConditionSkipsElements) {
  Tensor a = te::placeholder(dims({7}), kFloat32, "A");
  IterVar k = te::reduce_axis(imm(7, kInt64), "k");
  Tensor b = te::compute({}, [&](const std::vector<Var>&) {
    return te::sum(a(k->var), {k}, PrimExpr(k->var) < PrimExpr(imm(3, kInt64)));
  });
  Array x{{7}, {1, 2, 4, 8, 16, 32, 64}, kFloat32};
  EXPECT_EQ(evaluate(b, {{a, x}}).data[0], 7);
}

TEST(CreatePrimFunc, IndexDtypeIsThatOfTheOption) {
  Matmul m;
  PrimFunc func = te::create_prim_func({m.a, m.b, m.c}, {.index_dtype = kInt64});
  walk(func->body, [&](const ForNode* loop) { EXPECT_EQ(loop->loop_var->dtype, kInt64); });
  Array x = Array::some({5, 7}), y = Array::some({7, 3}), z = Array::zeros({5, 3});
  Evaluator().run(func, {&x, &y, &z});
}

TEST(CreatePrimFunc, MissingPlaceholder) {
  Matmul m;
  EXPECT_EQ(error_of([&] { te::create_prim_func({m.a, m.c}); }),
            "create_prim_func: placeholder B is read, but not among the arguments");
}

TEST(CreatePrimFunc, TensorGivenTwice) {
  Matmul m;
  EXPECT_EQ(error_of([&] { te::create_prim_func({m.a, m.b, m.a, m.c}); }),
            "create_prim_func: tensor A is given twice");
}

TEST(CreatePrimFunc, NothingComputed) {
  Matmul m;
  EXPECT_EQ(error_of([&] { te::create_prim_func({m.a, m.b}); }),
            "create_prim_func: nothing is computed: all arguments are placeholders");
}

TEST(CreatePrimFunc, ReductionInsideAnExpression) {
  Matmul m;
  Tensor d =
      te::compute(dims({5}, kInt32), [&](Var i) { return te::sum(m.a(i, m.k->var), {m.k}) + float_imm(1); },
                  {.name = "D"});
  EXPECT_EQ(error_of([&] { te::create_prim_func({m.a, d}); }),
            "create_prim_func: a reduction must be the whole body of D\nhelp: compute the reduction into a "
            "separate tensor");
}

TEST(CreatePrimFunc, UnknownVariable) {
  Var n = make_var("n", kInt64);
  Tensor a = te::placeholder(dims({5}), kFloat32, "A");
  Tensor b = te::compute({n}, [&](Var i) { return a(i); }, {.name = "B"});
  Tensor c = te::compute(dims({5}), [&](Var i) { return b(i); }, {.name = "C"});
  EXPECT_EQ(error_of([&] { te::create_prim_func({a, c}); }),
            "create_prim_func: B uses variable n, which is neither an argument nor a dimension of one\nhelp: "
            "pass n "
            "among the arguments");
}

TEST(Compute, WrongNumberOfIndices) {
  Tensor a = te::placeholder(dims({5, 7}), kFloat32, "A");
  EXPECT_EQ(error_of([&] { a(imm(0)); }), "tensor A has 2 dimensions, but is read with 1 index");
}

TEST(Compute, WrongNumberOfAxes) {
  EXPECT_EQ(error_of([&] { te::compute(dims({5, 7}), [&](Var i) { return PrimExpr(i); }); }),
            "compute: the function takes 1 axes, but the shape has 2 dimensions");
}

}  // namespace
}  // namespace tilewright::testing
