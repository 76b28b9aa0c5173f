#include "tilewright/runtime/device/device_code.h"

#include "../expect_error.h"
#include "tilewright/runtime/device/cuda_images.h"
#include "tilewright/runtime/dlpack.h"
#include "tilewright/runtime/function.h"
#include "tilewright/runtime/module.h"
#include "tilewright/runtime/vm/checksum.h"

namespace tilewright::runtime {
namespace {

constexpr const char* kKey = "0123456789abcdef0123456789abcdef";
constexpr const char* kOtherKey = "0123456789abcdef0123456789abcde0";

DeviceCode small_code() {
  DeviceCode code;
  code.images = {{kDLCUDA, "cubin", "sm_90a", std::string("\x7F\0ELF", 5)},
                 {kDLOpenCL, "opencl", "", "text"}};
  code.kernels = {{kKey, "mm_kernel_0", {DataType::handle(), kInt64}, {0, 1}}, {kOtherKey, "empty", {}, {}}};
  return code;
}

DeviceCode parse(std::span<const std::byte> bytes) { return DeviceCode::parse(bytes, "the file"); }

TEST(DeviceCode, IsTheSameAfterAsBytes) {
  const DeviceCode before = small_code(), after = parse(before.serialize());
  ASSERT_EQ(after.images.size(), 2u);
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(after.images[n].device_type, before.images[n].device_type);
    EXPECT_EQ(after.images[n].format, before.images[n].format);
    EXPECT_EQ(after.images[n].arch, before.images[n].arch);
    EXPECT_EQ(after.images[n].bytes, before.images[n].bytes);
  }
  ASSERT_EQ(after.kernels.size(), 2u);
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(after.kernels[n].key, before.kernels[n].key);
    EXPECT_EQ(after.kernels[n].symbol, before.kernels[n].symbol);
    EXPECT_EQ(after.kernels[n].params, before.kernels[n].params);
    EXPECT_EQ(after.kernels[n].images, before.kernels[n].images);
  }
  EXPECT_EQ(after.serialize(), before.serialize());
}

TEST(DeviceCode, EachTruncationAndEachFlippedBitIsFound) {
  const std::vector<std::byte> bytes = small_code().serialize();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parse(std::span(bytes).first(size)), UserError) << size;
  for (size_t position = 0; position < bytes.size(); ++position) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> flipped = bytes;
      flipped[position] ^= static_cast<std::byte>(1 << bit);
      EXPECT_THROW(parse(flipped), UserError) << position << " " << bit;
    }
  }
}

// The bytes after `change`.
std::vector<std::byte> changed(void (*change)(std::vector<std::byte>&)) {
  std::vector<std::byte> bytes = small_code().serialize();
  change(bytes);
  return bytes;
}

TEST(DeviceCode, TheTextOfEachRefusal) {
  const std::vector<std::byte> bytes = small_code().serialize();
  EXPECT_ERROR(parse({}), "error: the file is not device code of tilewright");
  EXPECT_ERROR(parse(std::span(bytes).first(40)),
               fmt::format("error: the file is damaged: it has 40 bytes, and says {}", bytes.size()));
  EXPECT_ERROR(parse(changed([](auto& bytes) { bytes[4] = std::byte{2}; })),
               "error: the file is device code of version 2, this runtime reads version 1\n"
               "help: compile the model again with the tilewright you run it with");
  EXPECT_ERROR(parse(changed([](auto& bytes) { bytes.back() ^= std::byte{1}; })),
               "error: the file is damaged: its checksum does not match");
  EXPECT_ERROR(parse(changed([](auto& bytes) {
                 bytes.push_back(std::byte{0});
                 const uint64_t header[] = {bytes.size(), vm::checksum(std::span(bytes).subspan(24))};
                 std::memcpy(bytes.data() + 8, header, sizeof header);
               })),
               "error: the file is damaged: bytes follow its end");
  DeviceCode code = small_code();
  code.kernels[0].key = "0123";
  EXPECT_ERROR(
      code.serialize(),
      "error: the device code is damaged: a kernel has the key \"0123\" and the name \"mm_kernel_0\"");
  code = small_code();
  code.kernels[0].params[1] = DataType::float_(32, 4);
  EXPECT_ERROR(code.serialize(),
               "error: the device code is damaged: kernel mm_kernel_0 has a parameter of dtype float32x4");
  code = small_code();
  code.kernels[0].images[1] = 2;
  EXPECT_ERROR(code.serialize(), "error: the device code is damaged: kernel mm_kernel_0 is in image 2 of 2");
}

TEST(DeviceCode, AKeyThatIsRegisteredTwiceGoesWithTheLastOne) {
  const std::string name = std::string("tilewright.kernel.") + kKey;
  EXPECT_FALSE(find_function(name));
  auto first = register_device_code(small_code()), second = register_device_code(small_code());
  const Function function = get_function(name);
  first.reset();
  EXPECT_EQ(find_function(name), function);
  second.reset();
  EXPECT_FALSE(find_function(name));
  EXPECT_ERROR(function(), "error: the library with kernel mm_kernel_0 is not loaded any more");
}

TEST(DeviceCode, AModuleRegistersWhatItCarries) {
  const std::vector<std::byte> bytes = small_code().serialize();
  const uint64_t size = bytes.size();
  const uint32_t version = TILEWRIGHT_KERNEL_ABI_VERSION;
  const TilewrightKernel nothing = [](void*, const TilewrightAny*, int32_t, TilewrightAny*) -> int32_t {
    return 0;
  };
  const auto lookup = [&](const std::string& symbol) -> void* {
    if (symbol == TILEWRIGHT_ABI_VERSION_SYMBOL) return const_cast<uint32_t*>(&version);
    if (symbol == TILEWRIGHT_DEVICE_CODE_SYMBOL) return const_cast<std::byte*>(bytes.data());
    if (symbol == TILEWRIGHT_DEVICE_CODE_SIZE_SYMBOL) return const_cast<uint64_t*>(&size);
    return symbol == "__tvm_ffi_f" ? reinterpret_cast<void*>(nothing) : nullptr;
  };
  const std::string name = std::string("tilewright.kernel.") + kKey;
  {
    Module module = Module::from_symbols({"lib.so", "library", lookup, nullptr});
    const Function function = module.get_function("f");
    module = Module();
    EXPECT_TRUE(find_function(name));  // the function keeps what it launches
  }
  EXPECT_FALSE(find_function(name));
  const uint64_t wrong_size = 30;
  const auto damaged = [&](const std::string& symbol) -> void* {
    return symbol == TILEWRIGHT_DEVICE_CODE_SIZE_SYMBOL ? const_cast<uint64_t*>(&wrong_size) : lookup(symbol);
  };
  EXPECT_ERROR(
      Module::from_symbols({"lib.so", "library", damaged, nullptr}),
      fmt::format("error: the device code of lib.so is damaged: it has 30 bytes, and says {}", size));
}

TEST(CudaImageFit, AsNvidiaSays) {
  const auto fit = [](const char* format, const char* arch, const char* version) {
    return cuda_image_fit({kDLCUDA, format, arch, ""}, version);
  };
  EXPECT_GT(fit("cubin", "sm_80", "8.0"), 0);
  EXPECT_GT(fit("cubin", "sm_80", "8.6"), 0);
  EXPECT_EQ(fit("cubin", "sm_86", "8.0"), 0);
  EXPECT_EQ(fit("cubin", "sm_80", "9.0"), 0);
  EXPECT_GT(fit("ptx", "compute_80", "9.0"), 0);
  EXPECT_EQ(fit("ptx", "compute_80", "7.5"), 0);
  EXPECT_GT(fit("cubin", "sm_90a", "9.0"), fit("cubin", "sm_90", "9.0"));
  EXPECT_EQ(fit("cubin", "sm_90a", "9.1"), 0);
  EXPECT_EQ(fit("ptx", "compute_90a", "10.0"), 0);
  EXPECT_GT(fit("ptx", "compute_100", "12.0"), fit("ptx", "compute_90", "12.0"));
  EXPECT_GT(fit("cubin", "sm_120", "12.0"), fit("ptx", "compute_100", "12.0"));
  EXPECT_EQ(fit("cubin", "sm", "8.0"), 0);
  EXPECT_EQ(fit("cubin", "sm_80", ""), 0);
}

}  // namespace
}  // namespace tilewright::runtime
