// Records as JSON and back, and texts that are none.
#include "tilewright/records/json.h"

#include <gtest/gtest.h>

#include "tilewright/support/error.h"

namespace tilewright::records {
namespace {

Record full_record() {
  Record record;
  record.key = {"program", "machine"};
  record.target = "llvm";
  record.space = "default";
  record.trace = R"({"tilewright_trace":1,"steps":[]})";
  record.seconds = {1.5, 2.25};
  record.baseline = {3.0};
  record.beats_default = record.changes_sums = record.is_cold = true;
  record.score = 0.125;
  record.processor = "a \"processor\"";
  record.version = "1.2.3";
  record.time = 5.5;
  return record;
}

std::string refusal(std::string_view text) {
  try {
    (void)from_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecordJson, KeepsAllButTheId) {
  Record record = full_record();
  record.id = 7;
  const Record found = from_json(to_json(record));
  EXPECT_EQ(found.id, 0);
  EXPECT_EQ(found.key, record.key);
  EXPECT_EQ(found.trace, record.trace);
  EXPECT_EQ(found.seconds, record.seconds);
  EXPECT_EQ(found.baseline, record.baseline);
  EXPECT_EQ(found.processor, record.processor);
  EXPECT_EQ(found.score, record.score);
  EXPECT_TRUE(found.beats_default && found.changes_sums && found.is_cold);
  EXPECT_EQ(found.time, 5.5);
  EXPECT_EQ(to_json(found), to_json(record));
  EXPECT_EQ(to_json(record).find('\n'), std::string::npos);
}

TEST(RecordJson, OfTheDefaultSchedule) {
  Record record;
  record.failure = "it crashed";
  const Record found = from_json(to_json(record));
  EXPECT_EQ(found.trace, "");
  EXPECT_EQ(found.failure, "it crashed");
  EXPECT_FALSE(found.score);
}

TEST(RecordJson, OtherTextsAreRefused) {
  EXPECT_EQ(refusal("[1, 2]"),
            "error: this is no record of tuning: [1, 2]\n"
            "help: a record is a line of JSON that begins with {\"tilewright_record\":1");
  EXPECT_EQ(refusal("{"),
            "error: this is no record of tuning: {\n"
            "help: a record is a line of JSON that begins with {\"tilewright_record\":1");
  EXPECT_EQ(refusal(R"({"tilewright_record": 9})"),
            "error: a record of version 9, this compiler reads 1\nhelp: use the compiler that wrote it");
  EXPECT_EQ(refusal(R"({"tilewright_record": 1})"),
            "error: a record of tuning is not complete: [json.exception.out_of_range.403] key 'program' not "
            "found\nhelp: it was changed, or cut off, after it was written");
}

}  // namespace
}  // namespace tilewright::records
