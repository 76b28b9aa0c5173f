#include "tilewright/runtime/function.h"

#include "expect_error.h"
#include "tilewright/runtime/error_state.h"
#include "tilewright/runtime/host.h"
#include "tilewright/runtime/module.h"

namespace tilewright::runtime {
namespace {

TEST(Value, HoldsEveryKind) {
  EXPECT_TRUE(Value().is_none());
  EXPECT_EQ(Value(7).as_int(), 7);
  EXPECT_EQ(Value(true).kind(), ValueKind::kBool);
  EXPECT_EQ(Value(2.5).as_float(), 2.5);
  EXPECT_EQ(Value(7).as_float(), 7.0);
  EXPECT_EQ(Value("text").as_string(), "text");
  EXPECT_EQ(Value::bytes(std::string("a\0b", 3)).as_bytes().size(), 3u);
  EXPECT_EQ(Value(kFloat32).as_dtype(), kFloat32);
  EXPECT_EQ(Value("float32").as_dtype(), kFloat32);
  EXPECT_EQ(Value("cuda:1").as_device(), (Device{kDLCUDA, 1}));
  EXPECT_EQ(Value::shape({5, 7}).as_shape(), (Shape{5, 7}));
  EXPECT_EQ(Value::tuple({1, "a"}).as_tuple().size(), 2u);
  EXPECT_TRUE(Value(Tensor()).is_none());
  EXPECT_TRUE(Value(Function()).is_none());
  int place = 0;
  EXPECT_EQ(Value::pointer(&place).as_pointer(), &place);
}

TEST(Value, SharesObjects) {
  const Tensor tensor = Tensor::empty(Shape{7}, kFloat32);
  Value first = tensor;
  Value second = first;
  first = Value(1);
  EXPECT_EQ(second.as_tensor(), tensor);
  Value third = std::move(second);
  EXPECT_TRUE(second.is_none());
  EXPECT_EQ(third.tensor_object()->refs.load(), 2u);
  third = *&third;
  EXPECT_EQ(third.as_tensor(), tensor);
}

TEST(Value, TypeNames) {
  EXPECT_EQ(
      Value::tuple({Value(), 1, 2.0, "s", Value::shape({5}), Tensor::empty(Shape{5, 7}, kInt32)}).type_str(),
      "tuple(none, int, float, string, shape[5], int32[5, 7])");
  EXPECT_ERROR(Value("text").as_int("argument x"), "error: argument x is a string, expected an int");
  EXPECT_ERROR(Value(Tensor::empty(Shape{5, 7}, kInt32)).as_string(),
               "error: value is int32[5, 7], expected a string");
}

TEST(Function, TypedConvertsAndChecks) {
  const Function add = Function::typed("add", [](int64_t a, double b) { return static_cast<double>(a) + b; });
  EXPECT_EQ(add(2, 0.5).as_float(), 2.5);
  EXPECT_EQ(add(2, 1).as_float(), 3.0);
  EXPECT_ERROR(add(1), "error: add: got 1 argument, expected 2");
  EXPECT_ERROR(add(1, "x"), "error: add: argument 2 is a string, expected a float");
  const Function shape = Function::typed(
      "shape_of", [](const Tensor& tensor) { return Shape(tensor.shape().begin(), tensor.shape().end()); });
  EXPECT_EQ(shape(Tensor::empty(Shape{5, 7}, kInt32)).as_shape(), (Shape{5, 7}));
  const Function nothing = Function::typed("nothing", [] {});
  EXPECT_TRUE(nothing().is_none());
  const Function twice = Function::typed("twice", [](const Function& f, const Value& x) { return f(f(x)); });
  EXPECT_EQ(twice(Function::typed("increment", [](int64_t x) { return x + 1; }), 5).as_int(), 7);
}

TEST(Function, PackedSeesAllArguments) {
  const Function count = Function::packed("count", [](Args args) { return Value(args.size()); });
  EXPECT_EQ(count().as_int(), 0);
  EXPECT_EQ(count(1, "a", Value()).as_int(), 3);
}

extern "C" int32_t scale_kernel(void* self, const TilewrightAny* args, int32_t num_args,
                                TilewrightAny* result) {
  if (num_args != 2 || args[0].type_index != kTilewrightDLTensor) {
    host_services()->set_error("TypeError", "scale: expected a tensor and a number");
    return -1;
  }
  const auto* tensor = static_cast<const DLTensor*>(args[0].v_ptr);
  for (int64_t n = 0; n < tensor->shape[0]; ++n)
    static_cast<float*>(tensor->data)[n] *= static_cast<float>(args[1].v_float64);
  result->type_index = kTilewrightInt;
  result->v_int64 = tensor->shape[0];
  return 0;
}
extern "C" int32_t silent_kernel(void*, const TilewrightAny*, int32_t, TilewrightAny*) { return -1; }

TEST(Function, KernelsTakeTensorsAndReportErrors) {
  const Function scale = Function::from_kernel("scale", scale_kernel, nullptr, nullptr);
  const Tensor tensor = Tensor::zeros(Shape{7}, kFloat32);
  tensor.data_as<float>()[6] = 3;
  EXPECT_EQ(scale(tensor, 2.0).as_int(), 7);
  EXPECT_EQ(tensor.data_as<float>()[6], 6.0f);
  EXPECT_ERROR(scale(1), "error: scale: expected a tensor and a number");
  EXPECT_ERROR(scale(Value::shape({1}), 1), "error: a shape cannot be passed to a compiled kernel");
  const Function silent = Function::from_kernel("silent", silent_kernel, nullptr, nullptr);
  EXPECT_ERROR(silent(),
               "internal error: silent failed without saying why\n"
               "help: this is a bug in tilewright; please report it with the script that shows it");
}

TEST(Registry, NamesAreTakenOnce) {
  const Function one = Function::typed("one", [] { return 1; });
  const Function two = Function::typed("two", [] { return 2; });
  register_function("test.registry.f", one);
  EXPECT_ERROR(register_function("test.registry.f", two),
               "error: register_function: \"test.registry.f\" is registered already\nhelp: pass "
               "override=True to replace it");
  EXPECT_EQ(get_function("test.registry.f")().as_int(), 1);
  const uint64_t before = registry_generation();
  register_function("test.registry.f", two, true);
  EXPECT_NE(registry_generation(), before);
  EXPECT_EQ(get_function("test.registry.f")().as_int(), 2);
  EXPECT_ERROR(
      get_function("test.registry.g"),
      "error: there is no registered function \"test.registry.g\"\nhelp: did you mean test.registry.f?");
  EXPECT_TRUE(remove_function("test.registry.f"));
  EXPECT_FALSE(remove_function("test.registry.f"));
  EXPECT_FALSE(find_function("test.registry.f"));
  EXPECT_ERROR(register_function("", one), "error: register_function: the name is empty");
  EXPECT_ERROR(register_function("x", Function()),
               "error: register_function: no function was given for \"x\"");
}

TEST(Host, CallPackedReachesTheRegistry) {
  register_function("test.host.sum", Function::typed("sum", [](const Tensor& t) {
                      return static_cast<double>(t.data_as<float>()[0] + t.data_as<float>()[1]);
                    }));
  const Tensor tensor = Tensor::zeros(Shape{2}, kFloat32);
  tensor.data_as<float>()[1] = 2.5f;
  const TilewrightAny arg = to_any(tensor);
  TilewrightAny result{};
  ASSERT_EQ(host_services()->call_packed("test.host.sum", &arg, 1, &result), 0);
  EXPECT_EQ(result.v_float64, 2.5);
  remove_function("test.host.sum");
  EXPECT_EQ(host_services()->call_packed("test.host.sum", &arg, 1, &result), -1);
  try {
    raise_current_error("x");
  } catch (const UserError& error) {  // the twelve names that follow are those of the runtime's functions
    const std::string text = error.render();
    EXPECT_TRUE(text.starts_with(
        "error: there is no registered function \"test.host.sum\"\nhelp: the names are tilewright."))
        << text;
    EXPECT_TRUE(text.ends_with(", ...")) << text;
  }
}

TEST(Host, ArgumentsMayNotBeKept) {
  static Value kept;
  register_function("test.host.keep", Function::typed("keep", [](const Value& value) { kept = value; }));
  const Tensor tensor = Tensor::zeros(Shape{2}, kFloat32);
  const TilewrightAny arg = to_any(tensor);
  TilewrightAny result{};
  EXPECT_EQ(host_services()->call_packed("test.host.keep", &arg, 1, &result), -1);
  EXPECT_ERROR(raise_current_error("x"),
               "error: test.host.keep kept argument 1, a tensor that is valid only during the call\nhelp: "
               "keep a copy of it");
  kept = Value();
  remove_function("test.host.keep");
}

TEST(Host, ObjectsCannotBeReturnedToKernels) {
  register_function("test.host.text", Function::typed("text", [] { return std::string("t"); }));
  TilewrightAny result{};
  EXPECT_EQ(host_services()->call_packed("test.host.text", nullptr, 0, &result), -1);
  EXPECT_ERROR(raise_current_error("x"),
               "error: test.host.text returned a string, which a compiled kernel cannot take");
  remove_function("test.host.text");
}

TEST(Host, WorkspaceIsAlignedAndReused) {
  const TilewrightHost* host = host_services();
  void* first = host->workspace_alloc(100, 64);
  void* second = host->workspace_alloc(7, 4096);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 4096, 0u);
  EXPECT_NE(first, second);
  host->workspace_free(second);
  host->workspace_free(first);
  EXPECT_EQ(host->workspace_alloc(50, 1), first);
  host->workspace_free(first);
  EXPECT_EQ(host->workspace_alloc(uint64_t{1} << 60, 64), nullptr);
  EXPECT_ERROR(raise_current_error("x"),
               "error: out of memory: cannot allocate 1152921504606846976 bytes on cpu:0\n"
               "help: use smaller tensors, or a machine with more memory");
}

TEST(Any, RoundTrip) {
  for (const Value& value :
       {Value(), Value(7), Value(true), Value(2.5), Value("text"), Value(kFloat32), Value(Device::cpu())}) {
    EXPECT_EQ(from_any(to_any(value)).type_str(), value.type_str());
  }
  TilewrightAny small{};
  small.type_index = kTilewrightSmallStr;
  small.padding = 2;
  small.v_bytes[0] = 'h';
  small.v_bytes[1] = 'i';
  EXPECT_EQ(from_any(small).as_string(), "hi");
  TilewrightAny map{};
  map.type_index = 72;
  EXPECT_ERROR(from_any(map),
               "unsupported: an object of tvm-ffi type 72 cannot be passed to a packed function");
}

}  // namespace
}  // namespace tilewright::runtime
