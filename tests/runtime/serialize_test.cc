#include "tilewright/runtime/vm/serialize.h"

#include <cstring>
#include <fstream>
#include <random>

#include "expect_error.h"
#include "tilewright/runtime/vm/builder.h"
#include "tilewright/runtime/vm/checksum.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/runtime/vm/verify.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::runtime::vm {
namespace {

// Something of everything.
Executable sample() {
  ExecutableBuilder builder;
  FunctionBuilder inner(builder, "inner", {{"a", "int"}}, {{"", "int"}}, false);
  inner.ret(inner.parameter(0));
  const uint32_t inner_index = builder.add(inner.finish());
  FunctionBuilder main(builder, "main", {{"x", "float32[n, 7]"}, {"flag", "bool"}}, {{"y", "float32[5]"}});
  const IntRegister n = main.new_int("n");
  main.check_tensor(main.parameter(0), "x", kFloat32, {bind(n), imm(7)});
  const Label skip = main.new_label();
  main.jump_if_false(main.parameter(1), skip);
  main.arena(main.binary(Opcode::kMul, n, main.set_int(28)));
  main.arena_tensor(imm(0), kFloat32, {n, imm(7)});
  main.bind_label(skip);
  const float data[] = {1, 2, 3, 4, 5};
  const Register weight = main.constant(Tensor::copy_of(data, sizeof data, Shape{5}, kFloat32));
  const Register empty = main.constant(Tensor::zeros(Shape{0, 7}, kInt64));
  const Register closure = main.make_closure(inner_index, {});
  const Register called = main.call_closure(closure, {imm_float(2.5)});
  main.ret(main.make_tuple({weight, main.reshape(weight, {imm(5), imm(1)}), empty, called,
                            main.make_shape({n, imm(3)}), main.str("text")}));
  builder.add(main.finish());
  Executable executable = builder.finish();
  executable.notes = {{"target", "llvm"}, {"flops.main", "35"}};
  executable.devices = {Device::cpu(), Device::cpu()};
  return executable;
}

std::span<const std::byte> view(const std::vector<std::byte>& bytes) { return bytes; }

// Makes the checksum right again, so that what is behind it is put to the test.
void fix_checksum(std::vector<std::byte>& bytes) {
  const uint64_t sum = checksum(view(bytes).subspan(24));
  std::memcpy(bytes.data() + 16, &sum, 8);
}

TEST(Serialize, RoundTrip) {
  const Executable before = sample();
  const std::vector<std::byte> bytes = save(before);
  EXPECT_EQ(bytes.size() % 64, 0u);
  const Executable after = load(bytes, "sample");
  EXPECT_EQ(to_text(after), to_text(before));
  EXPECT_EQ(after.devices, before.devices);
  EXPECT_EQ(save(after), bytes);
  EXPECT_EQ(after.note("flops.main"), "35");
  EXPECT_EQ(after.note("flops.other"), "");
  const VirtualMachine vm(after, Module());
  EXPECT_EQ(vm("main", Tensor::zeros(Shape{5, 7}, kFloat32), true).type_str(),
            "tuple(float32[5], float32[5, 1], int64[0, 7], float, shape[5, 3], string)");
}

TEST(Serialize, OwnerIsKeptByConstants) {
  auto buffer = std::make_shared<Tensor>();
  {
    const std::vector<std::byte> bytes = save(sample());
    *buffer = Tensor::copy_of(bytes.data(), bytes.size(), Shape{static_cast<int64_t>(bytes.size())},
                              DataType::uint(8));
  }
  std::weak_ptr<Tensor> watch = buffer;
  const std::span<const std::byte> bytes(buffer->data_as<std::byte>(),
                                         static_cast<size_t>(buffer->num_bytes()));
  Executable executable = load(bytes, "sample", std::move(buffer));
  EXPECT_FALSE(watch.expired());
  executable = Executable();
  EXPECT_TRUE(watch.expired());
}

TEST(Serialize, DamageIsNamed) {
  std::vector<std::byte> bytes = save(sample());
  EXPECT_ERROR(load({}, "m.vm"), "error: m.vm is not an executable of tilewright");
  EXPECT_ERROR(load(view(bytes).first(bytes.size() - 64), "m.vm"),
               fmt::format("error: m.vm is damaged: it has {} of {} bytes", bytes.size() - 64, bytes.size()));
  bytes[100] ^= std::byte{1};
  EXPECT_ERROR(load(bytes, "m.vm"),
               "error: m.vm is damaged: its checksum is wrong\nhelp: compile or copy it again");
  bytes[4] = std::byte{9};
  EXPECT_ERROR(load(bytes, "m.vm"),
               "error: m.vm has format version 9, this runtime reads 3\nhelp: compile the model again with "
               "the tilewright you run it with");
}

TEST(Serialize, MutatedBytesNeverDoHarm) {
  const std::vector<std::byte> original = save(sample());
  std::mt19937_64 random(20240607);
  int num_loaded = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> bytes = original;
    const int num_changes = 1 + static_cast<int>(random() % 4);
    for (int change = 0; change < num_changes; ++change) {
      // mostly small numbers, which get past more checks than random ones
      const auto value = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 8);
      bytes[24 + random() % (bytes.size() - 24)] = value;
    }
    fix_checksum(bytes);
    try {
      const VirtualMachine vm(load(bytes, "mutated"), Module());
      ++num_loaded;
      (void)to_text(vm.executable());
      vm("main", Tensor::zeros(Shape{5, 7}, kFloat32), true);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(num_loaded, 250);
}

TEST(Serialize, TruncatedBytesNeverDoHarm) {
  const std::vector<std::byte> original = save(sample());
  for (size_t size = 32; size < original.size(); ++size) {
    std::vector<std::byte> bytes(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(size));
    const uint64_t stated = size;
    std::memcpy(bytes.data() + 8, &stated, 8);
    fix_checksum(bytes);
    try {
      load(bytes, "truncated");
    } catch (const UserError&) {
    }
  }
}

// The fault of the sample after a change.
template <class Change>
std::string fault_of(Change change) {
  Executable executable = sample();
  change(executable, executable.functions[1]);
  return find_fault(executable);
}

TEST(Verify, FaultsAreNamed) {
  using E = Executable&;
  using F = BytecodeFunction&;
  EXPECT_EQ(fault_of([](E, F) {}), "");
  EXPECT_EQ(fault_of([](E, F f) { f.code[0].a = 900; }), "instruction 0 of \"main\" uses register 900 of 10");
  EXPECT_EQ(fault_of([](E, F f) { f.code[0].opcode = static_cast<Opcode>(200); }),
            "instruction 0 of \"main\" has the unknown opcode 200");
  EXPECT_EQ(fault_of([](E, F f) { f.code[0].device = 2; }), "instruction 0 of \"main\" uses device 2 of 2");
  EXPECT_EQ(fault_of([](E, F f) { f.code[0].b = 4000; }),
            "instruction 0 of \"main\" uses 5 operands from 4000 of 22");
  EXPECT_EQ(fault_of([](E, F f) { f.code[0].num_operands = 1; }), "instruction 0 of \"main\" has 1 operands");
  EXPECT_EQ(fault_of([](E, F f) { f.operands[2].bits = 5; }),
            "instruction 0 of \"main\" has 2 patterns for 5 dimensions");
  EXPECT_EQ(fault_of([](E, F f) { f.operands[3].index = 70; }),
            "instruction 0 of \"main\" uses int register 70 of 3");
  EXPECT_EQ(fault_of([](E, F f) { f.operands[0].index = 70; }),
            "instruction 0 of \"main\" uses string 70 of 2");
  EXPECT_EQ(fault_of([](E, F f) { f.operands[0].kind = Operand::Kind::kNone; }),
            "instruction 0 of \"main\" has an operand of kind 0");
  EXPECT_EQ(fault_of([](E, F f) { f.operands[1].bits = 77; }),
            "instruction 0 of \"main\" has the dtype 77:0:0");
  EXPECT_EQ(fault_of([](E, F f) { f.code[1].b = 1; }), "instruction 1 of \"main\" jumps back to 1");
  EXPECT_EQ(fault_of([](E, F f) { f.code[1].b = 99; }),
            "instruction 1 of \"main\" uses instruction 99 of 14");
  EXPECT_EQ(fault_of([](E, F f) { f.code.pop_back(); }), "\"main\" does not end with return");
  EXPECT_EQ(fault_of([](E, F f) { f.num_registers = 1; }), "\"main\" has 2 parameters, but 1 registers");
  EXPECT_EQ(fault_of([](E, F f) { f.num_registers = 1 << 30; }), "\"main\" has more than 1048576 registers");
  EXPECT_EQ(fault_of([](E, F f) { f.int_names.resize(9); }), "\"main\" names 9 of 3 int registers");
  EXPECT_EQ(fault_of([](E, F f) { f.name = "inner"; }), "there are two functions \"inner\"");
  EXPECT_EQ(fault_of([](E, F f) { f.name = ""; }), "a function has no name");
  EXPECT_EQ(fault_of([](E e, F) { e.constants.pop_back(); }),
            "instruction 7 of \"main\" uses constant 1 of 1");
  EXPECT_EQ(fault_of([](E e, F) { e.constants[1] = Tensor(); }), "constant 1 is not a compact tensor on cpu");
  EXPECT_EQ(fault_of([](E, F f) {
              f.code[8].num_operands = 2;
              f.code[8].b = 10;
            }),
            "instruction 8 of \"main\" gives 2 arguments to \"inner\", which takes 1");
  EXPECT_EQ(fault_of([](E, F f) {
              f.code[8] = {Opcode::kLoop, 0, 4, 0, 0, static_cast<uint32_t>(f.operands.size())};
              for (const int64_t count : {3, 0}) f.operands.push_back(imm(count));
              for (int n = 0; n < 2; ++n) f.operands.push_back(none());
            }),
            "instruction 8 of \"main\" has 4 operands for 3 carried and 0 collected values");
}

}  // namespace
}  // namespace tilewright::runtime::vm
