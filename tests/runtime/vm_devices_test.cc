// Instructions of the virtual machine say for which device they are.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/runtime/vm/builder.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::runtime::vm {
namespace {

// Each device has an arena, which begins at 0: the tensors do not overlap.
TEST(VmDevices, EachDeviceHasAnArena) {
  ExecutableBuilder builder;
  builder.add_device(Device::cpu());
  builder.add_device(Device::cpu());
  FunctionBuilder main(builder, "main", {{"x", "float32[5]"}, {"y", "float32[5]"}}, {{"z", "float32[5]"}});
  Operands copies;
  for (size_t device = 0; device < 2; ++device) {
    main.on_device(device);
    main.arena(imm(64));
    copies.push_back(main.arena_tensor(imm(0), DataType::float_(32), {imm(5)}));
    main.call_packed("tilewright.copy_to_device",
                     {main.parameter(device), main.str("a device"), copies.back()});
  }
  main.ret(main.make_tuple(copies));
  builder.add(main.finish());
  const VirtualMachine vm(builder.finish(), Module());
  EXPECT_EQ(vm.devices().size(), 2u);
  EXPECT_EQ(to_text(vm.executable()),
            "main(x: float32[5], y: float32[5]) -> z: float32[5]\n"
            "   0: arena(64)\n"
            "   1: r2 = arena_tensor(0, float32, 5)\n"
            "   2: r3 = call_packed(tilewright.copy_to_device, r0, \"a device\", r2)\n"
            "   3: arena(64) on cpu:0\n"
            "   4: r4 = arena_tensor(0, float32, 5) on cpu:0\n"
            "   5: r5 = call_packed(tilewright.copy_to_device, r1, \"a device\", r4) on cpu:0\n"
            "   6: r6 = make_tuple(r2, r4) on cpu:0\n"
            "   7: return(r6) on cpu:0\n");
  for (float call = 0; call < 3; ++call) {  // the second call finds the frame of the first
    const std::vector<float> x(5, call), y(5, call + 7);
    const auto given = [](const std::vector<float>& values) {
      return Tensor::copy_of(values.data(), 20, Shape{5}, DataType::float_(32));
    };
    const Value results = vm("main", given(x), given(y));
    const auto found = [&](size_t n) {
      const Tensor tensor = results.as_tuple()[n].as_tensor();
      return std::vector<float>(tensor.data_as<float>(), tensor.data_as<float>() + 5);
    };
    EXPECT_EQ(found(0), x);
    EXPECT_EQ(found(1), y);
  }
}

}  // namespace
}  // namespace tilewright::runtime::vm
