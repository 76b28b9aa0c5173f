// onnx.proto's messages as plain structs, limited to the fields that the importer reads, and their decoder.
// Strings and raw data point into the decoded bytes.  Field numbers are those of onnx.proto
// (github.com/onnx/onnx, IR version 13).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace tilewright::frontend::onnx::wire {

/// One row of a message's table: field number and member.
template <class Member>
struct Field {
  uint32_t number;
  Member member;
};
template <class Member>
Field(uint32_t, Member) -> Field<Member>;

struct Graph;

struct Entry {
  std::string_view key, value;
  static constexpr auto fields() { return std::tuple{Field{1, &Entry::key}, Field{2, &Entry::value}}; }
};

struct Tensor {
  enum ElementType {
    kUndefined,
    kFloat,
    kUint8,
    kInt8,
    kUint16,
    kInt16,
    kInt32,
    kInt64,
    kString,
    kBool,
    kFloat16,
    kDouble,
    kUint32,
    kUint64,
    kComplex64,
    kComplex128,
    kBfloat16,
    kFloat8E4M3FN,
    kFloat8E4M3FNUZ,
    kFloat8E5M2,
    kFloat8E5M2FNUZ,
    kUint4,
    kInt4,
    kFloat4E2M1,
    kFloat8E8M0,
    kUint2,
    kInt2,
    kFloat6E2M3,
    kFloat6E3M2
  };
  enum Location { kInside, kExternal };
  std::string_view name;
  int64_t data_type = kUndefined;
  std::vector<int64_t> dims;
  std::optional<std::string_view> raw_data;
  std::vector<float> float_data;
  std::vector<double> double_data;
  std::vector<int64_t> int32_data, int64_data, uint64_data;
  std::vector<std::string_view> string_data;
  std::vector<Entry> external_data;
  int64_t data_location = kInside;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Tensor::dims},           Field{2, &Tensor::data_type},
                      Field{4, &Tensor::float_data},     Field{5, &Tensor::int32_data},
                      Field{6, &Tensor::string_data},    Field{7, &Tensor::int64_data},
                      Field{8, &Tensor::name},           Field{9, &Tensor::raw_data},
                      Field{10, &Tensor::double_data},   Field{11, &Tensor::uint64_data},
                      Field{13, &Tensor::external_data}, Field{14, &Tensor::data_location}};
  }
};

struct Dimension {
  std::optional<int64_t> value;
  std::optional<std::string_view> name;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Dimension::value}, Field{2, &Dimension::name}};
  }
};

struct Shape {
  std::vector<Dimension> dim;
  static constexpr auto fields() { return std::tuple{Field{1, &Shape::dim}}; }
};

struct TensorType {
  int64_t elem_type = 0;
  std::optional<Shape> shape;
  static constexpr auto fields() {
    return std::tuple{Field{1, &TensorType::elem_type}, Field{2, &TensorType::shape}};
  }
};

struct Type;

/// A sequence or optional of values of one type.
struct ElementType {
  std::unique_ptr<Type> elem_type;
  static constexpr auto fields() { return std::tuple{Field{1, &ElementType::elem_type}}; }
};

struct Type {
  std::optional<TensorType> tensor_type;
  std::optional<ElementType> sequence_type, optional_type;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Type::tensor_type}, Field{4, &Type::sequence_type},
                      Field{9, &Type::optional_type}};
  }
};

struct ValueInfo {
  std::string_view name;
  Type type;
  static constexpr auto fields() {
    return std::tuple{Field{1, &ValueInfo::name}, Field{2, &ValueInfo::type}};
  }
};

struct Attribute {
  enum Type { kUndefined, kFloat, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings };
  std::string_view name, ref_attr_name;
  int64_t type = kUndefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  Tensor t;
  std::unique_ptr<Graph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Attribute::name},
                      Field{2, &Attribute::f},
                      Field{3, &Attribute::i},
                      Field{4, &Attribute::s},
                      Field{5, &Attribute::t},
                      Field{6, &Attribute::g},
                      Field{7, &Attribute::floats},
                      Field{8, &Attribute::ints},
                      Field{9, &Attribute::strings},
                      Field{20, &Attribute::type},
                      Field{21, &Attribute::ref_attr_name}};
  }
};

struct Node {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> input, output;
  std::vector<Attribute> attribute;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Node::input},   Field{2, &Node::output},    Field{3, &Node::name},
                      Field{4, &Node::op_type}, Field{5, &Node::attribute}, Field{7, &Node::domain},
                      Field{8, &Node::overload}};
  }
};

/// A sparse tensor; only its presence is recorded.
struct SparseTensor {
  static constexpr auto fields() { return std::tuple{}; }
};

struct Graph {
  std::string_view name;
  std::vector<Node> node;
  std::vector<Tensor> initializer;
  std::vector<SparseTensor> sparse_initializer;
  std::vector<ValueInfo> input, output;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Graph::node},        Field{2, &Graph::name},
                      Field{5, &Graph::initializer}, Field{11, &Graph::input},
                      Field{12, &Graph::output},     Field{15, &Graph::sparse_initializer}};
  }
};

struct Opset {
  std::string_view domain;
  int64_t version = 0;
  static constexpr auto fields() { return std::tuple{Field{1, &Opset::domain}, Field{2, &Opset::version}}; }
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> input, output, attribute;
  std::vector<Attribute> attribute_proto;
  std::vector<Node> node;
  std::vector<Opset> opset_import;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Function::name},     Field{4, &Function::input},
                      Field{5, &Function::output},   Field{6, &Function::attribute},
                      Field{7, &Function::node},     Field{9, &Function::opset_import},
                      Field{10, &Function::domain},  Field{11, &Function::attribute_proto},
                      Field{13, &Function::overload}};
  }
};

struct Model {
  int64_t ir_version = 0;
  std::string_view producer_name;
  std::unique_ptr<Graph> graph;
  std::vector<Opset> opset_import;
  std::vector<Function> functions;
  static constexpr auto fields() {
    return std::tuple{Field{1, &Model::ir_version}, Field{2, &Model::producer_name}, Field{7, &Model::graph},
                      Field{8, &Model::opset_import}, Field{25, &Model::functions}};
  }
};

/// Decodes `bytes` into `model`; returns true if they are a complete, well-formed message.
bool decode(std::string_view bytes, Model& model);

/// The name in onnx.proto, "FLOAT", "INT4", ...; "" for 0 and for undefined element types.
std::string_view element_type_name(int64_t element_type);

}  // namespace tilewright::frontend::onnx::wire
