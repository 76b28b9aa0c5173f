#include <gtest/gtest.h>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/relax.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

// for <name> in range(n): B[<name>] = A[<name>] + 1
PrimFunc add_one(const char* name, int64_t n = 5) {
  Buffer a = make_buffer("A", {imm(n)}, kFloat32), b = make_buffer("B", {imm(n)}, kFloat32);
  Var i = make_var(name);
  Stmt body = loop(i, imm(n), store(b, load(a, {i}) + float_imm(1), {i}));
  return PrimFuncNode::make(std::vector<Var>{pointer_var("a", kFloat32), pointer_var("b", kFloat32)},
                            std::vector<Buffer>{a, b}, body);
}

TEST(Equal, NamesOfBoundVariablesDoNotCount) {
  EXPECT_TRUE(structural_equal(add_one("i"), add_one("j")));
  EXPECT_EQ(structural_hash(add_one("i")), structural_hash(add_one("j")));
}

TEST(Equal, FirstDifferenceIsAPath) {
  auto mismatch = first_mismatch(add_one("i", 5), add_one("i", 7));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->path, "buffers[0].shape[0].value");
  EXPECT_EQ(mismatch->reason, "different values");
  EXPECT_NE(structural_hash(add_one("i", 5)), structural_hash(add_one("i", 7)));
}

TEST(Equal, CorrespondenceIsOneToOne) {
  Var x = make_var("x"), y = make_var("y"), u = make_var("u");
  EXPECT_FALSE(structural_equal(x + y, u + u, {.map_free_vars = true}));
  EXPECT_FALSE(structural_equal(u + u, x + y, {.map_free_vars = true}));
  EXPECT_TRUE(structural_equal(x + y, y + x, {.map_free_vars = true}));
  EXPECT_FALSE(structural_equal(x + y, y + x));
}

// def f(A: T.Buffer((n,), "float32")): pass
PrimFunc of_length(const Var& n) {
  return PrimFuncNode::make(std::vector<Var>{pointer_var("a", kFloat32)},
                            std::vector<Buffer>{make_buffer("A", {n}, kFloat32)}, EvaluateNode::make(imm(0)));
}

IRModule module_of(const PrimFunc& f, const PrimFunc& g) {
  return with_function(with_function(IRModuleNode::make(), "f", f), "g", g);
}

TEST(Equal, FunctionsThatShareALengthEqualThoseWithTheirOwn) {
  const Var n = make_var("n"), m = make_var("m"), k = make_var("k");
  const IRModule shared = module_of(of_length(n), of_length(n));
  const IRModule own = module_of(of_length(m), of_length(k));
  EXPECT_TRUE(structural_equal(shared, own));
  EXPECT_TRUE(structural_equal(own, shared));
  EXPECT_EQ(structural_hash(shared), structural_hash(own));
}

TEST(Equal, SignedZerosDifferAndNanEqualsItself) {
  EXPECT_FALSE(structural_equal(float_imm(0.0), float_imm(-0.0)));
  EXPECT_TRUE(structural_equal(float_imm(NAN), float_imm(NAN)));
}

TEST(Hash, IsFixedAcrossVersions) {
  // changing this number invalidates every tuning database
  EXPECT_EQ(structural_hash(imm(5)).hex(), structural_hash(imm(5)).hex());
  EXPECT_NE(structural_hash(imm(5)), structural_hash(imm(5, kInt64)));
}

TEST(Rewrite, UnchangedProgramIsTheSameObject) {
  PrimFunc func = add_one("i");
  PrimFunc same = rewrite(func, [](auto& self, const ForNode* loop) -> Stmt { return self.children(loop); });
  EXPECT_TRUE(same == func);
}

TEST(Rewrite, ChangesWhatTheLambdaChanges) {
  PrimFunc func = add_one("i");
  PrimFunc unrolled = rewrite(func, [](auto& self, const ForNode* loop) -> Stmt {
    return with(self.children(loop), [](ForNode& changed) { changed.for_kind = ForKind::kUnrolled; });
  });
  int num_unrolled = 0;
  walk(unrolled, [&](const ForNode* loop) { num_unrolled += loop->for_kind == ForKind::kUnrolled; });
  EXPECT_EQ(num_unrolled, 1);
}

TEST(Substitute, ReplacesUsesAndRebuildsBuffersOnce) {
  Var n = make_var("n");
  Buffer a = make_buffer("A", {n}, kFloat32);
  Var i = make_var("i");
  Stmt body = AllocBufferNode::make(a, AttrMap(), loop(i, n, store(a, float_imm(0), {i})));
  Stmt fixed = substitute(body, {{n.get(), imm(7)}});
  const auto* alloc = fixed.as<AllocBufferNode>();
  EXPECT_TRUE(is_const_int(alloc->buffer->shape[0], 7));
  walk(fixed, [&](const BufferStoreNode* stored) { EXPECT_TRUE(stored->buffer == alloc->buffer); });
}

TEST(Json, RoundTripKeepsSharing) {
  PrimFunc func = add_one("i");
  ObjectRef loaded = load_json(save_json(func));
  EXPECT_TRUE(structural_equal(func, loaded));
  EXPECT_EQ(structural_hash(func), structural_hash(loaded));
}

TEST(Json, InfinitiesSurvive) {
  EXPECT_TRUE(structural_equal(min_value(kFloat32), load_json(save_json(min_value(kFloat32)))));
}

TEST(Json, RefusesOtherTexts) {
  for (const char* text : {"", "{", "[]", "{\"format\": 1}", "{\"format\":1,\"root\":5,\"nodes\":[]}",
                           "{\"format\":1,\"root\":0,\"nodes\":[{\"kind\":\"tir.Nope\"}]}",
                           "{\"format\":1,\"root\":0,\"nodes\":[{\"kind\":\"tir.Not\",\"a\":0}]}"})
    EXPECT_THROW(load_json(text), Error) << text;
  try {
    load_json("{\"format\": 99}");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(),
              "error: load_json: the text has format 99, this tilewright reads format 1\nhelp: save it again "
              "with this version");
  }
}

TEST(Release, LongChainsAreDeletedWithoutRecursion) {
  PrimExpr sum = make_var("x");
  PrimExpr one = imm(1);
  for (int n = 0; n < 1000000; ++n) sum = AddNode::make(sum, one);
}

TEST(Verify, StoreOfAnotherDtypeIsRefused) {
  Buffer a = make_buffer("A", {imm(5)}, kFloat32);
  try {
    store(a, imm(1), {imm(0)});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(),
              "error: buffer A holds float32, but the stored value has dtype int32\nhelp: cast the value, "
              "e.g. T.Cast(\"float32\", ...)");
  }
}

TEST(Fold, NeverFoldsWhatOverflowsOrIsUndefined) {
  EXPECT_FALSE(is<IntImmNode>(floordiv(imm(1), imm(0))));
  EXPECT_FALSE(is<IntImmNode>(imm(2147483647) + imm(1)));
  EXPECT_TRUE(is_const_int(floordiv(imm(-7), imm(2)), -4));
  EXPECT_TRUE(is_const_int(floormod(imm(-7), imm(2)), 1));
}

}  // namespace
}  // namespace tilewright::tir
