// Random expressions over data of all dtypes: C's operators, precedence and conversions give what LLVM's code
// gives.
#include <gtest/gtest.h>

#include <cstring>

#include "../fuzz/fuzz.h"
#include "c_testing.h"
#include "tilewright/script/print.h"

namespace tilewright::codegen {
namespace {
using namespace tir;
using runtime::Tensor;
using runtime::Value;

constexpr int64_t kLength = 61;
const std::vector<DataType> kIntegers = {DataType::int_(8),  DataType::uint(8),  DataType::int_(16),
                                         DataType::uint(16), DataType::int_(32), DataType::uint(32),
                                         DataType::int_(64), DataType::uint(64)};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    for (const DataType dtype : dtypes())
      inputs_.push_back(make_buffer("X" + dtype.str(), {imm(kLength)}, dtype));
  }

  static std::vector<DataType> dtypes() {
    std::vector<DataType> all = kIntegers;
    all.push_back(kBoolType);
    all.push_back(kFloat32);
    return all;
  }

  /// Y[i] = a random expression, for each dtype.
  PrimFunc function() {
    std::vector<Buffer> buffers = inputs_;
    std::vector<Stmt> stores;
    for (const DataType dtype : dtypes()) {
      Buffer out = make_buffer("Y" + dtype.str(), {imm(kLength)}, dtype);
      stores.push_back(store(out, value(dtype, 5), {index_}));
      buffers.push_back(out);
    }
    std::vector<Var> params;
    for (const Buffer& buffer : buffers)
      params.push_back(make_var(buffer->name + "_handle", DataType::handle()));
    return PrimFuncNode::make(params, buffers, loop(index_, imm(kLength), seq(std::move(stores))));
  }

 private:
  PrimExpr value(DataType dtype, int depth) {
    if (depth == 0 || random_.chance(10)) return leaf(dtype);
    if (random_.chance(10)) return choice(dtype, depth);
    if (random_.chance(10)) {
      const Var var = make_var("v", dtype);
      const PrimExpr bound = value(dtype, depth - 1);
      lets_.push_back(var);
      PrimExpr body = value(dtype, depth - 1);
      lets_.pop_back();
      return LetNode::make(bound, var, body);
    }
    if (dtype.is_bool()) return condition(depth);
    if (dtype.is_float()) return real(dtype, depth);
    return whole(dtype, depth);
  }

  PrimExpr leaf(DataType dtype) {
    for (const Var& var : lets_) {
      if (var->dtype == dtype && random_.chance(50)) return var;
    }
    if (random_.chance(30)) {
      if (dtype.is_bool()) return bool_imm(random_.chance(50));
      if (dtype.is_float()) return float_imm(static_cast<double>(random_.between(-9, 9)));
      return imm(random_.between(dtype.is_int() ? -9 : 0, 9), dtype);
    }
    for (const Buffer& buffer : inputs_) {
      if (buffer->dtype == dtype) return load(buffer, {index_});
    }
    return PrimExpr();
  }

  PrimExpr choice(DataType dtype, int depth) {
    PrimExpr condition = value(kBoolType, depth - 1), a = value(dtype, depth - 1),
             b = value(dtype, depth - 1);
    if (random_.chance(50)) return SelectNode::make(condition, a, b);
    return call(dtype, "if_then_else", {condition, a, b});
  }

  PrimExpr condition(int depth) {
    if (random_.chance(40)) {
      static const std::vector<Kind> kLogic = {Kind::kAnd, Kind::kOr};
      return make_binary(random_.pick(kLogic), value(kBoolType, depth - 1), value(kBoolType, depth - 1));
    }
    if (random_.chance(20)) return NotNode::make(value(kBoolType, depth - 1));
    static const std::vector<Kind> kOrder = {Kind::kEQ, Kind::kNE, Kind::kLT,
                                             Kind::kLE, Kind::kGT, Kind::kGE};
    const DataType dtype = random_.pick(dtypes());
    const bool is_equality = dtype.is_bool();
    return make_binary(is_equality ? Kind::kEQ : random_.pick(kOrder), value(dtype, depth - 1),
                       value(dtype, depth - 1));
  }

  // small whole numbers, so that every rounding gives the same
  PrimExpr real(DataType dtype, int depth) {
    if (random_.chance(20)) return tir::cast(dtype, value(DataType::int_(8), depth - 1));
    static const std::vector<Kind> kKinds = {Kind::kAdd, Kind::kSub, Kind::kMin, Kind::kMax};
    return make_binary(random_.pick(kKinds), value(dtype, depth - 1), value(dtype, depth - 1));
  }

  PrimExpr whole(DataType dtype, int depth) {
    const PrimExpr a = value(dtype, depth - 1);
    if (random_.chance(15)) {
      std::vector<DataType> others = kIntegers;
      others.push_back(kBoolType);
      return CastNode::make(dtype, value(random_.pick(others), depth - 1));
    }
    if (random_.chance(10)) return call(dtype, random_.chance(50) ? "bitwise_not" : "abs", {a});
    const PrimExpr b = value(dtype, depth - 1);
    static const std::vector<std::string_view> kBits = {"bitwise_and", "bitwise_or", "bitwise_xor",
                                                        "shift_left", "shift_right"};
    if (random_.chance(30)) return call(dtype, random_.pick(kBits), {a, b});
    static const std::vector<Kind> kKinds = {Kind::kAdd,      Kind::kSub, Kind::kMul,
                                             Kind::kDiv,      Kind::kMod, Kind::kFloorDiv,
                                             Kind::kFloorMod, Kind::kMin, Kind::kMax};
    return make_binary(random_.pick(kKinds), a, b);
  }

  fuzz::Random random_;
  std::vector<Buffer> inputs_;
  std::vector<Var> lets_;
  const Var index_ = make_var("i");
};

// Any bits for integers, 0 or 1 for bool, small whole numbers for float32.
std::vector<Value> arguments(uint64_t seed) {
  fuzz::Random random(seed);
  std::vector<Value> args;
  for (int round = 0; round < 2; ++round) {
    for (const DataType dtype : Generator::dtypes()) {
      const Tensor tensor = Tensor::zeros(std::vector<int64_t>{kLength}, dtype);
      const auto bytes = static_cast<size_t>(dtype.num_bytes());
      for (size_t n = 0; round == 0 && n < kLength; ++n) {
        const int64_t number =
            random.chance(40) ? random.between(-40, 40) : random.between(INT64_MIN / 2, INT64_MAX / 2);
        const auto real = static_cast<float>(random.between(-40, 40));
        if (dtype.is_bool())
          tensor.data_as<char>()[n] = static_cast<char>(number & 1);
        else
          std::memcpy(tensor.data_as<char>() + n * bytes,
                      dtype.is_float() ? static_cast<const void*>(&real) : &number, bytes);
      }
      args.emplace_back(tensor);
    }
  }
  return args;
}

TEST(CFuzz, RandomExpressionsGiveWhatLlvmGives) {
  const uint64_t seed = fuzz::seed();
  for (int64_t n = 0; n < fuzz::num_cases(12); ++n) {
    const PrimFunc func = Generator(seed * 1000 + static_cast<uint64_t>(n)).function();
    const std::string source = source_of(func);
    const Compiled compiled(source, "-w");
    ASSERT_EQ(compiled.messages(), "") << source;
    const std::vector<Value> args = arguments(seed), expected = arguments(seed);
    compiled.module().get_function("f").call(args);
    through_llvm(func).call(expected);
    for (size_t k = args.size() / 2; k < args.size(); ++k) {
      const Tensor a = args[k].as_tensor(), b = expected[k].as_tensor();
      const auto bytes = static_cast<size_t>(a.num_elements() * a.dtype().num_bytes());
      ASSERT_EQ(std::memcmp(a.data_as<char>(), b.data_as<char>(), bytes), 0)
          << "case " << n << ", " << func->buffers[k]->name << "\n"
          << script::print(func) << source;
    }
  }
}

}  // namespace
}  // namespace tilewright::codegen
