#include "tilewright/analysis/regions.h"

#include <gtest/gtest.h>

#include "tilewright/ir/services.h"
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {
namespace {

Buffer buffer(std::string name, std::vector<int64_t> shape) {
  std::vector<PrimExpr> extents;
  for (int64_t extent : shape) extents.push_back(imm(extent));
  return make_buffer(std::move(name), std::move(extents), kFloat32);
}

IterVar axis(const Var& var, int64_t extent, IterType type = IterType::kSpatial) {
  return IterVarNode::make(var, make_range(imm(0), imm(extent)), type);
}

Block block(std::vector<IterVar> axes, Stmt body, Stmt init = nullptr, std::vector<Buffer> allocated = {}) {
  return BlockNode::make("B", std::move(axes), std::move(allocated), std::vector<BufferRegion>{},
                         std::vector<BufferRegion>{}, std::vector<MatchBufferRegion>{}, AttrMap{}, init,
                         body);
}

// what BufferRegion(..., [min, extent], ...) says, with the constructed expressions compared structurally
void expect_region(const BufferRegion& found, const Buffer& buffer,
                   std::vector<std::pair<PrimExpr, int64_t>> ranges) {
  EXPECT_EQ(found->buffer, buffer);
  ASSERT_EQ(found->region.size(), ranges.size());
  for (size_t dim = 0; dim < ranges.size(); ++dim) {
    EXPECT_TRUE(structural_equal(found->region[dim]->min, ranges[dim].first))
        << repr(found->region[dim]->min);
    EXPECT_TRUE(is_const_int(found->region[dim]->extent, ranges[dim].second))
        << repr(found->region[dim]->extent);
  }
}

TEST(AccessRegions, MatmulReadsItsInputsButNotTheSumThatInitStarted) {
  // with T.init(): Y[vi, vj] = 0
  // Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
  const Buffer A = buffer("A", {5, 7}), B = buffer("B", {7, 3}), Y = buffer("Y", {5, 3});
  const Var vi = make_var("vi"), vj = make_var("vj"), vk = make_var("vk");
  const Stmt update = store(Y, load(Y, {vi, vj}) + load(A, {vi, vk}) * load(B, {vk, vj}), {vi, vj});
  const AccessRegions regions = access_regions(block(
      {axis(vi, 5), axis(vj, 3), axis(vk, 7, IterType::kReduce)}, update, store(Y, float_imm(0), {vi, vj})));
  ASSERT_EQ(regions.reads.size(), 2u);
  expect_region(regions.reads[0], A, {{vi, 1}, {vk, 1}});
  expect_region(regions.reads[1], B, {{vk, 1}, {vj, 1}});
  ASSERT_EQ(regions.writes.size(), 1u);
  expect_region(regions.writes[0], Y, {{vi, 1}, {vj, 1}});
}

TEST(AccessRegions, WithoutInitTheSumIsRead) {
  const Buffer Y = buffer("Y", {5});
  const Var vi = make_var("vi");
  const AccessRegions regions =
      access_regions(block({axis(vi, 5)}, store(Y, load(Y, {vi}) + float_imm(1), {vi})));
  ASSERT_EQ(regions.reads.size(), 1u);
  expect_region(regions.reads[0], Y, {{vi, 1}});
}

TEST(AccessRegions, LoopsInsideAreRelaxed) {
  // for j in range(4): Y[vi * 4 + j] = A[vi * 4 + j + 1]
  const Buffer A = buffer("A", {29}), Y = buffer("Y", {28});
  const Var vi = make_var("vi"), j = make_var("j");
  const AccessRegions regions = access_regions(
      block({axis(vi, 7)}, loop(j, imm(4), store(Y, load(A, {vi * 4 + j + 1}), {vi * 4 + j}))));
  expect_region(regions.reads[0], A, {{vi * 4 + 1, 4}});
  expect_region(regions.writes[0], Y, {{vi * 4, 4}});
}

TEST(AccessRegions, SeveralAccessesAreUnited) {
  // Y[vi] = A[vi] + A[vi + 2]
  const Buffer A = buffer("A", {9}), Y = buffer("Y", {7});
  const Var vi = make_var("vi");
  const AccessRegions regions =
      access_regions(block({axis(vi, 7)}, store(Y, load(A, {vi}) + load(A, {vi + 2}), {vi})));
  ASSERT_EQ(regions.reads.size(), 1u);
  expect_region(regions.reads[0], A, {{vi, 3}});
}

TEST(AccessRegions, DivisionAndRemainderOfALoop) {
  // for f in range(12): Y[f // 4, f % 4] = A[(vi * 8 + f) // 4]
  const Buffer A = buffer("A", {64}), Y = buffer("Y", {3, 4});
  const Var vi = make_var("vi"), f = make_var("f");
  const AccessRegions regions = access_regions(block(
      {axis(vi, 7)},
      loop(f, imm(12), store(Y, load(A, {floordiv(vi * 8 + f, 4)}), {floordiv(f, 4), floormod(f, 4)}))));
  expect_region(regions.reads[0], A, {{floordiv(vi * 8, 4), 3}});
  expect_region(regions.writes[0], Y, {{imm(0), 3}, {imm(0), 4}});
}

TEST(AccessRegions, AnIndexReadFromMemoryIsKeptOrWidened) {
  // Y[vi] = A[I[vi]]          reads A[I[vi]], I[vi]
  // for j in range(3): Y[j] = A[I[j]]    reads all of A
  const Buffer A = buffer("A", {9}), Y = buffer("Y", {7});
  const Buffer I = make_buffer("I", {imm(7)}, kInt32);
  const Var vi = make_var("vi"), j = make_var("j");
  const PrimExpr index = load(I, {vi});
  const AccessRegions fixed = access_regions(block({axis(vi, 7)}, store(Y, load(A, {index}), {vi})));
  expect_region(fixed.reads[0], A, {{index, 1}});
  expect_region(fixed.reads[1], I, {{vi, 1}});
  const AccessRegions running =
      access_regions(block({axis(vi, 7)}, loop(j, imm(3), store(Y, load(A, {load(I, {j})}), {j}))));
  expect_region(running.reads[0], A, {{imm(0), 9}});
  expect_region(running.reads[1], I, {{imm(0), 3}});
}

// Where the condition does not hold there may be no I[vi] to look at.
TEST(AccessRegions, AnIndexReadFromMemoryUnderAConditionIsWidened) {
  const Buffer A = buffer("A", {9}), Y = buffer("Y", {7});
  const Buffer I = make_buffer("I", {imm(5)}, kInt32);
  const Var vi = make_var("vi");
  const PrimExpr is_there = vi < 5, element = load(A, {load(I, {vi})});
  const Stmt branch = IfThenElseNode::make(is_there, store(Y, element, {vi}));
  const Stmt choice =
      store(Y, call(kFloat32, "if_then_else", {is_there, element, PrimExpr(float_imm(0))}), {vi});
  for (const Stmt& body : {branch, choice}) {
    const AccessRegions regions = access_regions(block({axis(vi, 7)}, body));
    expect_region(regions.reads[0], A, {{imm(0), 9}});
    expect_region(regions.reads[1], I, {{vi, 1}});
  }
}

TEST(AccessRegions, ANestedBlockCountsByWhatItDeclares) {
  // for j in range(3): with T.block(): u = T.axis.spatial(21, vi * 3 + j); T.reads(A[u]); T.writes(Y[u])
  const Buffer A = buffer("A", {21}), Y = buffer("Y", {21});
  const Var vi = make_var("vi"), j = make_var("j"), u = make_var("u");
  const Block inner = BlockNode::make(
      "inner", std::vector<IterVar>{axis(u, 21)}, std::vector<Buffer>{},
      std::vector<BufferRegion>{BufferRegionNode::make(A, std::vector<Range>{make_range(u, imm(1))})},
      std::vector<BufferRegion>{BufferRegionNode::make(Y, std::vector<Range>{make_range(u, imm(1))})},
      std::vector<MatchBufferRegion>{}, AttrMap{}, Stmt(), store(Y, load(A, {u}), {u}));
  const Stmt realize =
      BlockRealizeNode::make(std::vector<PrimExpr>{vi * 3 + j}, PrimExpr(bool_imm(true)), inner);
  const AccessRegions regions = access_regions(block({axis(vi, 7)}, loop(j, imm(3), realize)));
  expect_region(regions.reads[0], A, {{vi * 3, 3}});
  expect_region(regions.writes[0], Y, {{vi * 3, 3}});
}

TEST(AccessRegions, BuffersAllocatedInsideAreLeftOutAndIndicesFromThemAreUnknown) {
  // tmp[0] = I[vi]; Y[vi] = A[tmp[0]]
  const Buffer A = buffer("A", {9}), Y = buffer("Y", {7});
  const Buffer I = make_buffer("I", {imm(7)}, kInt32), tmp = make_buffer("tmp", {imm(1)}, kInt32);
  const Var vi = make_var("vi");
  const AccessRegions regions = access_regions(
      block({axis(vi, 7)},
            seq({store(tmp, load(I, {vi}), {imm(0)}), store(Y, load(A, {load(tmp, {imm(0)})}), {vi})}),
            nullptr, {tmp}));
  ASSERT_EQ(regions.reads.size(), 2u);
  expect_region(regions.reads[0], I, {{vi, 1}});
  expect_region(regions.reads[1], A, {{imm(0), 9}});
  ASSERT_EQ(regions.writes.size(), 1u);
}

TEST(AccessRegions, AViewCountsForWhatItViews) {
  // V = T.match_buffer(A[vi * 4 : vi * 4 + 4], (4,));  Y[vi] = V[1]
  const Buffer A = buffer("A", {28}), Y = buffer("Y", {7}), V = buffer("V", {4});
  const Var vi = make_var("vi");
  const MatchBufferRegion match = MatchBufferRegionNode::make(
      V, BufferRegionNode::make(A, std::vector<Range>{make_range(vi * 4, imm(4))}));
  const Block viewing = BlockNode::make("B", std::vector<IterVar>{axis(vi, 7)}, std::vector<Buffer>{},
                                        std::vector<BufferRegion>{}, std::vector<BufferRegion>{},
                                        std::vector<MatchBufferRegion>{match}, AttrMap{}, Stmt(),
                                        store(Y, load(V, {imm(1)}), {vi}));
  const AccessRegions regions = access_regions(viewing);
  ASSERT_EQ(regions.reads.size(), 1u);
  expect_region(regions.reads[0], A, {{vi * 4 + 1, 1}});
}

TEST(AccessRegions, APointerPassedOnTouchesTheWholeBuffer) {
  // Y[vi] = call_extern("f", tvm_access_ptr(type, A.data, 0, 9, 1))
  const Buffer A = buffer("A", {9}), Y = buffer("Y", {7});
  const Var vi = make_var("vi");
  const PrimExpr pointer =
      call(DataType::handle(), "tir.tvm_access_ptr", {float_imm(0), A->data, imm(0), imm(9), imm(1)});
  const Stmt body = store(Y, call(kFloat32, "tir.call_extern", {string_imm("f"), pointer}), {vi});
  const AccessRegions regions = access_regions(block({axis(vi, 7)}, body), std::span(&A, 1));
  ASSERT_EQ(regions.reads.size(), 1u);
  expect_region(regions.reads[0], A, {{imm(0), 9}});
  EXPECT_EQ(regions.writes.size(), 1u);
}

TEST(RegionCovers, ComparesConstantsAndSums) {
  const Buffer A = buffer("A", {9});
  const Var i = make_var("i");
  auto region = [&](PrimExpr min, int64_t extent) {
    return BufferRegionNode::make(A, std::vector<Range>{make_range(min, imm(extent))});
  };
  EXPECT_TRUE(region_covers(region(i, 3), region(i + 1, 2)));
  EXPECT_FALSE(region_covers(region(i, 3), region(i + 1, 3)));
  EXPECT_TRUE(region_covers(region(imm(0), 9), region(i, 1)));
  EXPECT_FALSE(region_covers(region(imm(0), 8), region(i, 1)));
}

}  // namespace
}  // namespace tilewright::analysis
