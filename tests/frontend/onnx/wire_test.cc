// Decoding of protobuf's wire format: bytes written by hand, after protobuf's encoding page.
#include "tilewright/frontend/onnx/read/wire.h"

#include <gtest/gtest.h>

#include <string>

namespace tilewright::frontend::onnx::wire {
namespace {

using std::string;

string varint(size_t value) {
  string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

string field(int number, const string& payload) {
  return varint(number << 3 | 2) + varint(payload.size()) + payload;
}

TEST(Wire, ModelWithOneNode) {
  const string node = field(1, "x") + field(2, "y") + field(4, "Relu");
  const string bytes = "\x08\x0a" + field(2, "me") + field(7, field(1, node) + field(2, "main"));
  Model model;
  ASSERT_TRUE(decode(bytes, model));
  EXPECT_EQ(model.ir_version, 10);
  EXPECT_EQ(model.producer_name, "me");
  EXPECT_EQ(model.graph->name, "main");
  EXPECT_EQ(model.graph->node[0].op_type, "Relu");
  EXPECT_EQ(model.graph->node[0].input[0], "x");
  EXPECT_EQ(model.graph->node[0].output[0], "y");
}

TEST(Wire, NumbersPackedAndOneByOne) {
  const string dims = field(1, "\x02\xac\x02") + "\x08\x07";  // 2 and 300 packed, then 7 alone
  Model model;
  const string bytes = field(7, field(5, dims));
  ASSERT_TRUE(decode(bytes, model));
  EXPECT_EQ(model.graph->initializer[0].dims, (std::vector<int64_t>{2, 300, 7}));
}

TEST(Wire, NegativeNumberTakesTenBytes) {
  Model model;
  const string bytes = "\x08" + string(9, '\xff') + "\x01";
  ASSERT_TRUE(decode(bytes, model));
  EXPECT_EQ(model.ir_version, -1);
}

TEST(Wire, FloatsAreLittleEndian) {
  Model model;
  const string bytes = field(7, field(5, field(4, string("\0\0\x80\x3f\0\0\x00\xc0", 8))));
  ASSERT_TRUE(decode(bytes, model));
  EXPECT_EQ(model.graph->initializer[0].float_data, (std::vector<float>{1, -2}));
}

TEST(Wire, UnknownFieldsAreSkipped) {
  Model model;
  const string bytes = field(6, "a comment") + string("\x2d\x01\x02\x03\x04", 5) + "\x08\x05";
  ASSERT_TRUE(decode(bytes, model));
  EXPECT_EQ(model.ir_version, 5);
}

TEST(Wire, EveryCutIsNoticedOrLeavesAWholeMessage) {
  const string graph = field(7, field(1, field(1, "x") + field(4, "Relu")) + field(2, "main"));
  for (size_t length = 1; length < graph.size(); ++length) {
    Model model;
    EXPECT_FALSE(decode(graph.substr(0, length), model)) << length;
  }
}

TEST(Wire, EndlessNumberIsMalformed) {
  Model model;
  EXPECT_FALSE(decode("\x08" + string(20, '\xff'), model));
}

TEST(Wire, LengthBeyondTheEndIsMalformed) {
  Model model;
  EXPECT_FALSE(decode(string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), model));
}

TEST(Wire, WrongWireTypeIsMalformed) {
  Model model;
  EXPECT_FALSE(decode(field(1, "text where a number belongs"), model));
}

string graphs_within_each_other(int count) {
  string graph;
  for (int depth = 1; depth < count; ++depth) graph = field(1, field(5, field(6, graph)));
  return field(7, graph);
}

TEST(Wire, GraphsMayNestUpToALimit) {
  Model model;
  const string allowed = graphs_within_each_other(30), too_deep = graphs_within_each_other(1000);
  EXPECT_TRUE(decode(allowed, model));
  EXPECT_FALSE(decode(too_deep, model));
}

TEST(Wire, ElementTypesHaveNames) {
  EXPECT_EQ(element_type_name(1), "FLOAT");
  EXPECT_EQ(element_type_name(22), "INT4");
  EXPECT_EQ(element_type_name(28), "FLOAT6E3M2");
  EXPECT_EQ(element_type_name(0), "");
  EXPECT_EQ(element_type_name(29), "");
  EXPECT_EQ(element_type_name(-1), "");
}

}  // namespace
}  // namespace tilewright::frontend::onnx::wire
