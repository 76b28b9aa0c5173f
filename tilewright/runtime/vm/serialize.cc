#include "tilewright/runtime/vm/serialize.h"

#include "tilewright/runtime/vm/byte_stream.h"
#include "tilewright/runtime/vm/checksum.h"
#include "tilewright/runtime/vm/verify.h"

namespace tilewright::runtime::vm {
namespace {

constexpr char kMagic[4] = {'T', 'W', 'V', 'M'};
constexpr size_t kHeaderBytes = 32;
constexpr size_t kChecksummedFrom = 24;

void write_texts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.number(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.text(text);
}

void write_descriptions(ByteWriter& out, const std::vector<Description>& values) {
  out.number(static_cast<uint32_t>(values.size()));
  for (const Description& value : values) {
    out.text(value.name);
    out.text(value.type);
  }
}

void write_notes(ByteWriter& out, const std::vector<Note>& notes) {
  out.number(static_cast<uint32_t>(notes.size()));
  for (const Note& note : notes) {
    out.text(note.name);
    out.text(note.text);
  }
}

void write_devices(ByteWriter& out, const std::vector<Device>& devices) {
  out.number(static_cast<uint32_t>(devices.size()));
  for (const Device device : devices) {
    out.number(device.type);
    out.number(device.id);
  }
}

void write_function(ByteWriter& out, const BytecodeFunction& function) {
  out.text(function.name);
  out.number(static_cast<uint8_t>(function.is_public));
  write_descriptions(out, function.parameters);
  write_descriptions(out, function.results);
  out.number(function.num_registers);
  out.number(function.num_ints);
  write_texts(out, function.int_names);
  out.number(static_cast<uint32_t>(function.code.size()));
  for (const Instruction& instruction : function.code) {
    out.number(static_cast<uint8_t>(instruction.opcode));
    out.number(instruction.device);
    out.number(instruction.num_operands);
    out.number(instruction.dst);
    out.number(instruction.a);
    out.number(instruction.b);
  }
  out.number(static_cast<uint32_t>(function.operands.size()));
  for (const Operand& operand : function.operands) {
    out.number(static_cast<uint8_t>(operand.kind));
    out.number(operand.index);
    out.number(operand.bits);
  }
}

std::vector<std::string> read_texts(ByteReader& in) {
  std::vector<std::string> texts(in.count(4));
  for (std::string& text : texts) text = in.text();
  return texts;
}

std::vector<Description> read_descriptions(ByteReader& in) {
  std::vector<Description> values(in.count(8));
  for (Description& value : values) {
    value.name = in.text();
    value.type = in.text();
  }
  return values;
}

std::vector<Note> read_notes(ByteReader& in) {
  std::vector<Note> notes(in.count(8));
  for (Note& note : notes) {
    note.name = in.text();
    note.text = in.text();
  }
  return notes;
}

std::vector<Device> read_devices(ByteReader& in) {
  std::vector<Device> devices(in.count(8));
  for (Device& device : devices) {
    device.type = in.number<int32_t>();
    device.id = in.number<int32_t>();
  }
  return devices;
}

BytecodeFunction read_function(ByteReader& in) {
  BytecodeFunction function;
  function.name = in.text();
  function.is_public = in.number<uint8_t>() != 0;
  function.parameters = read_descriptions(in);
  function.results = read_descriptions(in);
  function.num_registers = in.number<uint32_t>();
  function.num_ints = in.number<uint32_t>();
  function.int_names = read_texts(in);
  function.code.resize(in.count(16));
  for (Instruction& instruction : function.code) {
    instruction.opcode = static_cast<Opcode>(in.number<uint8_t>());
    instruction.device = in.number<uint8_t>();
    instruction.num_operands = in.number<uint16_t>();
    instruction.dst = in.number<uint32_t>();
    instruction.a = in.number<uint32_t>();
    instruction.b = in.number<uint32_t>();
  }
  function.operands.resize(in.count(13));
  for (Operand& operand : function.operands) {
    operand.kind = static_cast<Operand::Kind>(in.number<uint8_t>());
    operand.index = in.number<uint32_t>();
    operand.bits = in.number<int64_t>();
  }
  return function;
}

uint64_t aligned(uint64_t offset) {
  return (offset + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

// Offsets count from the (rounded) end of `code`, so that they are known while `code` is written.
void write_constants(ByteWriter& out, const std::vector<Tensor>& constants) {
  out.number(static_cast<uint32_t>(constants.size()));
  uint64_t offset = 0;
  for (const Tensor& constant : constants) {
    out.number(constant.dtype().code);
    out.number(constant.dtype().bits);
    out.number(constant.dtype().lanes);
    out.number(static_cast<uint8_t>(constant.ndim()));
    for (int64_t extent : constant.shape()) out.number(extent);
    out.number(offset);
    offset = aligned(offset + static_cast<uint64_t>(constant.num_bytes()));
  }
}

class ConstantReader {
 public:
  ConstantReader(std::span<const std::byte> data, const std::string& name, std::shared_ptr<const void> owner)
      : data_(data), name_(name), owner_(std::move(owner)) {}

  Tensor read(ByteReader& in) const {
    const auto code = in.number<uint8_t>(), bits = in.number<uint8_t>();
    const DataType dtype = DataType::make(code, bits, in.number<uint16_t>());
    Shape shape(in.number<uint8_t>());
    if (shape.size() > 64)
      throw UserError("{} is damaged: a constant has {} dimensions", name_, shape.size());
    for (int64_t& extent : shape) extent = in.number<int64_t>();
    const auto offset = in.number<uint64_t>();
    if (bits == 0 || dtype.lanes == 0)
      throw UserError("{} is damaged: a constant has {} bits and {} lanes", name_, bits, dtype.lanes);
    const auto num_bytes = static_cast<uint64_t>(checked_num_bytes(shape, dtype, name_));
    if (offset % kTensorAlignment != 0 || offset > data_.size() || num_bytes > data_.size() - offset) {
      throw UserError("{} is damaged: a constant {}{} does not fit", name_, dtype.str(), shape_str(shape));
    }
    const std::byte* data = data_.data() + offset;
    if (!owner_ || reinterpret_cast<uintptr_t>(data) % kTensorAlignment != 0) {
      return Tensor::copy_of(data, num_bytes, shape, dtype);
    }
    return Tensor::view_of_const(data, shape, dtype, owner_);
  }

 private:
  std::span<const std::byte> data_;
  const std::string& name_;
  std::shared_ptr<const void> owner_;
};

// Checks the header and returns the number of bytes of `code`.
uint64_t check_header(std::span<const std::byte> bytes, const std::string& name) {
  ByteReader in(bytes, name);
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    throw UserError("{} is not an executable of tilewright", name);
  }
  in.raw(sizeof kMagic);
  const auto version = in.number<uint32_t>();
  if (version != kExecutableVersion) {
    throw UserError("{} has format version {}, this runtime reads {}", name, version, kExecutableVersion)
        .help("compile the model again with the tilewright you run it with");
  }
  const auto num_bytes = in.number<uint64_t>(), sum = in.number<uint64_t>(),
             code_bytes = in.number<uint64_t>();
  if (num_bytes != bytes.size())
    throw UserError("{} is damaged: it has {} of {} bytes", name, bytes.size(), num_bytes);
  if (sum != checksum(bytes.subspan(kChecksummedFrom))) {
    throw UserError("{} is damaged: its checksum is wrong", name).help("compile or copy it again");
  }
  if (code_bytes > bytes.size() - kHeaderBytes) throw UserError("{} is damaged: it ends too early", name);
  return code_bytes;
}

}  // namespace

std::vector<std::byte> save(const Executable& executable) {
  ByteWriter code;
  write_texts(code, executable.strings);
  write_texts(code, executable.callees);
  write_notes(code, executable.notes);
  write_devices(code, executable.devices);
  code.number(static_cast<uint32_t>(executable.functions.size()));
  for (const BytecodeFunction& function : executable.functions) write_function(code, function);
  write_constants(code, executable.constants);

  ByteWriter out;
  uint64_t most_bytes = aligned(kHeaderBytes + code.bytes.size());
  for (const Tensor& constant : executable.constants)
    most_bytes += aligned(static_cast<uint64_t>(constant.num_bytes()));
  out.bytes.reserve(most_bytes);
  out.raw(kMagic, sizeof kMagic);
  out.number(kExecutableVersion);
  out.number(uint64_t{0});  // size and checksum, filled in below
  out.number(uint64_t{0});
  out.number(static_cast<uint64_t>(code.bytes.size()));
  out.raw(code.bytes.data(), code.bytes.size());
  for (const Tensor& constant : executable.constants) {
    out.align(kTensorAlignment);
    out.raw(constant.data(), static_cast<size_t>(constant.num_bytes()));
  }
  out.align(kTensorAlignment);
  ByteWriter filled;
  filled.number(static_cast<uint64_t>(out.bytes.size()));
  filled.number(checksum(std::span(out.bytes).subspan(kChecksummedFrom)));
  std::memcpy(out.bytes.data() + 8, filled.bytes.data(), filled.bytes.size());
  return std::move(out.bytes);
}

Executable load(std::span<const std::byte> bytes, const std::string& name,
                std::shared_ptr<const void> owner) {
  const uint64_t code_bytes = check_header(bytes, name);
  ByteReader in(bytes.subspan(kHeaderBytes, code_bytes), name);
  Executable executable;
  executable.strings = read_texts(in);
  executable.callees = read_texts(in);
  executable.notes = read_notes(in);
  executable.devices = read_devices(in);
  executable.functions.resize(in.count(30));
  for (BytecodeFunction& function : executable.functions) function = read_function(in);
  const uint64_t data_begin = std::min<uint64_t>(aligned(kHeaderBytes + code_bytes), bytes.size());
  const ConstantReader constants(bytes.subspan(data_begin), name, std::move(owner));
  for (size_t left = in.count(13); left > 0; --left) executable.constants.push_back(constants.read(in));
  if (!in.is_at_end()) throw UserError("{} is damaged: it is longer than its header says", name);
  const std::string fault = find_fault(executable);
  if (!fault.empty()) throw UserError("{} is damaged: {}", name, fault);
  return executable;
}

}  // namespace tilewright::runtime::vm
