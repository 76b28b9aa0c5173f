#include "tilewright/runtime/tensor.h"

#include <numeric>

#include "expect_error.h"
#include "tilewright/runtime/device/large_blocks.h"

namespace tilewright::runtime {
namespace {

Tensor iota(ShapeView shape) {
  Tensor tensor = Tensor::empty(shape, kFloat32);
  std::iota(tensor.data_as<float>(), tensor.data_as<float>() + tensor.num_elements(), 0.0f);
  return tensor;
}

std::vector<float> elements(const Tensor& tensor) {
  const Tensor compact = tensor.compact();
  return std::vector<float>(compact.data_as<float>(), compact.data_as<float>() + compact.num_elements());
}

TEST(LargeBlocks, EachBeginsWithALargePage) {
  LargeBlocks blocks;
  constexpr size_t kBytes = 32 * LargeBlocks::kLeastBytes + 1;
  void* data = blocks.allocate(kBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % LargeBlocks::kAlignment, 0u);
  static_cast<uint8_t*>(data)[kBytes - 1] = 7;
  EXPECT_EQ(static_cast<uint8_t*>(data)[kBytes - 1], 7);
  EXPECT_TRUE(blocks.release(data));
}

TEST(LargeBlocks, TheLastOneGivenBackComesFirst) {
  LargeBlocks blocks;
  constexpr size_t kBytes = LargeBlocks::kLeastBytes;
  void *a = blocks.allocate(kBytes), *b = blocks.allocate(kBytes), *other = blocks.allocate(3 * kBytes);
  static_cast<char*>(a)[kBytes - 1] = 5;
  EXPECT_TRUE(blocks.release(a));
  EXPECT_TRUE(blocks.release(b));
  EXPECT_TRUE(blocks.release(other));
  EXPECT_FALSE(blocks.release(a));  // it is nobody's
  EXPECT_FALSE(blocks.release(&blocks));
  EXPECT_EQ(blocks.num_kept_bytes(), 5 * kBytes);
  EXPECT_EQ(blocks.allocate(kBytes - 1), b);  // of the same size class
  EXPECT_EQ(blocks.allocate(kBytes), a);
  EXPECT_EQ(blocks.num_kept_bytes(), 3 * kBytes);
  EXPECT_EQ(static_cast<char*>(a)[kBytes - 1], 5);
  blocks.release(a);
  blocks.release(b);
}

TEST(LargeBlocks, TheSystemGetsBackWhatIsTooMuchToKeep) {
  LargeBlocks blocks;
  constexpr size_t kPart = LargeBlocks::kMostKeptBytes / 4;
  for (size_t n = 0; n < 2; ++n) EXPECT_TRUE(blocks.release(blocks.allocate((n + 1) * kPart)));
  EXPECT_EQ(blocks.num_kept_bytes(), 3 * kPart);
  void *first = blocks.allocate(3 * kPart), *second = blocks.allocate(3 * kPart);
  EXPECT_TRUE(blocks.release(first));
  EXPECT_TRUE(blocks.release(second));
  EXPECT_EQ(blocks.num_kept_bytes(), 6 * kPart);  // as much as was in use; the oldest are gone
  EXPECT_EQ(blocks.allocate(SIZE_MAX / 2), nullptr);
}

TEST(LargeBlocks, AsMuchAsWasInUseIsKept) {
  LargeBlocks blocks;
  constexpr size_t kPart = LargeBlocks::kMostKeptBytes / 4;
  std::vector<void*> data;
  for (size_t n = 0; n < 7; ++n) data.push_back(blocks.allocate(kPart));
  for (void* each : data) EXPECT_TRUE(blocks.release(each));
  EXPECT_EQ(blocks.num_kept_bytes(), 7 * kPart);
  void* larger = blocks.allocate(6 * kPart);  // with all kept blocks, that would be 13 parts
  EXPECT_EQ(blocks.num_kept_bytes(), LargeBlocks::kMostKeptBytes);
  EXPECT_TRUE(blocks.release(larger));
}

TEST(LargeBlocks, ALargerBlockServesASmallerTensor) {
  LargeBlocks blocks;
  constexpr size_t kBytes = LargeBlocks::kLeastBytes;
  void *a = blocks.allocate(8 * kBytes), *b = blocks.allocate(4 * kBytes);
  EXPECT_TRUE(blocks.release(b));
  EXPECT_TRUE(blocks.release(a));
  EXPECT_EQ(blocks.allocate(2 * kBytes), b);  // the smallest of those that are large enough
  void* c = blocks.allocate(kBytes);
  EXPECT_NE(c, a);  // more than four times as large
  EXPECT_EQ(blocks.allocate(3 * kBytes), a);
  EXPECT_EQ(blocks.num_kept_bytes(), 0u);
  for (void* each : {a, b, c}) EXPECT_TRUE(blocks.release(each));
}

TEST(LargeBlocks, NoneIsKeptWhileSomebodySaysSo) {
  LargeBlocks blocks;
  constexpr size_t kBytes = LargeBlocks::kLeastBytes;
  void *a = blocks.allocate(kBytes), *b = blocks.allocate(kBytes);
  blocks.release(a);
  EXPECT_EQ(blocks.num_kept_bytes(), kBytes);
  {
    const LargeBlocks::NoneKept outer(blocks);
    EXPECT_EQ(blocks.num_kept_bytes(), 0u);
    {
      const LargeBlocks::NoneKept inner(blocks);
    }
    EXPECT_TRUE(blocks.release(b));
    EXPECT_FALSE(blocks.release(b));  // it is the system's
    EXPECT_EQ(blocks.num_kept_bytes(), 0u);
  }
  EXPECT_TRUE(blocks.release(blocks.allocate(kBytes)));
  EXPECT_EQ(blocks.num_kept_bytes(), kBytes);
}

TEST(Tensor, EmptyIsAlignedAndCompact) {
  const Tensor tensor = Tensor::empty(Shape{5, 7}, kFloat32);
  EXPECT_TRUE(tensor.is_aligned(64));
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_EQ(tensor.num_bytes(), 140);
  EXPECT_EQ(tensor.strides(), (Shape{7, 1}));
  EXPECT_EQ(type_str(tensor), "float32[5, 7]");
}

TEST(Tensor, ScalarAndEmptyTensors) {
  EXPECT_EQ(Tensor::empty(Shape{}, kInt64).num_bytes(), 8);
  EXPECT_EQ(Tensor::empty(Shape{5, 0, 7}, kInt64).num_bytes(), 0);
  EXPECT_EQ(Tensor::empty(Shape{int64_t{1} << 62, int64_t{1} << 62, 0}, kInt64).num_elements(), 0);
  EXPECT_EQ(Tensor::empty(Shape{7}, DataType::int_(4)).num_bytes(), 4);
}

TEST(Tensor, ShapesThatCannotBe) {
  EXPECT_ERROR(Tensor::empty(Shape{5, -7}, kFloat32),
               "error: tensor: shape [5, -7] has the negative dimension -7");
  EXPECT_ERROR(Tensor::empty(Shape{int64_t{1} << 40, int64_t{1} << 40}, kFloat32),
               "error: tensor: float32[1099511627776, 1099511627776] is larger than any memory");
  EXPECT_ERROR(Tensor::empty(Shape{int64_t{1} << 50}, kFloat32),
               "error: out of memory: cannot allocate 4503599627370496 bytes on cpu:0\n"
               "help: use smaller tensors, or a machine with more memory");
  EXPECT_ERROR(Tensor::empty(Shape{1}, DataType::void_()),
               "error: tensor: there are no tensors of dtype void");
  EXPECT_ERROR(Tensor::empty(Shape{1}, kFloat32, Device{kDLVulkan, 1}),
               "unsupported: cannot run on device vulkan:1\nhelp: this build runs on cpu, cuda and opencl");
  EXPECT_ERROR(Tensor::empty(Shape{1}, kFloat32, Device::cpu(3)),
               "error: there is no device cpu:3; this machine has 1 of kind cpu");
}

TEST(Tensor, ElementsThatShareBytesHaveNoGaps) {
  const int axes[] = {1, 0};
  EXPECT_ERROR(Tensor::zeros(Shape{5, 7}, DataType::int_(4)).transpose(axes).copy(),
               "unsupported: copy: int4[7, 5] is not contiguous, and its elements are narrower than a byte");
}

TEST(Tensor, CopyOfChecksTheSize) {
  const float data[] = {1, 2, 3};
  EXPECT_EQ(elements(Tensor::copy_of(data, sizeof data, Shape{3, 1}, kFloat32)),
            (std::vector<float>{1, 2, 3}));
  EXPECT_ERROR(Tensor::copy_of(data, 8, Shape{3}, kFloat32),
               "error: tensor: float32[3] takes 12 bytes, got 8");
}

TEST(Tensor, ViewKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(7, 1.0f);
  std::weak_ptr<std::vector<float>> watch = owner;
  Tensor view = Tensor::view_of(owner->data(), Shape{7}, kFloat32, owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  view = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, TransposeIsAView) {
  const Tensor tensor = iota(Shape{2, 3});
  const int axes[] = {1, 0};
  const Tensor transposed = tensor.transpose(axes);
  EXPECT_EQ(transposed.data(), tensor.data());
  EXPECT_FALSE(transposed.is_contiguous());
  EXPECT_EQ(elements(transposed), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const int twice[] = {1, 1};
  EXPECT_ERROR(tensor.transpose(twice),
               "error: transpose: [1, 1] is not a permutation of the 2 dimensions of float32[2, 3]");
}

TEST(Tensor, TransposeOfUnitDimensionStaysCompact) {
  const int axes[] = {1, 0};
  EXPECT_TRUE(iota(Shape{1, 7}).transpose(axes).is_contiguous());
}

TEST(Tensor, SliceIsAView) {
  const Tensor tensor = iota(Shape{5, 7});
  EXPECT_EQ(elements(tensor.slice(0, 4, 5).slice(1, 2, 4)), (std::vector<float>{30, 31}));
  EXPECT_TRUE(tensor.slice(0, 1, 3).is_contiguous());
  EXPECT_FALSE(tensor.slice(1, 1, 3).is_contiguous());
  EXPECT_EQ(tensor.slice(1, 3, 3).num_elements(), 0);
  EXPECT_ERROR(tensor.slice(1, 3, 8), "error: slice: range 3..8 is not within dimension 1 of float32[5, 7]");
  EXPECT_ERROR(tensor.slice(2, 0, 1), "error: slice: axis 2 of float32[5, 7] does not exist");
}

TEST(Tensor, ReshapeSharesOrCopies) {
  const Tensor tensor = iota(Shape{2, 6});
  EXPECT_EQ(tensor.reshape(Shape{3, -1}).data(), tensor.data());
  EXPECT_EQ(type_str(tensor.reshape(Shape{3, -1})), "float32[3, 4]");
  EXPECT_NE(tensor.slice(1, 0, 3).reshape(Shape{6}).data(), tensor.data());
  EXPECT_ERROR(tensor.reshape(Shape{5, -1}),
               "error: reshape: float32[2, 6] has 12 elements, which do not fill [5, -1]");
  EXPECT_ERROR(tensor.reshape(Shape{-1, -1}), "error: reshape: [-1, -1] has more than one -1");
  EXPECT_ERROR(tensor.reshape(Shape{-2}), "error: reshape: [-2] has the negative dimension -2");
}

TEST(Tensor, CopyFromGoesBetweenLayouts) {
  const Tensor source = iota(Shape{2, 3});
  const Tensor target = Tensor::zeros(Shape{2, 5}, kFloat32);
  target.slice(1, 1, 4).copy_from(source);
  EXPECT_EQ(elements(target), (std::vector<float>{0, 0, 1, 2, 0, 0, 3, 4, 5, 0}));
  EXPECT_ERROR(target.copy_from(source),
               "error: copy: the source is float32[2, 3], the target float32[2, 5]");
}

TEST(Tensor, CompactCopiesWhatIsMisaligned) {
  alignas(8) char buffer[16] = {};
  const Tensor odd = Tensor::view_of(buffer + 1, Shape{3}, kFloat32, nullptr);
  EXPECT_NE(odd.compact().data(), odd.data());
  const Tensor even = Tensor::view_of(buffer + 4, Shape{3}, kFloat32, nullptr);
  EXPECT_EQ(even.compact().data(), even.data());
}

TEST(DLPack, RoundTripSharesDataAndLife) {
  Tensor tensor = iota(Shape{5, 7});
  void* data = tensor.data();
  DLManagedTensor* managed = tensor.slice(1, 0, 3).to_dlpack();
  EXPECT_EQ(managed->dl_tensor.strides[0], 7);
  tensor = Tensor();
  const Tensor back = Tensor::from_dlpack(managed);
  EXPECT_EQ(back.data(), data);
  EXPECT_EQ(elements(back)[3], 7.0f);
}

TEST(DLPack, VersionedCarriesReadOnly) {
  DLManagedTensorVersioned* managed = iota(Shape{7}).to_dlpack_versioned();
  EXPECT_EQ(managed->version.major, 1u);
  managed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  const Tensor tensor = Tensor::from_dlpack(managed);
  EXPECT_TRUE(tensor.is_read_only());
  EXPECT_TRUE(tensor.reshape(Shape{1, 7}).is_read_only());
  EXPECT_ERROR(tensor.copy_from(iota(Shape{7})), "error: copy: the target float32[7] is read-only");
  EXPECT_ERROR(tensor.to_dlpack(),
               "error: dlpack: float32[7] is read-only, which DLPack below 1.0 cannot express");
  DLManagedTensorVersioned* again = tensor.to_dlpack_versioned();
  EXPECT_EQ(again->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  again->deleter(again);
}

struct Lender {
  DLManagedTensorVersioned managed{};
  int64_t shape[2] = {5, 7};
  float data[35] = {};
  int num_deleted = 0;
  Lender() {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Lender*>(self->manager_ctx)->num_deleted;
    };
    managed.dl_tensor = {data, {kDLCPU, 0}, 2, to_dlpack(kFloat32), shape, nullptr, 4};
  }
};

TEST(DLPack, ByteOffsetIsApplied) {
  Lender lender;
  lender.shape[1] = 6;
  EXPECT_EQ(Tensor::from_dlpack(&lender.managed).data(), lender.data + 1);
  EXPECT_EQ(lender.num_deleted, 1);
}

TEST(DLPack, RefusedTensorsAreGivenBack) {
  Lender lender;
  lender.managed.version.major = 2;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed),
               "error: dlpack: the tensor has version 2.0 of the protocol, expected 1.x");
  EXPECT_EQ(lender.num_deleted, 1);
  lender.managed.version.major = 1;
  lender.managed.dl_tensor.ndim = -1;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed), "error: dlpack: invalid tensor of -1 dimensions");
  lender.managed.dl_tensor.ndim = 2;
  lender.shape[0] = -5;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed),
               "error: dlpack: shape [-5, 7] has the negative dimension -5");
  lender.shape[0] = 5;
  lender.managed.dl_tensor.data = nullptr;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed), "error: dlpack: invalid tensor [5, 7] without data");
  lender.managed.dl_tensor.shape = nullptr;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed),
               "error: dlpack: invalid tensor of 2 dimensions without a shape");
  lender.managed.dl_tensor.dtype.lanes = 0;
  lender.managed.dl_tensor.shape = lender.shape;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed), "error: dlpack: invalid dtype of 32 bits and 0 lanes");
  lender.managed.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  EXPECT_ERROR(Tensor::from_dlpack(&lender.managed),
               "unsupported: dlpack: padded elements narrower than a byte are not supported\nhelp: pass them "
               "packed, or as int8");
  EXPECT_EQ(lender.num_deleted, 7);
  EXPECT_ERROR(Tensor::from_dlpack(static_cast<DLManagedTensor*>(nullptr)),
               "error: dlpack: no tensor was given");
}

TEST(Device, Names) {
  EXPECT_EQ(Device::parse("cpu").str(), "cpu:0");
  EXPECT_EQ(Device::parse("cuda:1").str(), "cuda:1");
  EXPECT_ERROR(Device::parse("cpu:x"),
               "error: unknown device \"cpu:x\"\n"
               "help: devices are cpu, cuda, opencl, metal, vulkan and rocm, with a number if there are "
               "several, e.g. \"cuda:1\"");
}

}  // namespace
}  // namespace tilewright::runtime
