// Operators against numbers worked out here with plain loops, or by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "op_case.h"

namespace tilewright::testing {
namespace {
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Array array(std::vector<int64_t> shape, std::vector<double> data, DataType dtype = kFloat32) {
  return {std::move(shape), std::move(data), dtype};
}

TEST(Op, EveryRowIsComplete) {
  for (const relax::OpInfo* op : relax::all_ops()) {
    EXPECT_TRUE(op->name.starts_with("relax.")) << op->name;
    EXPECT_TRUE(op->doc.ends_with(".")) << op->name;
    EXPECT_FALSE(relax::source_of(*op).empty()) << op->name;
    EXPECT_TRUE(op->infer) << op->name;
    op->attrs();
    op->complete({}, op->name);
  }
}

TEST(Op, UnaryMath) {
  const Array x = array({3}, {0.25, 1, 2.5});
  const std::vector<std::pair<const char*, double (*)(double)>> rows = {
      {"exp", std::exp},
      {"log", std::log},
      {"sqrt", std::sqrt},
      {"tanh", std::tanh},
      {"sin", std::sin},
      {"cos", std::cos},
      {"erf", std::erf},
      {"floor", std::floor},
      {"ceil", std::ceil},
      {"round", std::nearbyint},
      {"abs", std::fabs},
      {"rsqrt", [](double v) { return 1 / std::sqrt(v); }},
      {"negative", [](double v) { return -v; }},
      {"square", [](double v) { return v * v; }},
      {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"nn.silu", [](double v) { return v / (1 + std::exp(-v)); }},
      {"nn.gelu", [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2))); }}};
  for (const auto& [name, expected] : rows) {
    const Array y = run_op(name, {x})[0];
    for (size_t n = 0; n < 3; ++n) EXPECT_NEAR(y.data[n], expected(x.data[n]), 1e-6) << name;
  }
}

TEST(Op, SignsAndClips) {
  const Array x = array({4}, {-2, -0.5, 0, 3});
  EXPECT_THAT(run_op("sign", {x})[0].data, ElementsAre(-1, -1, 0, 1));
  EXPECT_THAT(run_op("nn.relu", {x})[0].data, ElementsAre(0, 0, 0, 3));
  EXPECT_THAT(run_op("nn.leakyrelu", {x}, {{"alpha", attr(0.5)}})[0].data, ElementsAre(-1, -0.25, 0, 3));
  EXPECT_THAT(run_op("clip", {x, scalar(-1.0), scalar(1.0)})[0].data, ElementsAre(-1, -0.5, 0, 1));
  EXPECT_THAT(run_op("astype", {x}, {{"dtype", text("int32")}})[0].data, ElementsAre(-2, 0, 0, 3));
}

TEST(Op, BinaryBroadcasts) {
  const Array a = array({2, 1}, {1, 2}), b = array({3}, {10, 20, 30});
  EXPECT_THAT(run_op("add", {a, b})[0].data, ElementsAre(11, 21, 31, 12, 22, 32));
  EXPECT_THAT(run_op("less", {b, array({}, {20})})[0].data, ElementsAre(1, 0, 0));
}

TEST(Op, IntegerDivisionAndRemainder) {
  const Array a = array({4}, {7, -7, 7, -7}, kInt32), b = array({4}, {2, 2, -2, -2}, kInt32);
  EXPECT_THAT(run_op("floor_divide", {a, b})[0].data, ElementsAre(3, -4, -4, 3));
  EXPECT_THAT(run_op("floor_mod", {a, b})[0].data, ElementsAre(1, 1, -1, -1));
  EXPECT_THAT(run_op("mod", {a, b})[0].data, ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(run_op("divide", {a, b})[0].data, ElementsAre(3, -3, -3, 3));
  EXPECT_THAT(run_op("power", {a, array({}, {3}, kInt32)})[0].data, ElementsAre(343, -343, 343, -343));
}

TEST(Op, WhereAndFma) {
  const Array c = array({3}, {1, 0, 1}, kBoolType), a = array({3}, {1, 2, 3}), b = array({}, {9});
  EXPECT_THAT(run_op("where", {c, a, b})[0].data, ElementsAre(1, 9, 3));
  EXPECT_THAT(run_op("ewise_fma", {a, a, b})[0].data, ElementsAre(10, 13, 18));
}

TEST(Op, Reductions) {
  const Array x = array({2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_THAT(run_op("sum", {x}, {{"axis", ints({1})}})[0].data, ElementsAre(9, 12));
  EXPECT_THAT(run_op("max", {x}, {{"axis", ints({0})}, {"keepdims", flag(true)}})[0].shape,
              ElementsAre(1, 3));
  EXPECT_THAT(run_op("mean", {x})[0].data, ElementsAre(3.5));
  EXPECT_THAT(run_op("prod", {x}, {{"axis", ints({-1})}})[0].data, ElementsAre(15, 48));
  EXPECT_THAT(run_op("argmax", {x}, {{"axis", num(1)}})[0].data, ElementsAre(1, 2));
  EXPECT_THAT(run_op("argmin", {x})[0].data, ElementsAre(0));
  EXPECT_NEAR(run_op("variance", {x})[0].data[0], 35.0 / 12, 1e-6);
  EXPECT_NEAR(run_op("std", {x})[0].data[0], std::sqrt(35.0 / 12), 1e-6);
  EXPECT_THAT(run_op("cumsum", {x}, {{"axis", num(1)}})[0].data, ElementsAre(1, 6, 9, 4, 6, 12));
}

TEST(Op, ArgmaxTakesTheFirstOfEqualsAndNan) {
  EXPECT_THAT(run_op("argmax", {array({4}, {1, 7, 7, 2})}, {{"axis", num(0)}})[0].data, ElementsAre(1));
  EXPECT_THAT(run_op("argmax", {array({3}, {1, NAN, 7})}, {{"axis", num(0)}})[0].data, ElementsAre(1));
  EXPECT_THAT(run_op("argmax", {array({2}, {-INFINITY, -INFINITY})}, {{"axis", num(0)}})[0].data,
              ElementsAre(0));
}

TEST(Op, MatmulBroadcastsBatches) {
  Array a = Array::some({2, 1, 5, 7}), b = Array::some({3, 7, 4}, kFloat32, 2);
  Array c = run_op("matmul", {a, b})[0];
  EXPECT_THAT(c.shape, ElementsAre(2, 3, 5, 4));
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t m = 0; m < 3; ++m) {
      double expected = 0;
      for (int64_t k = 0; k < 7; ++k) expected += a.at({n, 0, 4, k}) * b.at({m, k, 3});
      EXPECT_EQ(c.at({n, m, 4, 3}), expected);
    }
}

TEST(Op, MatmulOfVectors) {
  const Array a = array({3}, {1, 2, 3}), b = array({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_THAT(run_op("matmul", {a, b})[0].data, ElementsAre(4, 5));
  EXPECT_THAT(run_op("matmul", {a, a})[0].data, ElementsAre(14));
}

// The convolution by its definition, any strides, padding, dilation, groups.
double conv_at(Array& x, Array& w, int64_t n, int64_t o, int64_t y, int64_t z, int64_t stride, int64_t pad,
               int64_t dilation, int64_t groups) {
  double sum = 0;
  const int64_t per_group = w.shape[0] / groups;
  for (int64_t c = 0; c < w.shape[1]; ++c)
    for (int64_t i = 0; i < w.shape[2]; ++i)
      for (int64_t j = 0; j < w.shape[3]; ++j) {
        const int64_t p = y * stride - pad + i * dilation, q = z * stride - pad + j * dilation;
        if (p < 0 || q < 0 || p >= x.shape[2] || q >= x.shape[3]) continue;
        sum += x.at({n, o / per_group * w.shape[1] + c, p, q}) * w.at({o, c, i, j});
      }
  return sum;
}

void check_conv(std::vector<int64_t> x_shape, std::vector<int64_t> w_shape, int64_t stride, int64_t pad,
                int64_t dilation, int64_t groups) {
  Array x = Array::some(x_shape), w = Array::some(w_shape, kFloat32, 2);
  Array y = run_op("nn.conv2d", {x, w},
                   {{"strides", ints({stride, stride})},
                    {"padding", ints({pad, pad})},
                    {"dilation", ints({dilation, dilation})},
                    {"groups", num(groups)}})[0];
  for (int64_t o = 0; o < y.shape[1]; ++o)
    for (int64_t i = 0; i < y.shape[2]; ++i)
      for (int64_t j = 0; j < y.shape[3]; ++j)
        EXPECT_EQ(y.at({0, o, i, j}), conv_at(x, w, 0, o, i, j, stride, pad, dilation, groups));
}
TEST(Op, Conv2d) { check_conv({1, 3, 7, 5}, {4, 3, 3, 3}, 1, 1, 1, 1); }
TEST(Op, Conv2dStrided) { check_conv({1, 2, 9, 7}, {3, 2, 3, 3}, 2, 1, 2, 1); }
TEST(Op, Conv2dGrouped) { check_conv({1, 4, 5, 5}, {6, 2, 3, 3}, 1, 0, 1, 2); }
TEST(Op, Conv2dDepthwise) { check_conv({1, 4, 5, 5}, {4, 1, 3, 3}, 1, 1, 1, 4); }

TEST(Op, Conv2dInAnotherLayout) {
  Array x = Array::some({1, 3, 5, 7}), w = Array::some({2, 3, 3, 3}, kFloat32, 2);
  const Array y = run_op("nn.conv2d", {x, w})[0];
  const Array xt = run_op("permute_dims", {x}, {{"axes", ints({0, 2, 3, 1})}})[0],
              wt = run_op("permute_dims", {w}, {{"axes", ints({2, 3, 1, 0})}})[0];
  const Array yt =
      run_op("nn.conv2d", {xt, wt}, {{"data_layout", text("NHWC")}, {"kernel_layout", text("HWIO")}})[0];
  EXPECT_EQ(run_op("permute_dims", {yt}, {{"axes", ints({0, 3, 1, 2})}})[0].data, y.data);
}

TEST(Op, Conv2dTransposeIsTheAdjoint) {  // <conv(x), y> == <x, conv_transpose(y)>
  Array x = Array::some({1, 2, 7, 7}), w = Array::some({3, 2, 3, 3}, kFloat32, 2);
  const AttrMap attrs{{"strides", ints({2})}, {"padding", ints({1})}};
  Array y = run_op("nn.conv2d", {x, w}, attrs)[0];
  Array g = Array::some(y.shape, kFloat32, 3);
  Array back = run_op("nn.conv2d_transpose", {g, w}, attrs)[0];
  ASSERT_EQ(back.shape, x.shape);
  double left = 0, right = 0;
  for (size_t n = 0; n < y.data.size(); ++n) left += y.data[n] * g.data[n];
  for (size_t n = 0; n < x.data.size(); ++n) right += x.data[n] * back.data[n];
  EXPECT_NEAR(left, right, 1e-6);
}

TEST(Op, Pools) {
  const Array x = array({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const AttrMap attrs{{"pool_size", ints({2})}, {"strides", ints({2})}, {"padding", ints({1})}};
  EXPECT_THAT(run_op("nn.max_pool2d", {x}, attrs)[0].data, ElementsAre(1, 3, 7, 9));
  EXPECT_THAT(run_op("nn.avg_pool2d", {x}, attrs)[0].data, ElementsAre(1, 2.5, 5.5, 7));
  AttrMap with_pad = attrs;
  with_pad.set("count_include_pad", flag(true));
  EXPECT_THAT(run_op("nn.avg_pool2d", {x}, with_pad)[0].data, ElementsAre(0.25, 1.25, 2.75, 7));
  EXPECT_THAT(run_op("nn.max_pool2d", {x},
                     {{"pool_size", ints({2})}, {"strides", ints({2})}, {"ceil_mode", flag(true)}})[0]
                  .data,
              ElementsAre(5, 6, 8, 9));
  EXPECT_THAT(run_op("nn.avg_pool2d", {x},
                     {{"pool_size", ints({2})}, {"strides", ints({2})}, {"ceil_mode", flag(true)}})[0]
                  .data,
              ElementsAre(3, 4.5, 7.5, 9));
  EXPECT_THAT(run_op("nn.adaptive_avg_pool2d", {x}, {{"output_size", ints({1})}})[0].data, ElementsAre(5));
  EXPECT_THAT(run_op("nn.adaptive_avg_pool2d", {x}, {{"output_size", ints({2})}})[0].data,
              ElementsAre(3, 4, 6, 7));
}

TEST(Op, Softmax) {
  Array x = Array::some({2, 5});
  Array y = run_op("nn.softmax", {x})[0], z = run_op("nn.log_softmax", {x})[0];
  for (int64_t i = 0; i < 2; ++i) {
    double total = 0;
    for (int64_t j = 0; j < 5; ++j) total += std::exp(x.at({i, j}));
    for (int64_t j = 0; j < 5; ++j) {
      EXPECT_NEAR(y.at({i, j}), std::exp(x.at({i, j})) / total, 1e-6);
      EXPECT_NEAR(z.at({i, j}), x.at({i, j}) - std::log(total), 1e-5);
    }
  }
  EXPECT_THAT(run_op("nn.softmax", {array({2}, {1000, 1000})})[0].data, ElementsAre(0.5, 0.5));
}

TEST(Op, Norms) {
  Array x = Array::some({2, 3, 5}), gamma = Array::some({3}, kFloat32, 2),
        beta = Array::some({3}, kFloat32, 3), mean = Array::some({3}, kFloat32, 4);
  Array var = array({3}, {1, 2, 3});
  Array y = run_op("nn.batch_norm", {x, gamma, beta, mean, var})[0];
  for (int64_t c = 0; c < 3; ++c)
    EXPECT_NEAR(y.at({1, c, 4}),
                (x.at({1, c, 4}) - mean.data[static_cast<size_t>(c)]) /
                        std::sqrt(var.data[static_cast<size_t>(c)] + 1e-5) *
                        gamma.data[static_cast<size_t>(c)] +
                    beta.data[static_cast<size_t>(c)],
                1e-5);
  Array g = array({5}, {1, 1, 1, 1, 1}), b = array({5}, {0, 0, 0, 0, 0});
  Array l = run_op("nn.layer_norm", {x, g, b})[0];
  double total = 0;
  for (int64_t k = 0; k < 5; ++k) total += l.at({1, 2, k});
  EXPECT_NEAR(total, 0, 1e-5);
  const Array r = run_op("nn.rms_norm", {array({1, 2}, {3, 4}), array({2}, {1, 1})})[0];
  EXPECT_NEAR(r.data[0], 3 / std::sqrt(12.5), 1e-5);
}

TEST(Op, ShapesAndOrders) {
  const Array x = array({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(run_op("reshape", {x, shape_expr({3, -1})})[0].shape, ElementsAre(3, 2));
  EXPECT_EQ(run_op("reshape", {x, shape_expr({3, 2})})[0].data, x.data);
  EXPECT_THAT(run_op("permute_dims", {x})[0].data, ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(run_op("expand_dims", {x}, {{"axis", ints({0, -1})}})[0].shape, ElementsAre(1, 2, 3, 1));
  EXPECT_THAT(run_op("squeeze", {array({1, 2, 1}, {1, 2})}, {{"axis", ints({0})}})[0].shape,
              ElementsAre(2, 1));
  EXPECT_THAT(run_op("flatten", {x})[0].shape, ElementsAre(6));
  EXPECT_THAT(run_op("broadcast_to", {array({3}, {1, 2, 3}), shape_expr({2, 3})})[0].data,
              ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(run_op("tile", {array({2}, {1, 2})}, {{"repeats", ints({2, 2})}})[0].data,
              ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(run_op("repeat", {array({2}, {1, 2})}, {{"repeats", num(2)}})[0].data, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(run_op("flip", {x}, {{"axis", num(1)}})[0].data, ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(Op, ConcatAndSplit) {
  const Array a = array({2, 1}, {1, 2}), b = array({2, 2}, {3, 4, 5, 6});
  const Array c = run_op("concat", {std::vector<Array>{a, b}}, {{"axis", num(1)}})[0];
  EXPECT_THAT(c.data, ElementsAre(1, 3, 4, 2, 5, 6));
  const std::vector<Array> parts =
      run_op("split", {c}, {{"indices_or_sections", ints({1})}, {"axis", num(1)}});
  EXPECT_EQ(parts[0].data, a.data);
  EXPECT_EQ(parts[1].data, b.data);
  EXPECT_EQ(run_op("split", {c}, {{"indices_or_sections", num(3)}, {"axis", num(1)}}).size(), 3u);
}

TEST(Op, SlicesLikeNumpy) {
  const Array x = array({7}, {0, 1, 2, 3, 4, 5, 6});
  auto slice = [&](int64_t begin, int64_t end, int64_t stride) {
    return run_op("strided_slice", {x, scalars({0}), scalars({begin}), scalars({end}), scalars({stride})})[0]
        .data;
  };
  EXPECT_THAT(slice(1, 6, 2), ElementsAre(1, 3, 5));
  EXPECT_THAT(slice(-3, INT64_MAX, 1), ElementsAre(4, 5, 6));
  EXPECT_THAT(slice(5, 1, -2), ElementsAre(5, 3));
  EXPECT_THAT(slice(-1, -INT64_MAX, -3), ElementsAre(6, 3, 0));
  EXPECT_THAT(slice(5, 2, 1), ElementsAre());
}

TEST(Op, Take) {
  const Array x = array({2, 3}, {1, 2, 3, 4, 5, 6}), at = array({2}, {2, -3}, kInt64);
  EXPECT_THAT(run_op("take", {x, at}, {{"axis", num(1)}})[0].data, ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(run_op("take", {x, array({}, {9}, kInt64)}, {{"axis", num(1)}, {"mode", text("clip")}})[0].data,
              ElementsAre(3, 6));
  EXPECT_THAT(
      run_op("take", {x, array({1}, {-1}, kInt64)}, {{"axis", num(0)}, {"mode", text("wrap")}})[0].data,
      ElementsAre(4, 5, 6));
}

TEST(Op, Pads) {
  const Array x = array({3}, {1, 2, 3});
  EXPECT_THAT(run_op("nn.pad", {x}, {{"pad_width", ints({1, 2})}, {"pad_value", attr(9.0)}})[0].data,
              ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(run_op("nn.pad", {x}, {{"pad_width", ints({2, 2})}, {"pad_mode", text("reflect")}})[0].data,
              ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(run_op("nn.pad", {x}, {{"pad_width", ints({1, 1})}, {"pad_mode", text("edge")}})[0].data,
              ElementsAre(1, 1, 2, 3, 3));
}

TEST(Op, Creation) {
  EXPECT_THAT(run_op("ones", {shape_expr({2})}, {{"dtype", text("int32")}})[0].data, ElementsAre(1, 1));
  EXPECT_THAT(run_op("full", {shape_expr({2}), array({}, {7})})[0].data, ElementsAre(7, 7));
  EXPECT_THAT(run_op("arange", {scalar(int64_t{1}), scalar(int64_t{8}), scalar(int64_t{3})})[0].data,
              ElementsAre(1, 4, 7));
  EXPECT_THAT(run_op("shape_to_tensor", {shape_expr({5, 7, 3})})[0].data, ElementsAre(5, 7, 3));
  EXPECT_THAT(run_op("zeros_like", {array({2}, {1, 2})})[0].data, ElementsAre(0, 0));
}

// ---- what is refused

std::string refused(std::string_view name, const std::vector<Array>& arrays, AttrMap attrs = {}) {
  std::vector<Expr> args;
  for (const Array& one : arrays) args.push_back(var_like("x", one));
  return error_of([&] { typed_call(name, args, attrs); });
}
Array shaped(std::vector<int64_t> shape, DataType dtype = kFloat32) {
  return Array::zeros(std::move(shape), dtype);
}

TEST(OpErrors, Matmul) {
  EXPECT_EQ(refused("matmul", {shaped({2, 3}), shaped({4, 5})}),
            "matmul: x1 is [2, 3], x2 is [4, 5]: contracted lengths 3 and 4 differ");
  EXPECT_EQ(refused("matmul", {shaped({}), shaped({4, 5})}), "matmul: x1 is a scalar; use multiply");
}
TEST(OpErrors, Broadcast) {
  EXPECT_EQ(refused("add", {shaped({2, 3}), shaped({4})}),
            "add: the shapes [2, 3] and [4] do not broadcast: 3 against 4 in dimension 1 from the end");
}
TEST(OpErrors, Dtypes) {
  EXPECT_EQ(refused("add", {shaped({2}), shaped({2}, kInt32)}),
            "add: x1 is float32, but x2 is int32\nhelp: cast one of them, e.g. R.astype(x2, \"float32\")");
  EXPECT_EQ(
      refused("exp", {shaped({2}, kInt32)}),
      "exp: x is int32[2], expected a floating-point tensor\nhelp: cast it, e.g. R.astype(x, \"float32\")");
}
TEST(OpErrors, Counts) {
  EXPECT_EQ(refused("add", {shaped({2})}), "add: 1 argument given, expected 2 (x1, x2)");
}
TEST(OpErrors, Axis) {
  EXPECT_EQ(refused("sum", {shaped({2, 3})}, {{"axis", ints({2})}}),
            "sum: axis 2 is outside of a tensor with 2 dimensions");
  EXPECT_EQ(refused("sum", {shaped({2, 3})}, {{"axis", ints({1, -1})}}), "sum: axis -1 is given twice");
}
TEST(OpErrors, Reshape) {
  EXPECT_EQ(error_of([] { typed_call("reshape", {var_like("x", shaped({2, 3})), shape_expr({4})}); }),
            "reshape: x is [2, 3] with 6 elements, shape [4] has 4");
  EXPECT_EQ(error_of([] { typed_call("reshape", {var_like("x", shaped({2, 3})), shape_expr({4, -1})}); }),
            "reshape: x is [2, 3] with 6 elements, which do not divide into shape [4, -1]");
}
TEST(OpErrors, Conv) {
  EXPECT_EQ(
      refused("nn.conv2d", {shaped({1, 3, 5, 5}), shaped({4, 2, 3, 3})}),
      "nn.conv2d: data is [1, 3, 5, 5] with 3 channels, weight is [4, 2, 3, 3] for 2 channels in 1 group");
  EXPECT_EQ(refused("nn.conv2d", {shaped({1, 3, 2, 2}), shaped({4, 3, 3, 3})}),
            "nn.conv2d: the window of weight [4, 3, 3, 3] is larger than data [1, 3, 2, 2] with padding 0");
}
TEST(OpErrors, UnknownAttributeAndOperator) {
  EXPECT_EQ(refused("sum", {shaped({2})}, {{"axes", ints({0})}}),
            "sum: there is no option \"axes\"\nhelp: did you mean axis?");
  EXPECT_EQ(error_of([] { relax::call_op("matmull", {}); }),
            "there is no graph operator \"matmull\"\nhelp: did you mean matmul?");
}
TEST(OpErrors, Concat) {
  const Expr tuple =
      relax::TupleNode::make(std::vector<Expr>{var_like("a", shaped({2, 3})), var_like("b", shaped({2, 4}))});
  EXPECT_EQ(error_of([&] { typed_call("concat", {tuple}); }),
            "concat: tensor 0 is [2, 3], but tensor 1 is [2, 4]: they differ in dimension 1");
}

// ---- symbolic dimensions

TEST(OpSymbolic, ShapesFollow) {
  const tir::Var n = tir::make_var("n", kInt64), m = tir::make_var("m", kInt64);
  const Expr x =
      relax::Var(relax::VarNode::make("x", Type(relax::tensor_type({n, extent_imm(4)}, kFloat32))));
  const Expr w =
      relax::Var(relax::VarNode::make("w", Type(relax::tensor_type({extent_imm(4), m}, kFloat32))));
  auto type = [](std::string_view name, std::vector<Expr> args, AttrMap attrs = {}) {
    return relax::type_text(typed_call(name, args, attrs)->type);
  };
  EXPECT_EQ(type("matmul", {x, w}), "R.Tensor((n, m), \"float32\")");
  EXPECT_EQ(type("flatten", {x}), "R.Tensor((n * 4,), \"float32\")");
  EXPECT_EQ(type("concat", {relax::TupleNode::make(std::vector<Expr>{x, x})}),
            "R.Tensor((n * 2, 4), \"float32\")");
  EXPECT_EQ(type("sum", {x}, {{"axis", ints({1})}}), "R.Tensor((n,), \"float32\")");
  EXPECT_EQ(type("add", {x, x}), "R.Tensor((n, 4), \"float32\")");
  EXPECT_EQ(type("reshape", {x, relax::ShapeExprNode::make(relax::Shape{extent_imm(-1), extent_imm(2)})}),
            "R.Tensor((n * 2, 2), \"float32\")");
}

}  // namespace
}  // namespace tilewright::testing
