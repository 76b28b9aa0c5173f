// Records in SQLite, keys of programs and machines, and traces that apply or do not.
#include "tilewright/records/sqlite_database.h"

#include <gtest/gtest.h>

#include "tilewright/ir/services.h"
#include "tilewright/records/apply.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/script/parse.h"
#include "tilewright/tir/builder.h"

namespace tilewright::records {
namespace {
namespace steps = schedule::steps;

tir::PrimFunc doubled() {
  return ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("f.py", R"(@T.prim_func
def main(A: T.Buffer((7, 127), "float32"), B: T.Buffer((7, 127), "float32")):
    for i, j in T.grid(7, 127):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)"))));
}

Record record_of(Key key, std::vector<double> seconds, bool beats_default = true) {
  Record record;
  record.key = std::move(key);
  record.space = "test";
  record.trace = "{}";
  record.seconds = std::move(seconds);
  record.beats_default = beats_default;
  return record;
}

TEST(SqliteDatabase, gives_the_fastest_usable_record) {
  SqliteDatabase database(":memory:");
  const Key key{"program", "machine"};
  EXPECT_FALSE(database.best(key));
  EXPECT_EQ(database.add(record_of(key, {3, 1, 2})), 1);
  EXPECT_EQ(database.add(record_of(key, {0.5}, false)), 2);
  EXPECT_EQ(database.add(record_of({"program", "other"}, {0.1})), 3);
  EXPECT_EQ(database.add(record_of(key, {})), 4);
  EXPECT_EQ(database.best(key)->id, 1);
  EXPECT_EQ(database.best(key)->median(), 2);
  EXPECT_EQ(database.records({.key = key}).size(), 2u);
  EXPECT_EQ(database.records({.key = key, .with_failures = true}).size(), 3u);
  EXPECT_EQ(database.records({.space = "none"}).size(), 0u);
  EXPECT_EQ(database.prune(1), 2);
}

TEST(Key, leaves_names_out) {
  const tir::PrimFunc func = doubled();
  const auto renamed =
      ir::ref_as<tir::PrimFuncNode>(ir::with_attr(func, "global_symbol", tir::string_imm("another")));
  EXPECT_EQ(key_of(func, "m"), key_of(renamed, "m"));
  target::Features one, two;
  two.num_cores = one.num_cores + 1;
  EXPECT_NE(machine_key("llvm", one), machine_key("llvm", two));
  EXPECT_NE(machine_key("llvm", one), machine_key("c", one));
}

TEST(Apply, gives_the_function_or_the_reason) {
  const tir::PrimFunc func = doubled();
  schedule::Schedule sch(ir::with_function(ir::IRModuleNode::make(), kFunction, func));
  steps::parallel(sch, steps::get_loops(sch, steps::get_block(sch, "B", {}))[0]);
  Record record;
  record.trace = sch.trace().save_json();
  const Applied applied = apply(record, func);
  ASSERT_TRUE(applied.func);
  EXPECT_TRUE(ir::structural_equal(applied.func, sch.module()->functions[0]));
  record.id = 5;
  record.trace = R"({"tilewright_trace": 99, "steps": []})";
  const Applied refused = apply(record, func);
  EXPECT_FALSE(refused.func);
  EXPECT_EQ(refused.reason->text.substr(0, 10), "record 5: ");
}

}  // namespace
}  // namespace tilewright::records
