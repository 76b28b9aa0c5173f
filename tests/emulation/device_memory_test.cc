#include "tilewright/emulation/device_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace tilewright::emulation {
namespace {

float read(const DeviceMemory&, const void* data) {
  float value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

TEST(DeviceMemory, IsClosedToTheHost) {
  DeviceMemory memory;
  void* data = memory.allocate(28);
  {
    const DeviceMemory::Access outer(memory);
    {
      const DeviceMemory::Access inner(memory);
    }
    EXPECT_TRUE(std::isnan(read(memory, data)));  // nobody has set it
  }
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(std::printf("%f", read(memory, data)), "");
}

TEST(DeviceMemory, BlocksDoNotOverlap) {
  DeviceMemory memory;
  auto *a = static_cast<char*>(memory.allocate(1000)), *b = static_cast<char*>(memory.allocate(7));
  EXPECT_GE(b - a, 1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 256, 0u);
  EXPECT_EQ(memory.used_bytes(), 1007u);
  EXPECT_TRUE(memory.contains(a, 1000));
  EXPECT_TRUE(memory.contains(a + 990, 10));
  EXPECT_FALSE(memory.contains(a + 990, 11));
  EXPECT_FALSE(memory.contains(a - 1, 1));
  EXPECT_FALSE(memory.contains(&memory, 1));
  EXPECT_TRUE(memory.release(a));
  EXPECT_FALSE(memory.release(a));
  EXPECT_FALSE(memory.release(b + 1));
  EXPECT_FALSE(memory.contains(a, 1));
  EXPECT_EQ(memory.allocate(900), a);  // the gap is used again
}

TEST(DeviceMemory, WhatIsWrittenBehindABlockIsFound) {
  DeviceMemory memory;
  auto* data = static_cast<char*>(memory.allocate(28));
  const DeviceMemory::Access access(memory);
  std::memset(data, 0, 28);
  EXPECT_TRUE(memory.is_sound());
  data[28] = 0;
  EXPECT_FALSE(memory.is_sound());
}

TEST(DeviceMemory, HasAnEnd) {
  DeviceMemory memory;
  EXPECT_EQ(memory.allocate(DeviceMemory::kTotalBytes + 1), nullptr);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

}  // namespace
}  // namespace tilewright::emulation
