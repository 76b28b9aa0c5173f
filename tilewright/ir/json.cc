// Nodes as JSON: {"format": 1, "nodes": [{"kind": "tir.For", field: value, ...}, ...], "root": n}. A node
// refers to others by index, always a smaller one, so that shared nodes stay shared and there are no cycles.
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "tilewright/ir/expr.h"
#include "tilewright/ir/field.h"
#include "tilewright/ir/services.h"
#include "tilewright/support/base64.h"

namespace tilewright::ir {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

class Writer {
 public:
  Json nodes = Json::array();

  int64_t add(const Object* object) {
    if (!object) return -1;
    auto known = index_.find(object);
    if (known != index_.end()) return known->second;
    const NodeInfo* info = info_of(*object);
    Json entry = {{"kind", info->name}};
    for (const FieldInfo& field : info->fields) {
      if (field.type != FieldType::kSpan) entry[std::string(field.name)] = value(field, object);
    }
    nodes.push_back(std::move(entry));
    return index_[object] = static_cast<int64_t>(nodes.size()) - 1;
  }

 private:
  Json value(const FieldInfo& field, const Object* object) {
    if (field.type == FieldType::kNode) return add(field.node(object, 0));
    if (field.type == FieldType::kNodeList) {
      Json list = Json::array();
      for (size_t n = 0; n < field.num_nodes(object); ++n) list.push_back(add(field.node(object, n)));
      return list;
    }
    FieldValue value = field.get(object);
    switch (field.type) {
      case FieldType::kInt: return std::get<int64_t>(value);
      case FieldType::kBool: return std::get<bool>(value);
      case FieldType::kEnum: return field.enum_names[static_cast<size_t>(std::get<int64_t>(value))];
      case FieldType::kFloat:
        return fmt::format("{:a}", std::get<double>(value));  // hexadecimal: exact, also for inf and nan
      case FieldType::kString: return std::get<std::string>(value);
      case FieldType::kDType: return std::get<DataType>(value).str();
      case FieldType::kIntList: return std::get<std::vector<int64_t>>(value);
      case FieldType::kStringList: return std::get<std::vector<std::string>>(value);
      case FieldType::kAttrs: {
        Json map = Json::object();
        for (const auto& [key, item] : std::get<AttrMap>(value)) map[key] = add(item.get());
        return map;
      }
      default: return tensor(std::get<runtime::Tensor>(value));
    }
  }

  static Json tensor(const runtime::Tensor& given) {
    if (!given) return nullptr;
    const runtime::Tensor data = given.compact();
    return {{"dtype", data.dtype().str()},
            {"shape", std::vector<int64_t>(data.shape().begin(), data.shape().end())},
            {"data",
             base64_encode({static_cast<const char*>(data.data()), static_cast<size_t>(data.num_bytes())})}};
  }

  std::unordered_map<const Object*, int64_t> index_;
};

class Reader {
 public:
  explicit Reader(const Json& nodes) : json_(nodes) {}

  std::vector<ObjectRef> read_all() {
    for (const Json& entry : json_) nodes_.push_back(read(entry));
    return std::move(nodes_);
  }

 private:
  ObjectRef read(const Json& entry) {
    const NodeInfo* info = find_node_info(entry.at("kind").get<std::string>());
    if (!info)
      throw UserError("load_json: there is no node kind \"{}\"", entry.at("kind").get<std::string>());
    Object* object = info->create();
    ObjectRef owner(object);
    for (const FieldInfo& field : info->fields) {
      if (field.type != FieldType::kSpan) field.set(object, value(field, entry.at(std::string(field.name))));
    }
    if (info->verify) info->verify(object);
    return owner;
  }

  ObjectRef node(const Json& index) const {
    const auto n = index.get<int64_t>();
    if (n == -1) return nullptr;
    if (n < 0 || n >= static_cast<int64_t>(nodes_.size()))
      throw UserError("load_json: node {} refers to node {}, which does not come before it", nodes_.size(),
                      n);
    return nodes_[static_cast<size_t>(n)];
  }

  FieldValue value(const FieldInfo& field, const Json& json) const {
    switch (field.type) {
      case FieldType::kNode: return node(json);
      case FieldType::kNodeList: {
        std::vector<ObjectRef> items;
        for (const Json& item : json) items.push_back(node(item));
        return items;
      }
      case FieldType::kInt: return json.get<int64_t>();
      case FieldType::kBool: return json.get<bool>();
      case FieldType::kEnum: return enum_value(field, json.get<std::string>());
      case FieldType::kFloat: return std::strtod(json.get<std::string>().c_str(), nullptr);
      case FieldType::kString: return json.get<std::string>();
      case FieldType::kDType: return DataType::parse(json.get<std::string>());
      case FieldType::kIntList: return json.get<std::vector<int64_t>>();
      case FieldType::kStringList: return json.get<std::vector<std::string>>();
      case FieldType::kAttrs: {
        AttrMap map;
        for (const auto& [key, item] : json.items()) map.set(key, node(item));
        return map;
      }
      default: return tensor(json);
    }
  }

  static int64_t enum_value(const FieldInfo& field, const std::string& name) {
    for (size_t n = 0; n < field.enum_names.size(); ++n) {
      if (field.enum_names[n] == name) return static_cast<int64_t>(n);
    }
    throw UserError("load_json: field {} cannot be \"{}\"", field.name, name);
  }

  static runtime::Tensor tensor(const Json& json) {
    if (json.is_null()) return {};
    const std::string bytes = base64_decode(json.at("data").get<std::string>());
    return runtime::Tensor::copy_of(bytes.data(), bytes.size(), json.at("shape").get<std::vector<int64_t>>(),
                                    DataType::parse(json.at("dtype").get<std::string>()));
  }

  const Json& json_;
  std::vector<ObjectRef> nodes_;
};

}  // namespace

std::string save_json(const ObjectRef& node) {
  Writer writer;
  const int64_t root = writer.add(node.get());
  Json whole = {{"format", kFormat}, {"root", root}};
  whole["nodes"] = std::move(writer.nodes);
  return whole.dump();
}

ObjectRef load_json(std::string_view text) {
  try {
    const Json whole = Json::parse(text);
    const int format = whole.at("format").get<int>();
    if (format != kFormat)
      throw UserError("load_json: the text has format {}, this tilewright reads format {}", format, kFormat)
          .help("save it again with this version");
    std::vector<ObjectRef> nodes = Reader(whole.at("nodes")).read_all();
    const auto root = whole.at("root").get<int64_t>();
    if (root == -1) return nullptr;
    if (root < 0 || root >= static_cast<int64_t>(nodes.size()))
      throw UserError("load_json: root {} is not a node", root);
    return nodes[static_cast<size_t>(root)];
  } catch (const Json::exception& problem) {
    const std::string_view what = problem.what();  // "[json.exception.parse_error.101] parse error at ..."
    throw UserError("load_json: {}", what.substr(what.find("] ") + 2))
        .help("give the whole text that save_json returned");
  }
}

}  // namespace tilewright::ir
