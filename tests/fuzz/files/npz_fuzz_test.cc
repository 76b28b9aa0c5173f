// Damaged .npz and .npy files are read or refused; sanitizers watch.
#include <gtest/gtest.h>
#include <zlib.h>

#include "mutate.h"
#include "tilewright/cli/npy.h"
#include "tilewright/cli/npz.h"
#include "tilewright/support/error.h"

namespace tilewright::fuzz {
namespace {
using runtime::Shape;
using runtime::Tensor;

// Reads `rounds` damaged copies of `whole` and returns how many were readable nevertheless.
int64_t num_readable(const std::string& whole, int64_t rounds, Random& random) {
  int64_t count = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    try {
      cli::read_arrays(mutated(whole, random), "x.npz");
      ++count;
    } catch (const Error&) {
    }
  }
  return count;
}

// The archive with its entries compressed; checksums are kept, so that only what unpacks to the same is
// readable.
std::string compressed(const Tensor& tensor) {
  const std::string npy = cli::write_npy(tensor, "x");
  std::string packed(compressBound(npy.size()), '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(npy.data()));
  stream.avail_in = static_cast<uInt>(npy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  std::string archive = cli::write_npz({{"x", tensor}});
  const size_t begin = archive.find(npy), change = npy.size() - packed.size();
  archive.replace(begin, npy.size(), packed);
  auto put = [&](size_t at, uint64_t value, size_t size) {
    for (size_t n = 0; n < size; ++n) archive[at + n] = static_cast<char>(value >> (8 * n) & 0xFF);
  };
  const size_t central = archive.find("PK\x01\x02"), end = archive.find("PK\x05\x06");
  put(8, 8, 2);
  put(18, packed.size(), 4);
  put(central + 10, 8, 2);
  put(central + 20, packed.size(), 4);
  put(end + 16, central, 4);
  EXPECT_GT(change, 0u);
  return archive;
}

TEST(NpzFuzz, DamagedArchivesDoNoHarm) {
  Random random(seed());
  const Tensor x = Tensor::zeros(Shape{5, 7}, kFloat32), y = Tensor::zeros(Shape{}, kInt64);
  EXPECT_GT(num_readable(cli::write_npz({{"x", x}, {"y", y}}), num_cases(20000), random), 100);
}

TEST(NpzFuzz, DamagedCompressionDoesNoHarm) {
  Random random(seed());
  const std::string whole = compressed(Tensor::zeros(Shape{50, 70}, kFloat32));
  ASSERT_EQ(cli::read_arrays(whole, "x.npz").size(), 1u);
  EXPECT_GT(num_readable(whole, num_cases(10000), random), 100);
}

TEST(NpzFuzz, DamagedArraysDoNoHarm) {
  Random random(seed());
  const Tensor x = Tensor::zeros(Shape{5, 7}, kFloat32);
  EXPECT_GT(num_readable(cli::write_npy(x, "x"), num_cases(20000), random), 100);
}

}  // namespace
}  // namespace tilewright::fuzz
