// Small executables written by hand, with kernels in C++.
#include "tilewright/runtime/vm/virtual_machine.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "expect_error.h"
#include "tilewright/runtime/host.h"
#include "tilewright/runtime/vm/builder.h"
#include "tilewright/runtime/vm/print.h"

namespace tilewright::runtime::vm {
namespace {

int64_t size_of(const DLTensor* tensor) {
  int64_t size = 1;
  for (int axis = 0; axis < tensor->ndim; ++axis) size *= tensor->shape[axis];
  return size;
}
float* floats(const TilewrightAny& any) {
  return static_cast<float*>(static_cast<DLTensor*>(any.v_ptr)->data);
}

// add(x, number, y): y = x + number
extern "C" int32_t add_kernel(void*, const TilewrightAny* args, int32_t num_args, TilewrightAny*) {
  if (num_args != 3 || args[0].type_index != kTilewrightDLTensor) {
    host_services()->set_error("TypeError", "add: expected (tensor, int, tensor)");
    return -1;
  }
  const int64_t size = size_of(static_cast<const DLTensor*>(args[0].v_ptr));
  for (int64_t n = 0; n < size; ++n)
    floats(args[2])[n] = floats(args[0])[n] + static_cast<float>(args[1].v_int64);
  return 0;
}

Module kernels() {
  static const uint32_t version = TILEWRIGHT_KERNEL_ABI_VERSION;
  auto lookup = [](const std::string& symbol) -> void* {
    if (symbol == "__tilewright_abi_version") return const_cast<uint32_t*>(&version);
    return symbol == "__tvm_ffi_add" ? reinterpret_cast<void*>(&add_kernel) : nullptr;
  };
  return Module::from_symbols({"kernels", "jit", lookup, nullptr});
}

Tensor tensor(ShapeView shape, float value) {
  Tensor result = Tensor::empty(shape, kFloat32);
  std::fill_n(result.data_as<float>(), result.num_elements(), value);
  return result;
}

std::vector<float> elements(const Value& value) {
  const Tensor compact = value.as_tensor().compact();
  return std::vector<float>(compact.data_as<float>(), compact.data_as<float>() + compact.num_elements());
}

// One function "main" with parameters of the given names.
template <class Write>
VirtualMachine machine(std::vector<std::string> parameters, Write write) {
  ExecutableBuilder builder;
  std::vector<Description> descriptions;
  for (std::string& name : parameters) descriptions.push_back({name, "object"});
  FunctionBuilder main(builder, "main", descriptions, {{"result", "object"}});
  write(main);
  builder.add(main.finish());
  return VirtualMachine(builder.finish(), kernels());
}

// x: float32[n, 7] -> (x + 1) + 2, with the sum in between in the arena
VirtualMachine add_three() {
  return machine({"x"}, [](FunctionBuilder& main) {
    const IntRegister n = main.new_int("n");
    main.check_tensor(main.parameter(0), "x", kFloat32, {bind(n), imm(7)});
    const IntRegister bytes = main.binary(Opcode::kMul, n, main.set_int(7 * 4));
    main.arena(bytes);
    const Register between = main.arena_tensor(imm(0), kFloat32, {n, imm(7)});
    main.call_kernel("add", {main.parameter(0), imm(1), between});
    const Register result = main.new_tensor(kFloat32, {n, imm(7)});
    main.call_kernel("add", {between, imm(2), result});
    main.kill(between);
    main.ret(result);
  });
}

// found: bfloat16 products took twice the time with arrays of numpy
TEST(VirtualMachine, ArgumentsBeginWithALineWhereTheProgramSaysSo) {
  const auto given = [](DataType dtype, int64_t count, size_t offset) {
    const VirtualMachine vm = machine({"x"}, [&](FunctionBuilder& main) {
      main.check_tensor(main.parameter(0), "x", dtype, {any_dim()});
      main.align_tensor(main.parameter(0), 1 << 16, 1 << 22);
      main.ret(main.parameter(0));
    });
    std::vector<char> memory(static_cast<size_t>(count * dtype.num_bytes()) + 128, 7);
    char* line = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    const Tensor x = Tensor::view_of(line + offset, Shape{count}, dtype, nullptr);
    const Tensor result = vm("main", x).as_tensor();
    EXPECT_EQ(std::memcmp(result.data(), x.data(), x.num_bytes()), 0);
    if (result.data() != x.data()) EXPECT_TRUE(result.is_aligned(64));
    return result.data() == x.data();
  };
  EXPECT_FALSE(given(DataType::bfloat16(), 40001, 16));
  EXPECT_FALSE(given(DataType::int_(8), 70001, 16));
  EXPECT_TRUE(given(DataType::int_(8), 70001, 0));       // begins with a line
  EXPECT_TRUE(given(DataType::int_(8), 60001, 16));      // few
  EXPECT_TRUE(given(DataType::int_(8), 5'000'001, 16));  // many
  EXPECT_FALSE(given(kFloat32, 70001, 16));              // elements do not matter, the compiler has chosen
}

TEST(VirtualMachine, RunsKernelsOverSymbolicShapes) {
  const VirtualMachine vm = add_three();
  for (int64_t rows : {5, 1, 127, 0}) {
    const Value result = vm("main", tensor(Shape{rows, 7}, 1.0f));
    EXPECT_EQ(result.type_str(), fmt::format("float32[{}, 7]", rows));
    EXPECT_EQ(elements(result), std::vector<float>(static_cast<size_t>(rows * 7), 4.0f));
  }
}

TEST(VirtualMachine, ProgramPrints) {
  EXPECT_EQ(to_text(add_three().executable()),
            "main(x: object) -> result: object\n"
            "   0: check_tensor(r0, \"x\", float32, 2, bind n, 7)\n"
            "   1: i1 = set_int(28)\n"
            "   2: i2 = mul(n, i1)\n"
            "   3: arena(i2)\n"
            "   4: r1 = arena_tensor(0, float32, n, 7)\n"
            "   5: call_kernel(add, r0, 1, r1)\n"
            "   6: r2 = new_tensor(float32, n, 7)\n"
            "   7: call_kernel(add, r1, 2, r2)\n"
            "   8: kill(r1)\n"
            "   9: return(r2)\n");
}

TEST(VirtualMachine, ArgumentsAreChecked) {
  const std::string usage = "\nhelp: the function is main(x: object) -> result: object";
  const VirtualMachine vm = add_three();
  EXPECT_ERROR(vm("man", 1), "error: the model has no function \"man\"\nhelp: did you mean main?");
  EXPECT_ERROR(vm("main"), std::string("error: main: got 0 arguments, expected 1 (x)") + usage);
  EXPECT_ERROR(vm("main", 1, 2), std::string("error: main: got 2 arguments, expected 1 (x)") + usage);
  EXPECT_ERROR(vm("main", "text"), std::string("error: main: x is a string, expected float32[n, 7]") + usage);
  EXPECT_ERROR(vm("main", tensor(Shape{5, 8}, 0)),
               std::string("error: main: x is float32[5, 8], expected float32[n, 7]") + usage);
  EXPECT_ERROR(vm("main", tensor(Shape{5}, 0)),
               std::string("error: main: x is float32[5], expected float32[n, 7]") + usage);
  EXPECT_ERROR(vm("main", Tensor::zeros(Shape{5, 7}, kInt32)),
               std::string("error: main: x is int32[5, 7], expected float32[n, 7]") + usage);
}

TEST(VirtualMachine, DimensionsAgreeAcrossArguments) {
  const std::string usage = "\nhelp: the function is main(x: object, y: object, z: object) -> result: object";
  const VirtualMachine vm = machine({"x", "y", "z"}, [](FunctionBuilder& main) {
    const IntRegister n = main.new_int("n");
    main.check_tensor(main.parameter(0), "x", kFloat32, {bind(n)});
    main.check_tensor(main.parameter(1), "y", kFloat32, {imm(3), n});
    main.check_tensor_any_ndim(main.parameter(2), "z", DataType::void_());
    main.ret(main.parameter(2));
  });
  EXPECT_EQ(vm("main", tensor(Shape{5}, 0), tensor(Shape{3, 5}, 0), tensor(Shape{1}, 7)).type_str(),
            "float32[1]");
  EXPECT_ERROR(vm("main", tensor(Shape{5}, 0), tensor(Shape{3, 6}, 0), 1),
               std::string("error: main: y is float32[3, 6], expected float32[3, n] with n = 5") + usage);
  EXPECT_ERROR(vm("main", tensor(Shape{5}, 0), tensor(Shape{3, 5}, 0), Value()),
               std::string("error: main: z is none, expected a tensor of any shape") + usage);
}

TEST(VirtualMachine, StridedAndMisalignedArgumentsAreCopied) {
  const VirtualMachine vm = add_three();
  const Tensor wide = tensor(Shape{7, 5}, 1.0f);
  const int axes[] = {1, 0};
  EXPECT_EQ(elements(vm("main", wide.transpose(axes))), std::vector<float>(35, 4.0f));
  std::vector<char> bytes(7 * 4 + 1);
  const Tensor odd = Tensor::view_of(bytes.data() + 1, Shape{1, 7}, kFloat32, nullptr);
  EXPECT_EQ(elements(vm("main", odd)), std::vector<float>(7, 3.0f));
}

TEST(VirtualMachine, OtherChecks) {
  const std::string usage =
      "\nhelp: the function is main(shape: object, kind: object, pair: object) -> result: object";
  const VirtualMachine vm = machine({"shape", "kind", "pair"}, [](FunctionBuilder& main) {
    const IntRegister n = main.new_int("n"), m = main.new_int("m");
    main.check_shape(main.parameter(0), "shape", {bind(n), bind(m), imm(2)});
    main.check_kind(main.parameter(1), "kind", static_cast<uint32_t>(ValueKind::kString));
    main.check_kind(main.parameter(2), "pair", static_cast<uint32_t>(ValueKind::kTuple), 2);
    main.check_divisible(n, m, "dimension 0 of shape");
    main.check_equal(m, main.set_int(5), "dimension 1 of shape");
    main.ret(main.get_item(main.parameter(2), 1));
  });
  const Value pair = Value::tuple({1, 2});
  EXPECT_EQ(vm("main", Value::shape({10, 5, 2}), "text", pair).as_int(), 2);
  EXPECT_ERROR(vm("main", Value::shape({10, 5, 3}), "text", pair),
               std::string("error: main: shape is shape[10, 5, 3], expected a shape [n, m, 2]") + usage);
  EXPECT_ERROR(vm("main", 3, "text", pair),
               std::string("error: main: shape is an int, expected a shape [n, m, 2]") + usage);
  EXPECT_ERROR(vm("main", Value::shape({10, 5, 2}), 7, pair),
               std::string("error: main: kind is an int, expected a string") + usage);
  EXPECT_ERROR(vm("main", Value::shape({10, 5, 2}), "text", Value::tuple({1})),
               std::string("error: main: pair is a tuple of 1, expected of 2") + usage);
  EXPECT_ERROR(vm("main", Value::shape({11, 5, 2}), "text", pair),
               std::string("error: main: dimension 0 of shape is 11, which is not a multiple of 5") + usage);
  EXPECT_ERROR(vm("main", Value::shape({14, 7, 2}), "text", pair),
               std::string("error: main: dimension 1 of shape is 7, expected 5") + usage);
  EXPECT_ERROR(vm("main", Value::shape({14, 0, 2}), "text", pair),
               std::string("error: main: dimension 0 of shape is 14, which is not a multiple of 0") + usage);
}

// main(a, b) = a op b
int64_t arithmetic(Opcode opcode, int64_t a, int64_t b) {
  const VirtualMachine vm = machine({"a", "b"}, [&](FunctionBuilder& main) {
    main.ret(
        main.set(main.binary(opcode, main.load_int(main.parameter(0)), main.load_int(main.parameter(1)))));
  });
  return vm("main", a, b).as_int();
}

TEST(VirtualMachine, ShapeArithmetic) {
  EXPECT_EQ(arithmetic(Opcode::kAdd, 5, 7), 12);
  EXPECT_EQ(arithmetic(Opcode::kSub, 5, 7), -2);
  EXPECT_EQ(arithmetic(Opcode::kMul, 5, 7), 35);
  EXPECT_EQ(arithmetic(Opcode::kFloorDiv, -5, 7), -1);
  EXPECT_EQ(arithmetic(Opcode::kFloorDiv, 127, 7), 18);
  EXPECT_EQ(arithmetic(Opcode::kFloorDiv, 5, -1), -5);
  EXPECT_EQ(arithmetic(Opcode::kFloorMod, -5, 7), 2);
  EXPECT_EQ(arithmetic(Opcode::kFloorMod, 5, -7), -2);
  EXPECT_EQ(arithmetic(Opcode::kFloorMod, 5, -1), 0);
  EXPECT_EQ(arithmetic(Opcode::kMin, 5, 7), 5);
  EXPECT_EQ(arithmetic(Opcode::kMax, 5, 7), 7);
  EXPECT_EQ(arithmetic(Opcode::kEqual, 5, 5), 1);
  EXPECT_EQ(arithmetic(Opcode::kLess, 5, 5), 0);
  EXPECT_ERROR(arithmetic(Opcode::kFloorMod, 5, 0), "error: main: a shape divides 5 by zero");
  EXPECT_ERROR(arithmetic(Opcode::kMul, INT64_MAX, 2),
               "error: main: a shape is too large: arithmetic on 9223372036854775807 and 2 overflows");
  EXPECT_ERROR(arithmetic(Opcode::kFloorDiv, INT64_MIN, -1),
               "error: main: a shape is too large: arithmetic on -9223372036854775808 and -1 overflows");
}

TEST(VirtualMachine, ScalarsAndShapesFromTensors) {
  const VirtualMachine vm =
      machine({"x"}, [](FunctionBuilder& main) { main.ret(main.set(main.load_int(main.parameter(0)))); });
  const int32_t seven = 7;
  EXPECT_EQ(vm("main", Tensor::copy_of(&seven, 4, Shape{}, kInt32)).as_int(), 7);
  const int8_t negative = -5;
  EXPECT_EQ(vm("main", Tensor::copy_of(&negative, 1, Shape{1}, DataType::int_(8))).as_int(), -5);
  EXPECT_EQ(vm("main", true).as_int(), 1);
  EXPECT_ERROR(vm("main", tensor(Shape{}, 1)), "error: main: float32[] is not a single integer or bool");
  EXPECT_ERROR(vm("main", Tensor::zeros(Shape{2}, kInt32)),
               "error: main: int32[2] is not a single integer or bool");
  EXPECT_ERROR(vm("main", "text"), "error: main: a string was given where an integer or bool is needed");

  const VirtualMachine shapes = machine({"x"}, [](FunctionBuilder& main) {
    const Register shape = main.tensor_to_shape(main.parameter(0));
    main.ret(main.make_tuple(
        {shape, main.shape_of(main.parameter(0)), main.make_shape({main.load_dim(shape, 1), imm(3)})}));
  });
  const int64_t data[] = {5, 7};
  EXPECT_EQ(shapes("main", Tensor::copy_of(data, 16, Shape{2}, kInt64)).type_str(),
            "tuple(shape[5, 7], shape[2], shape[7, 3])");
  EXPECT_ERROR(shapes("main", Tensor::copy_of(data, 8, Shape{1}, kInt64)),
               "error: main: shape[5] has no dimension 1");
  EXPECT_ERROR(shapes("main", tensor(Shape{1}, 1)),
               "error: main: float32[1] is not a single integer or bool");
  EXPECT_ERROR(shapes("main", tensor(Shape{1, 1}, 1)), "error: main: float32[1, 1] is not a shape");
}

TEST(VirtualMachine, BranchesOnBools) {
  const VirtualMachine vm = machine({"condition", "n"}, [](FunctionBuilder& main) {
    const Register result = main.new_register();
    const Label otherwise = main.new_label(), zero = main.new_label(), done = main.new_label();
    main.jump_if_false(main.parameter(0), otherwise);
    main.jump_if_zero(main.load_int(main.parameter(1)), zero);
    main.set(result, main.str("true"));
    main.jump(done);
    main.bind_label(zero);
    main.set(result, main.str("zero"));
    main.jump(done);
    main.bind_label(otherwise);
    main.set(result, main.str("false"));
    main.bind_label(done);
    main.ret(result);
  });
  const bool yes = true;
  EXPECT_EQ(vm("main", true, 1).as_string(), "true");
  EXPECT_EQ(vm("main", Tensor::copy_of(&yes, 1, Shape{}, kBoolType), 0).as_string(), "zero");
  EXPECT_EQ(vm("main", false, 1).as_string(), "false");
}

TEST(VirtualMachine, ImmediatesOfEveryKind) {
  const VirtualMachine vm = machine({}, [](FunctionBuilder& main) {
    main.ret(
        main.call_packed("test.vm.types", {none(), imm(7), imm_float(2.5), imm_bool(true), main.str("text"),
                                           imm_dtype(kFloat32), imm_device(Device::cpu()), main.set_int(9)}));
  });
  register_function("test.vm.types", Function::packed("types", [](Args args) {
                      std::string types;
                      for (const Value& value : args) types += value.type_str() + " ";
                      return Value(types + std::to_string(args[2].as_float()) + args[5].as_dtype().str() +
                                   args[6].as_device().str());
                    }));
  EXPECT_EQ(vm("main").as_string(), "none int float bool string dtype device int 2.500000float32cpu:0");
  remove_function("test.vm.types");
}

TEST(VirtualMachine, PackedFunctionsAreLookedUpWhenCalled) {
  const VirtualMachine vm =
      machine({}, [](FunctionBuilder& main) { main.ret(main.call_packed("test.vm.late", {})); });
  EXPECT_EQ(vm.missing_callees(), (std::vector<std::string>{"test.vm.late"}));
  EXPECT_ERROR(vm("main"),
               "error: main: there is no function \"test.vm.late\": it is neither compiled nor registered\n"
               "help: register it before the call");
  register_function("test.vm.late", Function::typed("late", [] { return 1; }));
  EXPECT_TRUE(vm.missing_callees().empty());
  EXPECT_EQ(vm("main").as_int(), 1);
  register_function("test.vm.late", Function::typed("late", [] { return 2; }), true);
  EXPECT_EQ(vm("main").as_int(), 2);
  remove_function("test.vm.late");
}

TEST(VirtualMachine, KernelsMayBePackedFunctions) {
  const VirtualMachine vm = machine({"x"}, [](FunctionBuilder& main) {
    const Register result = main.new_tensor(kFloat32, {imm(5)});
    main.call_kernel("test.vm.negate", {main.parameter(0), result});
    main.ret(result);
  });
  register_function("test.vm.negate", Function::typed("negate", [](const Tensor& x, const Tensor& y) {
                      for (int n = 0; n < 5; ++n) y.data_as<float>()[n] = -x.data_as<float>()[n];
                    }));
  EXPECT_EQ(elements(vm("main", tensor(Shape{5}, 3))), std::vector<float>(5, -3.0f));
  remove_function("test.vm.negate");
}

TEST(VirtualMachine, ErrorsOfKernelsAndPackedFunctionsPass) {
  const VirtualMachine vm = machine({"x"}, [](FunctionBuilder& main) {
    main.call_kernel("add", {main.parameter(0)});
    main.ret(main.parameter(0));
  });
  EXPECT_ERROR(vm("main", 1), "error: add: expected (tensor, int, tensor)");
  EXPECT_ERROR(vm("main", Value::shape({1})), "error: a shape cannot be passed to a compiled kernel");
}

TEST(VirtualMachine, FunctionsAndClosures) {
  ExecutableBuilder builder;
  FunctionBuilder minus(builder, "minus", {{"a", "int"}, {"b", "int"}}, {{"", "int"}}, false);
  minus.ret(minus.set(
      minus.binary(Opcode::kSub, minus.load_int(minus.parameter(0)), minus.load_int(minus.parameter(1)))));
  const uint32_t minus_index = builder.add(minus.finish());
  FunctionBuilder main(builder, "main", {{"x", "int"}}, {{"", "tuple"}});
  const Register direct = main.call_function(minus_index, {main.parameter(0), imm(1)});
  const Register closure = main.make_closure(minus_index, {imm(2)});
  main.ret(main.make_tuple({direct, main.call_closure(closure, {main.parameter(0)}), closure}));
  builder.add(main.finish());
  const VirtualMachine vm(builder.finish(), Module());
  const Value result = vm("main", 10);
  EXPECT_EQ(result.as_tuple()[0].as_int(), 9);
  EXPECT_EQ(result.as_tuple()[1].as_int(), 8);
  EXPECT_EQ(result.as_tuple()[2].as_function()(100).as_int(), 98);
  EXPECT_ERROR(vm("minus", 1, 2), "error: the model has no function \"minus\"\nhelp: the only one is main");
  EXPECT_EQ(vm.module().list_functions(), (std::vector<std::string>{"main"}));
}

// main(most): a loop of `body`, which gets the number of the iteration, the condition and one carried value.
VirtualMachine loop_machine(const std::function<Register(FunctionBuilder&)>& body, size_t num_collected) {
  ExecutableBuilder builder;
  FunctionBuilder inner(builder, "body", {{"i", "int64[]"}, {"c", "bool[]"}, {"s", "int64[]"}}, {}, false);
  inner.ret(body(inner));
  FunctionBuilder main(builder, "main", {{"most", "int"}}, {{"", "tuple"}});
  FunctionBuilder::Loop loop{main.parameter(0), none(), {}, {main.parameter(0)}, {}};
  for (size_t n = 0; n < num_collected; ++n) loop.empty.push_back(main.new_tensor(kInt64, {imm(0)}));
  main.ret(main.loop(main.make_closure(builder.add(inner.finish()), {}), loop));
  builder.add(main.finish());
  return VirtualMachine(builder.finish(), Module());
}

TEST(VirtualMachine, LoopsCarryAndCollect) {
  const VirtualMachine vm = loop_machine(
      [](FunctionBuilder& body) {
        return body.make_tuple({body.parameter(1), body.parameter(0), body.parameter(0)});
      },
      1);
  const Value result = vm("main", 5);
  EXPECT_EQ(*result.as_tuple()[0].as_tensor().data_as<int64_t>(), 4);
  const Tensor all = result.as_tuple()[1].as_tensor();
  EXPECT_EQ(std::vector<int64_t>(all.data_as<int64_t>(), all.data_as<int64_t>() + 5),
            (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(vm("main", 0).as_tuple()[0].as_int(), 0);
  EXPECT_EQ(type_str(vm("main", 0).as_tuple()[1].as_tensor()), "int64[0]");
}

TEST(VirtualMachine, TheBodyOfALoopMustReturnWhatIsCarried) {
  const VirtualMachine vm =
      loop_machine([](FunctionBuilder& body) { return body.make_tuple({body.parameter(1)}); }, 1);
  EXPECT_ERROR(vm("main", 3), "error: main: the body of a loop returns 1 value, expected 3");
}

TEST(VirtualMachine, EndlessRecursionIsAnError) {
  ExecutableBuilder builder;
  const uint32_t self = builder.declare("main");
  FunctionBuilder main(builder, "main", {}, {});
  main.ret(main.call_function(self, {}));
  builder.add(main.finish());
  const VirtualMachine vm(builder.finish(), Module());
  EXPECT_ERROR(vm("main"), "error: main: calls are nested more than 1000 deep");
  EXPECT_ERROR(vm("main"), "error: main: calls are nested more than 1000 deep");
}

TEST(VirtualMachine, ArenaTensorsAndConstantsAreCopiedOut) {
  const Tensor weight = tensor(Shape{5}, 2);
  const VirtualMachine vm = machine({}, [&](FunctionBuilder& main) {
    main.arena(imm(64));
    const Register temporary = main.arena_tensor(imm(0), kFloat32, {imm(5)});
    const Register constant = main.constant(weight);
    main.call_kernel("add", {constant, imm(1), temporary});
    main.ret(main.make_tuple({temporary, main.reshape(temporary, {imm(1), imm(5)}), constant}));
  });
  const Value first = vm("main"), second = vm("main");
  for (int field = 0; field < 3; ++field) {
    const Tensor a = first.as_tuple()[field].as_tensor(), b = second.as_tuple()[field].as_tensor();
    EXPECT_NE(a.data(), b.data());
    EXPECT_FALSE(a.is_read_only());
    a.data_as<float>()[0] = 100;
  }
  EXPECT_EQ(elements(vm("main").as_tuple()[1]), std::vector<float>(5, 3.0f));
  EXPECT_EQ(elements(vm("main").as_tuple()[2]), std::vector<float>(5, 2.0f));
}

TEST(VirtualMachine, ReshapeIsAView) {
  const VirtualMachine vm = machine(
      {"x"}, [](FunctionBuilder& main) { main.ret(main.reshape(main.parameter(0), {imm(7), imm(5)})); });
  const Tensor x = tensor(Shape{5, 7}, 1);
  const Value first = vm("main", x), second = vm("main", x);
  EXPECT_EQ(first.as_tensor().data(), x.data());
  EXPECT_EQ(first.type_str(), "float32[7, 5]");
  EXPECT_NE(first.as_tensor(), second.as_tensor());
  EXPECT_ERROR(vm("main", tensor(Shape{5}, 1)),
               "error: reshape: float32[5] has 5 elements, which do not fill [7, 5]");
}

TEST(VirtualMachine, ArgumentsAreNotKept) {
  const VirtualMachine vm = machine({"x"}, [](FunctionBuilder& main) {
    main.reshape(main.parameter(0), {imm(5)});
    main.ret(main.set(imm(1)));
  });
  const Tensor x = tensor(Shape{5, 1}, 1);
  vm("main", x);
  EXPECT_EQ(x.object()->refs.load(), 1u);
  EXPECT_EQ(x.object()->storage->refs.load(), 1u);
}

TEST(VirtualMachine, AnEndedViewHoldsNoMemory) {
  static uint32_t holders[2];
  static Tensor x = tensor(Shape{5, 1}, 1);
  register_function("test.vm.holders", Function::typed("holders", [](int64_t when) {
                      holders[when] = x.object()->storage->refs.load();
                    }));
  const VirtualMachine vm = machine({"x"}, [](FunctionBuilder& main) {
    const Register view = main.reshape(main.parameter(0), {imm(5)});
    main.call_packed("test.vm.holders", {imm(0)});
    main.kill(view);
    main.call_packed("test.vm.holders", {imm(1)});
    main.ret(main.set(imm(1)));
  });
  for (int call = 0; call < 2; ++call) {
    vm("main", x);
    EXPECT_EQ(holders[0], 2u);
    EXPECT_EQ(holders[1], 1u);
  }
  remove_function("test.vm.holders");
}

TEST(VirtualMachine, KeptArenaTensorsStayValid) {
  static std::vector<Value> kept;
  register_function("test.vm.keep", Function::typed("keep", [](const Tensor& tensor) {
                      kept.push_back(tensor);
                      kept.push_back(tensor.slice(0, 1, 3));
                    }));
  const VirtualMachine vm = machine({"x"}, [](FunctionBuilder& main) {
    main.arena(imm(64));
    const Register temporary = main.arena_tensor(imm(0), kFloat32, {imm(5)});
    main.call_kernel("add", {main.parameter(0), imm(1), temporary});
    main.ret(main.call_packed("test.vm.keep", {temporary}));
  });
  vm("main", tensor(Shape{5}, 1));
  vm("main", tensor(Shape{5}, 2));
  EXPECT_EQ(elements(kept[0]), std::vector<float>(5, 2.0f));
  EXPECT_EQ(elements(kept[1]), std::vector<float>(2, 2.0f));
  EXPECT_EQ(elements(kept[2]), std::vector<float>(5, 3.0f));
  kept.clear();
  remove_function("test.vm.keep");
}

TEST(VirtualMachine, SteadyCallsReuseTheArena) {
  static std::vector<void*> places;
  register_function("test.vm.place",
                    Function::typed("place", [](const Tensor& tensor) { places.push_back(tensor.data()); }));
  const VirtualMachine vm = machine({"n"}, [](FunctionBuilder& main) {
    const IntRegister n = main.load_int(main.parameter(0));
    main.arena(n);
    main.ret(main.call_packed("test.vm.place", {main.arena_tensor(imm(0), DataType::int_(8), {n})}));
  });
  for (int64_t n : {1000, 1000, 7}) vm("main", n);
  EXPECT_EQ(places, std::vector<void*>(3, places[0]));
  EXPECT_ERROR(vm("main", -1),
               "error: out of memory: the tensors of this call take more than 9223372036854775807 bytes");
  EXPECT_ERROR(vm("main", int64_t{1} << 55),
               "error: out of memory: cannot allocate 36028797018963968 bytes on cpu:0\n"
               "help: use smaller tensors, or a machine with more memory");
  EXPECT_TRUE(vm("main", 1000).is_none());
  remove_function("test.vm.place");
}

TEST(VirtualMachine, TensorsOutsideOfTheArenaAreOurBug) {
  const VirtualMachine vm = machine({}, [](FunctionBuilder& main) {
    main.arena(imm(64));
    main.ret(main.arena_tensor(imm(64), kFloat32, {imm(5)}));
  });
  EXPECT_ERROR(vm("main"),
               "internal error: vm: a tensor of 20 bytes at 64 does not lie in the arena of 64 bytes\n"
               "help: this is a bug in tilewright; please report it with the script that shows it");
}

TEST(VirtualMachine, ManyThreadsAtOnce) {
  const VirtualMachine vm = add_three();
  std::vector<std::thread> threads;
  std::atomic<int> num_wrong{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 50; ++round) {
        const auto rows = static_cast<size_t>(1 + (thread + round) % 5);
        const Value result =
            vm("main", tensor(Shape{static_cast<int64_t>(rows), 7}, static_cast<float>(thread)));
        if (elements(result) != std::vector<float>(rows * 7, static_cast<float>(thread + 3))) ++num_wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_wrong.load(), 0);
}

TEST(VirtualMachine, PackedFunctionsMayCallBack) {
  ExecutableBuilder builder;
  FunctionBuilder main(builder, "main", {{"n", "int"}}, {{"", "int"}});
  const Label zero = main.new_label();
  const IntRegister n = main.load_int(main.parameter(0));
  main.jump_if_zero(n, zero);
  main.ret(main.call_packed("test.vm.again", {main.binary(Opcode::kSub, n, main.set_int(1))}));
  main.bind_label(zero);
  main.ret(main.set(main.str("done")));
  builder.add(main.finish());
  const VirtualMachine vm(builder.finish(), Module());
  register_function("test.vm.again", Function::typed("again", [&](int64_t n) { return vm("main", n); }));
  EXPECT_EQ(vm("main", 7).as_string(), "done");
  remove_function("test.vm.again");
}

TEST(VirtualMachine, ProfilerSeesEveryCall) {
  const VirtualMachine vm = add_three();
  std::vector<std::string> calls;
  vm.set_profiler([&](const CallRecord& record) {
    EXPECT_GE(record.duration_ns, 0);
    calls.push_back(fmt::format("{} {} {}", record.function, record.callee, record.args[1].v_int64));
  });
  vm("main", tensor(Shape{5, 7}, 1));
  vm.set_profiler(nullptr);
  vm("main", tensor(Shape{5, 7}, 1));
  EXPECT_EQ(calls, (std::vector<std::string>{"main add 1", "main add 2"}));
}

TEST(VirtualMachine, FunctionsKeepTheMachine) {
  Function main = add_three().get_function("main");
  EXPECT_EQ(elements(main(tensor(Shape{1, 7}, 1))), std::vector<float>(7, 4.0f));
}

TEST(VirtualMachine, ModulesWithoutModelAreRefused) {
  EXPECT_ERROR(VirtualMachine::from_module(kernels()),
               "error: kernels has functions, but no model to run\n"
               "help: call its functions by name, or make a library with `tilewright compile`");
}

TEST(Builder, MistakesAreOurBugs) {
  const std::string bug =
      "\nhelp: this is a bug in tilewright; please report it with the script that shows it";
  ExecutableBuilder builder;
  FunctionBuilder backward(builder, "f", {}, {});
  const Label label = backward.new_label();
  backward.bind_label(label);
  backward.jump(label);
  EXPECT_ERROR(backward.finish(), "internal error: vm: function \"f\" jumps back" + bug);
  FunctionBuilder unbound(builder, "f", {}, {});
  unbound.jump(unbound.new_label());
  EXPECT_ERROR(unbound.finish(),
               "internal error: vm: function \"f\" jumps to a label that is not bound" + bug);
  builder.declare("g");
  EXPECT_ERROR(builder.finish(), "internal error: vm: function \"g\" is declared, but not defined" + bug);
  ExecutableBuilder other;
  FunctionBuilder endless(other, "f", {}, {});
  endless.set(none());
  other.add(endless.finish());
  EXPECT_ERROR(other.finish(), "internal error: vm: \"f\" does not end with return" + bug);
}

}  // namespace
}  // namespace tilewright::runtime::vm
