// Device code as bytes: "TWDC", the version of the format, the length of the whole and its checksum; then images
// and kernels.
#include "tilewright/runtime/device/device_code.h"

#include <algorithm>

#include "tilewright/runtime/vm/byte_stream.h"
#include "tilewright/runtime/vm/checksum.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

constexpr char kMagic[4] = {'T', 'W', 'D', 'C'};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 24;
constexpr size_t kKeyDigits = 32;

bool is_symbol(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_key(std::string_view text) {
  return text.size() == kKeyDigits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// What a kernel can take: an address, or a number of up to 8 bytes.
bool is_param(DataType dtype) {
  if (dtype.is_handle()) return dtype.bits == 64 && dtype.lanes == 1;
  const bool is_number = dtype.is_integral() || dtype.is_bool() || dtype.code == DataType::kFloat;
  return is_number && dtype.lanes == 1 && dtype.bits >= 8 && dtype.bits <= 64 &&
         (dtype.bits & (dtype.bits - 1)) == 0;
}

void check(const DeviceKernel& kernel, size_t num_images, const std::string& name) {
  if (!is_key(kernel.key) || !is_symbol(kernel.symbol))
    throw UserError("{} is damaged: a kernel has the key \"{}\" and the name \"{}\"", name, kernel.key,
                    kernel.symbol);
  for (DataType param : kernel.params) {
    if (!is_param(param))
      throw UserError("{} is damaged: kernel {} has a parameter of dtype {}", name, kernel.symbol,
                      param.str());
  }
  for (uint32_t image : kernel.images) {
    if (image >= num_images)
      throw UserError("{} is damaged: kernel {} is in image {} of {}", name, kernel.symbol, image,
                      num_images);
  }
}

DeviceKernel read_kernel(vm::ByteReader& in) {
  DeviceKernel kernel;
  kernel.key = in.text();
  kernel.symbol = in.text();
  kernel.params.resize(in.count(4));
  for (DataType& param : kernel.params) {
    const auto code = in.number<uint8_t>(), bits = in.number<uint8_t>();
    param = DataType::make(code, bits, in.number<uint16_t>());
  }
  kernel.images.resize(in.count(4));
  for (uint32_t& image : kernel.images) image = in.number<uint32_t>();
  return kernel;
}

}  // namespace

std::vector<std::byte> DeviceCode::serialize() const {
  vm::ByteWriter body;
  body.number(static_cast<uint32_t>(images.size()));
  for (const DeviceImage& image : images) {
    body.number(image.device_type);
    body.text(image.format);
    body.text(image.arch);
    body.text(image.bytes);
  }
  body.number(static_cast<uint32_t>(kernels.size()));
  for (const DeviceKernel& kernel : kernels) {
    check(kernel, images.size(), "the device code");
    body.text(kernel.key);
    body.text(kernel.symbol);
    body.number(static_cast<uint32_t>(kernel.params.size()));
    for (DataType param : kernel.params) {
      body.number(param.code);
      body.number(param.bits);
      body.number(param.lanes);
    }
    body.number(static_cast<uint32_t>(kernel.images.size()));
    for (uint32_t image : kernel.images) body.number(image);
  }
  vm::ByteWriter out;
  out.raw(kMagic, sizeof kMagic);
  out.number(kVersion);
  out.number(static_cast<uint64_t>(kHeaderBytes + body.bytes.size()));
  out.number(vm::checksum(body.bytes));
  out.raw(body.bytes.data(), body.bytes.size());
  return std::move(out.bytes);
}

DeviceCode DeviceCode::parse(std::span<const std::byte> bytes, const std::string& name) {
  vm::ByteReader in(bytes, name);
  if (bytes.size() < kHeaderBytes || std::memcmp(in.raw(sizeof kMagic).data(), kMagic, sizeof kMagic) != 0)
    throw UserError("{} is not device code of tilewright", name);
  if (const auto version = in.number<uint32_t>(); version != kVersion)
    throw UserError("{} is device code of version {}, this runtime reads version {}", name, version, kVersion)
        .help("compile the model again with the tilewright you run it with");
  const auto size = in.number<uint64_t>(), sum = in.number<uint64_t>();
  if (size != bytes.size())
    throw UserError("{} is damaged: it has {} bytes, and says {}", name, bytes.size(), size);
  if (sum != vm::checksum(bytes.subspan(kHeaderBytes)))
    throw UserError("{} is damaged: its checksum does not match", name);
  DeviceCode code;
  code.images.resize(in.count(16));
  for (DeviceImage& image : code.images) {
    image.device_type = in.number<int32_t>();
    image.format = in.text();
    image.arch = in.text();
    image.bytes = in.text();
  }
  const size_t num_kernels = in.count(16);
  for (size_t n = 0; n < num_kernels; ++n) {
    code.kernels.push_back(read_kernel(in));
    check(code.kernels.back(), code.images.size(), name);
  }
  if (!in.is_at_end()) throw UserError("{} is damaged: bytes follow its end", name);
  return code;
}

}  // namespace tilewright::runtime
