// Writes the VM executable of the test model as C source: make_test_model OUT.c
// main(x: float32[n, 7]) -> (x + 1, x + 2)
#include <cstdio>

#include "tilewright/runtime/vm/builder.h"
#include "tilewright/runtime/vm/serialize.h"

using namespace tilewright;
using namespace tilewright::runtime::vm;

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  ExecutableBuilder builder;
  FunctionBuilder main(builder, "main", {{"x", "float32[n, 7]"}},
                       {{"y", "float32[n, 7]"}, {"z", "float32[n, 7]"}});
  const IntRegister n = main.new_int("n");
  main.check_tensor(main.parameter(0), "x", kFloat32, {bind(n), imm(7)});
  const Register y = main.new_tensor(kFloat32, {n, imm(7)}), z = main.new_tensor(kFloat32, {n, imm(7)});
  main.call_kernel("add_one", {main.parameter(0), y});
  main.call_kernel("add_one", {y, z});
  main.ret(main.make_tuple({y, z}));
  builder.add(main.finish());
  const std::vector<std::byte> bytes = save(builder.finish());
  std::FILE* file = std::fopen(argv[1], "w");
  if (!file) return 1;
  std::fprintf(file, "#include <stdint.h>\nconst uint64_t __tilewright_blob_size = %zu;\n", bytes.size());
  std::fprintf(file, "_Alignas(64) const unsigned char __tilewright_blob[] = {");
  for (std::byte byte : bytes) std::fprintf(file, "%d,", std::to_integer<int>(byte));
  std::fprintf(file, "};\n");
  return std::fclose(file);
}
