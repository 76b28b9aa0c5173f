#include "tilewright/driver/tar.h"

#include <algorithm>
#include <charconv>

#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {

constexpr size_t kBlock = 512;
// offsets and lengths of the header's fields
constexpr size_t kName = 0, kNameBytes = 100, kMode = 100, kOwner = 108, kGroup = 116, kSize = 124,
                 kSizeBytes = 11, kTime = 136, kSum = 148, kSumBytes = 8, kType = 156, kMagic = 257;

size_t padded(size_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

// The sum of the header's bytes, with its own field counted as blanks.
unsigned sum_of(std::string_view header) {
  unsigned sum = 0;
  for (size_t n = 0; n < kBlock; ++n)
    sum += n >= kSum && n < kSum + kSumBytes ? ' ' : static_cast<unsigned char>(header[n]);
  return sum;
}

std::string header_of(const TarMember& member) {
  TILEWRIGHT_CHECK(member.name.size() <= kNameBytes, "tar: the name {} is too long", member.name);
  std::string header(kBlock, '\0');
  auto put = [&](size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(kName, member.name);
  put(kMode, "0000644");
  put(kOwner, "0000000");
  put(kGroup, "0000000");
  put(kSize, fmt::format("{:0{}o}", member.content.size(), kSizeBytes));
  put(kTime, "00000000000");
  put(kType, "0");
  put(kMagic, std::string_view("ustar\00000", 8));
  put(kSum, fmt::format("{:06o}", sum_of(header)) + std::string("\0 ", 2));
  return header;
}

uint64_t octal(std::string_view digits) {
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  return value;
}

}  // namespace

std::string write_tar(const std::vector<TarMember>& members) {
  std::string archive;
  for (const TarMember& member : members) {
    archive += header_of(member) + member.content;
    archive.resize(padded(archive.size()), '\0');
  }
  return archive + std::string(2 * kBlock, '\0');
}

std::vector<TarMember> read_tar(std::string_view archive, const std::string& path) {
  std::vector<TarMember> members;
  while (archive.size() >= kBlock && archive[0] != '\0') {
    const std::string_view header = archive.substr(0, kBlock);
    if (header.substr(kMagic, 5) != "ustar" || octal(header.substr(kSum, 6)) != sum_of(header))
      throw UserError("cannot load {}: it is not a tar archive, or damaged", path);
    const uint64_t size = octal(header.substr(kSize, kSizeBytes));
    archive.remove_prefix(kBlock);
    if (size > archive.size()) throw UserError("cannot load {}: it ends within a file", path);
    const bool is_file = header[kType] == '0' || header[kType] == '\0';
    const std::string_view name = header.substr(kName, kNameBytes);
    if (is_file)
      members.push_back({std::string(name.substr(0, name.find('\0'))), std::string(archive.substr(0, size))});
    archive.remove_prefix(std::min(padded(size), archive.size()));
  }
  return members;
}

}  // namespace tilewright::driver
