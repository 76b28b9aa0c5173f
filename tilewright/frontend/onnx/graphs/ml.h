// What the operators of ai.onnx.ml share: tables of rows, scores of classes, labels.
#pragma once
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

inline constexpr AttributeRule kPostTransform = {"post_transform", Attribute::kString};

/// `values` as a constant of `dtype`, float32, float64 or int8 to int64.
Expr constant_of(const std::vector<double>& values, const std::vector<int64_t>& shape, DataType dtype);
Expr constant_of(const std::vector<int64_t>& values, const std::vector<int64_t>& shape, DataType dtype);
/// An attribute with floats; none if it is left out.
std::vector<double> floats_attr(const Node& node, std::string_view name);
/// The same, of an attribute with floats or of one with a tensor of floats, `name` + "_as_tensor".
std::vector<double> floats_or_tensor_attr(const Node& node, std::string_view name);
/// Raises Unsupported for dtypes that ai.onnx.ml does not compute with; `what` has such a dtype.
void require_number(DataType dtype, std::string_view what);
/// The numbers of a constant of floats or integers.
std::vector<double> doubles_of(const runtime::Tensor& data, std::string_view what);

/// Input 0, rows of numbers [n, columns]; in float64 if it is, or has integers of 64 bits, else in float32.  Raises
/// UserError for other numbers of dimensions.
Expr rows_of(Importer& importer, const Node& node);
/// Scores [n, classes] after attribute post_transform.
Expr transformed(Importer& importer, const Node& node, const Expr& scores);

/// Where elements stand in a sorted list.
struct Places {
  Expr place, is_there;  // int64, within the list also for elements that are not there; bool
};
/// The places of the elements of `x` in `sorted`, a constant vector of `count` numbers of its dtype, found by bisection.
Places places_in(Importer& importer, const Node& node, const Expr& sorted, int64_t count, const Expr& x);

/// The attributes with the labels of classes, one of which is given.
struct LabelNames {
  std::string_view integers, texts;
};
/// The number of labels; raises UserError unless there are two or more.
int64_t num_labels(const Node& node, LabelNames names);
/// Defines output 0, the labels of the classes `index`, int64 [n].
void define_labels(Importer& importer, const Node& node, LabelNames names, const Expr& index);
/// The class with the largest score of each row, int64 [n].
Expr best_class(Importer& importer, const Node& node, const Expr& scores);
/// 1 where the score of a row, [n, 1], is above `threshold`, else 0: int64 [n].
Expr is_above(Importer& importer, const Node& node, const Expr& score, double threshold);
/// Scores of two classes made of that of the second, [n, 1]: logistic functions of -s and s with post_transform
/// LOGISTIC, else s and 1 - s or -s.  onnxruntime transforms nothing else in this case.
Expr scores_of_second(Importer& importer, const Node& node, const Expr& score, bool is_probability);

}  // namespace tilewright::frontend::onnx
