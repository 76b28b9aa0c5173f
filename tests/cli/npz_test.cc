// Arrays in files: what numpy writes is read, what we write is read back, and damage is named, never crashed
// on. That numpy reads what we write is tested in test_run.py.
#include "tilewright/cli/npz.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tilewright/cli/npy.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {
using runtime::Shape;
using runtime::Tensor;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.render();
  }
  return "no error";
}

// A file as numpy writes it, with any header.
std::string npy(std::string header, const std::string& data) {
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += {static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return bytes + header + data;
}

std::string read_error(const std::string& header, const std::string& data = "") {
  return error_of([&] { read_npy(npy(header, data), "x"); });
}

TEST(Npy, HeadersOfAllVersionsOfPython) {
  const std::string data(24, '\0');
  for (const char* header : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                             "{\"shape\":(2L,3L),\"descr\":\"<f4\",\"fortran_order\":False}"}) {
    EXPECT_EQ(type_str(read_npy(npy(header, data), "x")), "float32[2, 3]");
  }
  EXPECT_EQ(type_str(read_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\1"), "x")),
            "bool[]");
}

TEST(Npy, RoundTripOfEveryType) {
  for (const char* dtype : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                            "float16", "float32", "float64"}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{5, 0, 7}, Shape{5, 7}}) {
      const Tensor before = Tensor::zeros(shape, DataType::parse(dtype));
      std::memset(before.data(), 1, static_cast<size_t>(before.num_bytes()));
      const Tensor after = read_npy(write_npy(before, "y"), "y");
      EXPECT_EQ(type_str(after), type_str(before));
      EXPECT_EQ(std::memcmp(after.data(), before.data(), static_cast<size_t>(before.num_bytes())), 0);
    }
  }
}

TEST(Npy, TypesThatNumpyLacksAreRefused) {
  EXPECT_EQ(error_of([] { write_npy(Tensor::zeros(Shape{2}, DataType::bfloat16()), "output \"y\""); }),
            "unsupported: output \"y\" has dtype bfloat16, which numpy's files cannot hold\n"
            "help: convert it to float32 inside the model");
}

TEST(Npy, StructuresAreRefused) {
  EXPECT_EQ(read_error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
            "unsupported: x has elements of several fields: [('a', '<f4')]\n"
            "help: save each field as an array of its own, e.g. numpy.savez(path, x=array[\"x\"])");
}

TEST(Npy, WrongHeaders) {
  const std::string no_array =
      "error: x is not an array of numpy, or is cut short\nhelp: write it again with numpy.save";
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} or more",
        "{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (2,)}"}) {
    EXPECT_EQ(read_error(header), no_array) << header;
  }
  EXPECT_EQ(error_of([] { read_npy("\x93NUMPY", "x"); }), no_array);
  EXPECT_EQ(read_error("{'descr': '<f4', 'fortran_order': False, 'shape': (3037000500, 3037000500)}"),
            "error: x: float32[3037000500, 3037000500] is larger than any memory");
}

Tensor iota(const Shape& shape) {
  const Tensor tensor = Tensor::zeros(shape, kFloat32);
  for (int64_t n = 0; n < tensor.num_elements(); ++n) tensor.data_as<float>()[n] = static_cast<float>(n);
  return tensor;
}

TEST(Npz, RoundTrip) {
  const std::string bytes = write_npz({{"x", iota({5, 7})}, {"größe", iota({})}, {"", iota({0})}});
  const std::vector<NamedTensor> arrays = read_arrays(bytes, "x.npz");
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[0].name, "x");
  EXPECT_EQ(type_str(arrays[0].tensor), "float32[5, 7]");
  EXPECT_EQ(arrays[0].tensor.data_as<float>()[34], 34);
  EXPECT_EQ(arrays[1].name, "größe");
  EXPECT_EQ(arrays[2].name, "");
  EXPECT_TRUE(read_arrays(write_npz({}), "x.npz").empty());
}

TEST(Npz, TwoArraysOfOneName) {
  const std::string bytes = write_npz({{"x", iota({2})}, {"x", iota({2})}});
  EXPECT_EQ(error_of([&] { read_arrays(bytes, "x.npz"); }), "error: \"x.npz\" has two arrays called \"x\"");
}

TEST(Npz, MoreThanFourGigabytes) {
  // nothing of it is read
  char byte = 0;
  const Tensor large = Tensor::view_of(&byte, Shape{int64_t{1} << 32}, DataType::int_(8), nullptr);
  EXPECT_EQ(error_of([&] { write_npz({{"y", large}}); }),
            "unsupported: the outputs are larger than 4 GiB, more than a .npz file is written with\n"
            "help: give the model smaller inputs, or run it from Python");
}

std::string changed(std::string bytes, std::string_view mark, size_t offset, char value) {
  bytes[bytes.find(mark) + offset] = value;
  return bytes;
}

TEST(Npz, WhatCannotBeReadIsNamed) {
  const std::string bytes = write_npz({{"x", iota({2})}});
  EXPECT_EQ(error_of([&] { read_arrays(changed(bytes, "PK\x01\x02", 8, 1), "x.npz"); }),
            "unsupported: \"x.npz\" is encrypted");
  EXPECT_EQ(error_of([&] { read_arrays(changed(bytes, "PK\x01\x02", 10, 12), "x.npz"); }),
            "unsupported: \"x.npz\" is compressed with method 12 of zip\n"
            "help: write it with numpy.savez or numpy.savez_compressed");
  EXPECT_EQ(
      error_of([&] {
        read_arrays(changed(changed(bytes, "PK\x01\x02", 10, 8), "\x93NUMPY", 0, '\xFF'), "x.npz");
      }),
      "error: \"x.npz\" is damaged: \"x.npy\" cannot be unpacked\nhelp: write it again with numpy.savez");
  EXPECT_EQ(error_of([&] { read_arrays(changed(bytes, "PK\x01\x02", 42, 9), "x.npz"); }),
            "error: \"x.npz\" is damaged: \"x.npy\" is not where it should be\n"
            "help: write it again with numpy.savez");
  EXPECT_EQ(error_of([&] { read_arrays(changed(bytes, "PK\x05\x06", 16, 9), "x.npz"); }),
            "error: \"x.npz\" is damaged: its directory is not where it should be\n"
            "help: write it again with numpy.savez");
}

TEST(Npz, EveryTruncationIsRefused) {
  const std::string whole = write_npz({{"x", iota({5, 7})}});
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string text = error_of([&] { read_arrays(whole.substr(0, size), "x.npz"); });
    EXPECT_TRUE(text.starts_with("error: \"x.npz\" is")) << size << ": " << text;
  }
}

}  // namespace
}  // namespace tilewright::cli
