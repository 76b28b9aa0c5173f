#include "tilewright/emulation/work_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace tilewright::emulation {
namespace {

// Work that writes its name.
class Log {
 public:
  std::function<void()> add(const char* name) {
    return [this, name] { text += name; };
  }
  std::string text;
};

TEST(WorkQueue, NothingRunsBeforeSomebodyWaits) {
  WorkQueue queue;
  Log log;
  queue.push(0, log.add("a"));
  queue.push(0, log.add("b"));
  EXPECT_EQ(log.text, "");
  queue.run(0);
  EXPECT_EQ(log.text, "ab");
}

TEST(WorkQueue, OtherStreamsRunAsLateAsTheyMay) {
  WorkQueue queue;
  Log log;
  const int one = queue.add_stream(false), two = queue.add_stream(false);
  queue.push(one, log.add("1"));
  queue.push(two, log.add("2"));
  queue.push(0, log.add("0"));
  queue.run(0);
  EXPECT_EQ(log.text, "0");
  queue.run_all();
  EXPECT_EQ(log.text, "021");
}

TEST(WorkQueue, TheFirstStreamAndTheOthersWaitForEachOther) {
  WorkQueue queue;
  Log log;
  const int one = queue.add_stream(true);
  queue.push(one, log.add("a"));
  queue.push(0, log.add("b"));
  queue.push(one, log.add("c"));
  queue.push(0, log.add("d"));
  queue.run(one);
  EXPECT_EQ(log.text, "abc");
  queue.run(0);
  EXPECT_EQ(log.text, "abcd");
}

TEST(WorkQueue, AStreamWaitsForAPointOfAnother) {
  WorkQueue queue;
  Log log;
  const int one = queue.add_stream(false), two = queue.add_stream(false);
  queue.push(one, log.add("a"));
  const auto point = queue.push_point(one);
  queue.push(one, log.add("late"));
  queue.push_wait(two, point);
  queue.push(two, log.add("b"));
  EXPECT_FALSE(point->is_done);
  queue.run(two);
  EXPECT_EQ(log.text, "ab");
  EXPECT_TRUE(point->is_done);
  EXPECT_GT(point->time_ms, 0);
}

TEST(WorkQueue, ForgetsItsWork) {
  WorkQueue queue;
  Log log;
  queue.push(0, log.add("a"));
  queue.clear();
  queue.run_all();
  EXPECT_EQ(log.text, "");
}

}  // namespace
}  // namespace tilewright::emulation
