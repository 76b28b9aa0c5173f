// Source of the archive's layout: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3 (sizes over 4 GiB).
#include "tilewright/cli/npz.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tilewright/cli/npy.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {

constexpr std::string_view kLocal = "PK\x03\x04", kCentral = "PK\x01\x02", kEnd = "PK\x05\x06";
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // the real value is in the extra field

/// Reads numbers from an archive's bytes; reading past the end raises.
class Archive {
 public:
  Archive(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void damaged(const std::string& reason) const {
    throw UserError("\"{}\" is damaged: {}", name_, reason).help("write it again with numpy.savez");
  }
  std::string_view take(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) damaged("it ends too early");
    return bytes_.substr(offset, size);
  }
  uint64_t number(uint64_t offset, size_t size) const { return number_in(take(offset, size), 0, size); }
  static uint64_t number_in(std::string_view bytes, size_t offset, size_t size) {
    uint64_t value = 0;
    for (size_t n = size; n-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[offset + n]);
    return value;
  }
  size_t size() const { return bytes_.size(); }
  const std::string& name() const { return name_; }
  /// The position of the last `mark`; size() if there is none.
  size_t find_last(std::string_view mark) const { return std::min(bytes_.rfind(mark), bytes_.size()); }

 private:
  std::string_view bytes_;
  const std::string& name_;
};

/// One file of the archive as listed in the central directory.
struct Entry {
  std::string name;
  uint64_t method = 0, flags = 0, crc = 0, packed_bytes = 0, bytes = 0, local_offset = 0;
};

// Reads sizes and offset of more than 32 bits, in this order; only those that are marked are present.
void read_extra(std::string_view extra, Entry& entry) {
  while (extra.size() >= 4) {
    const uint64_t id = Archive::number_in(extra, 0, 2), size = Archive::number_in(extra, 2, 2);
    extra.remove_prefix(4);
    if (size > extra.size()) return;
    std::string_view content = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != 1) continue;
    for (uint64_t* field : {&entry.bytes, &entry.packed_bytes, &entry.local_offset}) {
      if (*field != kIn64 || content.size() < 8) continue;
      *field = Archive::number_in(content, 0, 8);
      content.remove_prefix(8);
    }
  }
}

std::vector<Entry> read_directory(const Archive& archive) {
  const size_t end = archive.find_last(kEnd);
  if (end == archive.size()) archive.damaged("it ends too early");
  uint64_t count = archive.number(end + 10, 2), offset = archive.number(end + 16, 4);
  (void)archive.take(end, kEndBytes);
  std::vector<Entry> entries;
  for (; count > 0; --count) {
    if (archive.take(offset, kCentralBytes).substr(0, 4) != kCentral)
      archive.damaged("its directory is not where it should be");
    Entry entry;
    entry.flags = archive.number(offset + 8, 2);
    entry.method = archive.number(offset + 10, 2);
    entry.crc = archive.number(offset + 16, 4);
    entry.packed_bytes = archive.number(offset + 20, 4);
    entry.bytes = archive.number(offset + 24, 4);
    const uint64_t name_bytes = archive.number(offset + 28, 2), extra_bytes = archive.number(offset + 30, 2),
                   comment_bytes = archive.number(offset + 32, 2);
    entry.local_offset = archive.number(offset + 42, 4);
    entry.name = archive.take(offset + kCentralBytes, name_bytes);
    read_extra(archive.take(offset + kCentralBytes + name_bytes, extra_bytes), entry);
    offset += kCentralBytes + name_bytes + extra_bytes + comment_bytes;
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Decompresses piece by piece, so that memory is only allocated for data that really exists.
std::string inflated(const Archive& archive, const Entry& entry, std::string_view packed) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zlib cannot be initialised");
  std::string bytes;
  int status = Z_OK;
  constexpr size_t kPiece = size_t{1} << 20;
  while (status == Z_OK && bytes.size() <= entry.bytes) {
    if (stream.avail_in == 0) {
      const size_t size = std::min(packed.size(), kPiece);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      stream.avail_in = static_cast<uInt>(size);
      packed.remove_prefix(size);
    }
    const size_t done = bytes.size();
    bytes.resize(done + kPiece);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
    stream.avail_out = kPiece;
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(done + kPiece - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) archive.damaged(fmt::format("\"{}\" cannot be unpacked", entry.name));
  return bytes;
}

runtime::Tensor read_entry(const Archive& archive, const Entry& entry, const std::string& shown,
                           runtime::Tensor* text) {
  if (entry.flags & 1) throw Unsupported("\"{}\" is encrypted", archive.name());
  if (archive.take(entry.local_offset, kLocalBytes).substr(0, 4) != kLocal)
    archive.damaged(fmt::format("\"{}\" is not where it should be", entry.name));
  const uint64_t name_bytes = archive.number(entry.local_offset + 26, 2),
                 extra_bytes = archive.number(entry.local_offset + 28, 2);
  const uint64_t begin = entry.local_offset + kLocalBytes + name_bytes + extra_bytes;
  const std::string_view packed = archive.take(begin, entry.packed_bytes);
  std::string unpacked;
  std::string_view bytes = packed;
  if (entry.method == 8) {
    unpacked = inflated(archive, entry, packed);
    bytes = unpacked;
  } else if (entry.method != 0) {
    throw Unsupported("\"{}\" is compressed with method {} of zip", archive.name(), entry.method)
        .help("write it with numpy.savez or numpy.savez_compressed");
  }
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (bytes.size() != entry.bytes || crc != entry.crc)
    archive.damaged(fmt::format("the checksum of \"{}\" is wrong", entry.name));
  return read_npy(bytes, shown, text);
}

void append(std::string& bytes, uint64_t value, size_t size) {
  for (size_t n = 0; n < size; ++n) bytes += static_cast<char>(value >> (8 * n) & 0xFF);
}

}  // namespace

std::vector<NamedTensor> read_arrays(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("\x93NUMPY")) {
    NamedTensor only{"", {}, {}};
    only.tensor = read_npy(bytes, fmt::format("\"{}\"", name), &only.text);
    return {std::move(only)};
  }
  if (!bytes.starts_with(kLocal) && !bytes.starts_with(kEnd))
    throw UserError("\"{}\" is neither a .npz nor a .npy file", name)
        .help("write it with numpy.savez(\"{}\", input_name=array)", name);
  const Archive archive(bytes, name);
  std::vector<NamedTensor> arrays;
  std::set<std::string> keys;
  for (const Entry& entry : read_directory(archive)) {
    std::string key = entry.name;
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    const std::string shown = fmt::format("array \"{}\" of \"{}\"", key, name);
    if (!keys.insert(key).second) throw UserError("\"{}\" has two arrays called \"{}\"", name, key);
    NamedTensor array{std::move(key), {}, {}};
    array.tensor = read_entry(archive, entry, shown, &array.text);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::string write_npz(const std::vector<NamedTensor>& arrays) {
  std::string bytes, directory;
  for (const NamedTensor& array : arrays) {
    // sizes and offsets have 32 bits; headers, names and the directory need some of that range
    constexpr uint64_t kMaxBytes = std::numeric_limits<uint32_t>::max() - (uint64_t{1} << 24);
    if (bytes.size() + static_cast<uint64_t>(array.tensor.num_bytes()) > kMaxBytes)
      throw Unsupported("the outputs are larger than 4 GiB, more than a .npz file is written with")
          .help("give the model smaller inputs, or run it from Python");
    const std::string content = array.text
                                    ? write_npy_strings(array.tensor, array.text)
                                    : write_npy(array.tensor, fmt::format("output \"{}\"", array.name));
    const std::string name = array.name + ".npy";
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    // version 2.0, no flags, stored, dated 1980-01-01, so that equal outputs give equal bytes
    std::string common;
    append(common, 20, 2);
    append(common, 0x800, 2);  // flag: the name is UTF-8
    append(common, 0, 2);
    append(common, 0, 2);
    append(common, 0x21, 2);
    append(common, crc, 4);
    append(common, content.size(), 4);
    append(common, content.size(), 4);
    append(common, name.size(), 2);
    append(common, 0, 2);
    directory += kCentral;
    append(directory, 20, 2);
    directory += common;
    append(directory, 0, 2);  // comment, disk and attributes
    append(directory, 0, 8);
    append(directory, bytes.size(), 4);
    directory += name;
    bytes += kLocal;
    bytes += common + name + content;
  }
  const size_t directory_at = bytes.size();
  bytes += directory;
  bytes += kEnd;
  append(bytes, 0, 4);
  append(bytes, arrays.size(), 2);
  append(bytes, arrays.size(), 2);
  append(bytes, directory.size(), 4);
  append(bytes, directory_at, 4);
  append(bytes, 0, 2);
  return bytes;
}

}  // namespace tilewright::cli
