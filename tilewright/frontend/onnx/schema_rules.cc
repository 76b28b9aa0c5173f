// Source: onnx.ai/onnx/operators, every version of each operator from opset 7 to 28; versions after 22 only
// differ in element types.
#include "tilewright/frontend/onnx/schema_rules.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr AttributeRule flag(std::string_view name, int64_t since = kFirstOpset, int64_t until = kLastOpset) {
  return {name, Attribute::kInt, 0, 1, since, until};
}
constexpr AttributeRule extents(std::string_view name, int64_t least, int64_t since = kFirstOpset) {
  return {name, Attribute::kInts, least, kMostExtent, since};
}

constexpr AttributeRule kAxis[] = {{"axis", Attribute::kInt}};
constexpr AttributeRule kRequiredAxis[] = {
    {"axis", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kAxes[] = {{"axes", Attribute::kInts}};
constexpr AttributeRule kRequiredAxes[] = {
    {"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kAllowZero[] = {flag("allowzero", 14)};
constexpr AttributeRule kPerm[] = {{"perm", Attribute::kInts, 0}};
constexpr AttributeRule kRatio[] = {{"ratio", Attribute::kFloat, 0, 1}};
constexpr AttributeRule kSeed[] = {{"seed", Attribute::kInt}};
constexpr AttributeRule kShape[] = {{"start", Attribute::kInt, kAnyLeast, kAnyMost, 15},
                                    {"end", Attribute::kInt, kAnyLeast, kAnyMost, 15}};
constexpr AttributeRule kSlice[] = {
    {"axes", Attribute::kInts},
    {"starts", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"ends", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kConstant[] = {{"value", Attribute::kTensor},
                                       {"sparse_value", Attribute::kOther, kAnyLeast, kAnyMost, 11},
                                       {"value_float", Attribute::kFloat, kAnyLeast, kAnyMost, 12},
                                       {"value_floats", Attribute::kFloats, kAnyLeast, kAnyMost, 12},
                                       {"value_int", Attribute::kInt, kAnyLeast, kAnyMost, 12},
                                       {"value_ints", Attribute::kInts, kAnyLeast, kAnyMost, 12},
                                       {"value_string", Attribute::kString, kAnyLeast, kAnyMost, 12},
                                       {"value_strings", Attribute::kStrings, kAnyLeast, kAnyMost, 12}};
constexpr AttributeRule kBatchNorm[] = {{"epsilon", Attribute::kFloat, 0},
                                        {"momentum", Attribute::kFloat},
                                        flag("spatial", kFirstOpset, 8),
                                        flag("training_mode", 14)};
constexpr AttributeRule kGemm[] = {
    {"alpha", Attribute::kFloat}, {"beta", Attribute::kFloat}, flag("transA"), flag("transB")};
constexpr AttributeRule kAutoPad = {"auto_pad", Attribute::kString};
constexpr AttributeRule kKernelShape = {"kernel_shape", Attribute::kInts, 1,   kMostExtent,
                                        kFirstOpset,    kLastOpset,       true};
constexpr AttributeRule kConv[] = {kAutoPad,
                                   extents("dilations", 1),
                                   {"group", Attribute::kInt, 1, kMostExtent},
                                   extents("kernel_shape", 1),
                                   extents("pads", 0),
                                   extents("strides", 1)};
constexpr AttributeRule kMaxPool[] = {
    kAutoPad,           flag("ceil_mode", 10),    extents("dilations", 1, 10), kKernelShape,
    extents("pads", 0), flag("storage_order", 8), extents("strides", 1)};
constexpr AttributeRule kAveragePool[] = {
    kAutoPad,     flag("ceil_mode", 10), flag("count_include_pad"), extents("dilations", 1, 19),
    kKernelShape, extents("pads", 0),    extents("strides", 1)};
constexpr AttributeRule kLpPool[] = {
    kAutoPad,     flag("ceil_mode", 18), extents("dilations", 1, 18), {"p", Attribute::kInt, 1},
    kKernelShape, extents("pads", 0),    extents("strides", 1)};
constexpr AttributeRule kArgMax[] = {
    {"axis", Attribute::kInt}, flag("keepdims"), flag("select_last_index", 12)};
constexpr AttributeRule kBitShift[] = {
    {"direction", Attribute::kString, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kCast[] = {
    {"round_mode", Attribute::kString, kAnyLeast, kAnyMost, 24},
    flag("saturate", 19),
    {"to", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kCastLike[] = {{"round_mode", Attribute::kString, kAnyLeast, kAnyMost, 24},
                                       flag("saturate", 19)};
constexpr AttributeRule kAlpha[] = {{"alpha", Attribute::kFloat}};
constexpr AttributeRule kClip[] = {{"max", Attribute::kFloat, kAnyLeast, kAnyMost, kFirstOpset, 10},
                                   {"min", Attribute::kFloat, kAnyLeast, kAnyMost, kFirstOpset, 10}};
constexpr AttributeRule kConstantOfShape[] = {{"value", Attribute::kTensor}};
constexpr AttributeRule kConvTranspose[] = {kAutoPad,
                                            extents("dilations", 1),
                                            {"group", Attribute::kInt, 1, kMostExtent},
                                            extents("kernel_shape", 1),
                                            extents("output_padding", 0),
                                            extents("output_shape", 1),
                                            extents("pads", 0),
                                            extents("strides", 1)};
constexpr AttributeRule kCumSum[] = {flag("exclusive"), flag("reverse")};
constexpr AttributeRule kDepthToSpace[] = {
    {"blocksize", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"mode", Attribute::kString, kAnyLeast, kAnyMost, 11}};
constexpr AttributeRule kDequantizeLinear[] = {{"axis", Attribute::kInt, kAnyLeast, kAnyMost, 13},
                                               {"block_size", Attribute::kInt, kAnyLeast, kAnyMost, 21},
                                               {"output_dtype", Attribute::kInt, kAnyLeast, kAnyMost, 23}};
constexpr AttributeRule kEinsum[] = {
    {"equation", Attribute::kString, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kEyeLike[] = {{"dtype", Attribute::kInt}, {"k", Attribute::kInt}};
constexpr AttributeRule kGatherND[] = {{"batch_dims", Attribute::kInt, kAnyLeast, kAnyMost, 12}};
constexpr AttributeRule kGelu[] = {{"approximate", Attribute::kString}};
constexpr AttributeRule kGroupNormalization[] = {
    {"epsilon", Attribute::kFloat, 0},
    {"num_groups", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    flag("stash_type")};
constexpr AttributeRule kHardSigmoid[] = {{"alpha", Attribute::kFloat}, {"beta", Attribute::kFloat}};
constexpr AttributeRule kInstanceNormalization[] = {{"epsilon", Attribute::kFloat, 0}};
constexpr AttributeRule kIsInf[] = {flag("detect_negative"), flag("detect_positive")};
constexpr AttributeRule kLRN[] = {{"alpha", Attribute::kFloat},
                                  {"beta", Attribute::kFloat},
                                  {"bias", Attribute::kFloat},
                                  {"size", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kLayerNormalization[] = {
    {"axis", Attribute::kInt}, {"epsilon", Attribute::kFloat, 0}, flag("stash_type")};
constexpr AttributeRule kLpNormalization[] = {{"axis", Attribute::kInt}, {"p", Attribute::kInt}};
constexpr AttributeRule kMeanVarianceNormalization[] = {{"axes", Attribute::kInts}};
constexpr AttributeRule kMod[] = {flag("fmod")};
constexpr AttributeRule kPad[] = {{"mode", Attribute::kString},
                                  {"pads", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 10, true},
                                  {"value", Attribute::kFloat, kAnyLeast, kAnyMost, kFirstOpset, 10}};
constexpr AttributeRule kQuantizeLinear[] = {{"axis", Attribute::kInt, kAnyLeast, kAnyMost, 13},
                                             {"block_size", Attribute::kInt, kAnyLeast, kAnyMost, 21},
                                             {"output_dtype", Attribute::kInt, kAnyLeast, kAnyMost, 21},
                                             {"precision", Attribute::kInt, kAnyLeast, kAnyMost, 23},
                                             flag("saturate", 19)};
constexpr AttributeRule kRange[] = {flag("stash_type", 27)};
constexpr AttributeRule kReduceL1[] = {{"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 17},
                                       flag("keepdims"),
                                       flag("noop_with_empty_axes", 18)};
constexpr AttributeRule kReduceSum[] = {{"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 12},
                                        flag("keepdims"),
                                        flag("noop_with_empty_axes", 13)};
constexpr AttributeRule kReverseSequence[] = {{"batch_axis", Attribute::kInt, 0, 1},
                                              {"time_axis", Attribute::kInt, 0, 1}};
constexpr AttributeRule kResize[] = {
    flag("antialias", 18),
    {"axes", Attribute::kInts, kAnyLeast, kAnyMost, 18},
    {"coordinate_transformation_mode", Attribute::kString, kAnyLeast, kAnyMost, 11},
    {"cubic_coeff_a", Attribute::kFloat, kAnyLeast, kAnyMost, 11},
    flag("exclude_outside", 11),
    {"extrapolation_value", Attribute::kFloat, kAnyLeast, kAnyMost, 11},
    {"keep_aspect_ratio_policy", Attribute::kString, kAnyLeast, kAnyMost, 18},
    {"mode", Attribute::kString},
    {"nearest_mode", Attribute::kString, kAnyLeast, kAnyMost, 11}};
constexpr AttributeRule kScatterElements[] = {{"axis", Attribute::kInt},
                                              {"reduction", Attribute::kString, kAnyLeast, kAnyMost, 16}};
constexpr AttributeRule kScatterND[] = {{"reduction", Attribute::kString, kAnyLeast, kAnyMost, 16}};
constexpr AttributeRule kSelu[] = {{"alpha", Attribute::kFloat}, {"gamma", Attribute::kFloat}};
constexpr AttributeRule kShrink[] = {{"bias", Attribute::kFloat}, {"lambd", Attribute::kFloat}};
constexpr AttributeRule kSpaceToDepth[] = {
    {"blocksize", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"mode", Attribute::kString, kAnyLeast, kAnyMost, 28}};
constexpr AttributeRule kSplit[] = {{"axis", Attribute::kInt},
                                    {"num_outputs", Attribute::kInt, 1, kMostExtent, 18},
                                    {"split", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 12}};
constexpr AttributeRule kTopK[] = {{"axis", Attribute::kInt},
                                   {"k", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, 9, true},
                                   flag("largest", 11),
                                   flag("sorted", 11)};
constexpr AttributeRule kTrilu[] = {flag("upper")};
constexpr AttributeRule kUpsample[] = {
    {"mode", Attribute::kString}, {"scales", Attribute::kFloats, kAnyLeast, kAnyMost, kFirstOpset, 8, true}};

constexpr AttributeRule kMatMulNBits[] = {
    {"K", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"N", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"accuracy_level", Attribute::kInt},
    {"bits", Attribute::kInt},
    {"block_size", Attribute::kInt, 16, kMostExtent, kFirstOpset, kLastOpset, true},
    {"weight_prepacked", Attribute::kInt}};

constexpr OperatorRule kOperators[] = {
    {"Abs", 1, 1},
    {"Acos", 1, 1},
    {"Acosh", 1, 1, {}, 1, 9},
    {"Add", 2, 2},
    {"And", 2, 2},
    {"ArgMax", 1, 1, kArgMax},
    {"ArgMin", 1, 1, kArgMax},
    {"Asin", 1, 1},
    {"Asinh", 1, 1, {}, 1, 9},
    {"Atan", 1, 1},
    {"Atanh", 1, 1, {}, 1, 9},
    {"AveragePool", 1, 1, kAveragePool},
    {"BatchNormalization", 5, 5, kBatchNorm, 5, kFirstOpset, 13},
    {"BatchNormalization", 5, 5, kBatchNorm, 3, 14},
    {"BitShift", 2, 2, kBitShift, 1, 11},
    {"BitwiseAnd", 2, 2, {}, 1, 18},
    {"BitwiseNot", 1, 1, {}, 1, 18},
    {"BitwiseOr", 2, 2, {}, 1, 18},
    {"BitwiseXor", 2, 2, {}, 1, 18},
    {"Cast", 1, 1, kCast},
    {"CastLike", 2, 2, kCastLike, 1, 15},
    {"Ceil", 1, 1},
    {"Celu", 1, 1, kAlpha, 1, 12},
    {"Clip", 1, 1, kClip, 1, kFirstOpset, 10},
    {"Clip", 1, 3, kClip, 1, 11},
    {"Concat", 1, kAnyNumber, kRequiredAxis},
    {"Constant", 0, 0, kConstant},
    {"ConstantOfShape", 1, 1, kConstantOfShape, 1, 9},
    {"Conv", 2, 3, kConv},
    {"ConvInteger", 2, 4, kConv, 1, 10},
    {"ConvTranspose", 2, 3, kConvTranspose},
    {"Cos", 1, 1},
    {"Cosh", 1, 1, {}, 1, 9},
    {"CumSum", 2, 2, kCumSum, 1, 11},
    {"DepthToSpace", 1, 1, kDepthToSpace},
    {"DequantizeLinear", 2, 3, kDequantizeLinear, 1, 10},
    {"Div", 2, 2},
    {"Dropout", 1, 1, kRatio, 2, kFirstOpset, 11},
    {"Dropout", 1, 3, kSeed, 2, 12},
    {"DynamicQuantizeLinear", 1, 1, {}, 3, 11, kLastOpset, 3},
    {"Einsum", 1, kAnyNumber, kEinsum, 1, 12},
    {"Elu", 1, 1, kAlpha},
    {"Equal", 2, 2},
    {"Erf", 1, 1, {}, 1, 9},
    {"Exp", 1, 1},
    {"Expand", 2, 2, {}, 1, 8},
    {"EyeLike", 1, 1, kEyeLike, 1, 9},
    {"Flatten", 1, 1, kAxis},
    {"Floor", 1, 1},
    {"Gather", 2, 2, kAxis},
    {"GatherElements", 2, 2, kAxis, 1, 11},
    {"GatherND", 2, 2, kGatherND, 1, 11},
    {"Gelu", 1, 1, kGelu, 1, 20},
    {"Gemm", 3, 3, kGemm, 1, kFirstOpset, 10},
    {"Gemm", 2, 3, kGemm, 1, 11},
    {"GlobalAveragePool", 1, 1},
    {"GlobalMaxPool", 1, 1},
    {"Greater", 2, 2},
    {"GreaterOrEqual", 2, 2, {}, 1, 12},
    {"GroupNormalization", 3, 3, kGroupNormalization, 1, 21},
    {"HardSigmoid", 1, 1, kHardSigmoid},
    {"HardSwish", 1, 1, {}, 1, 14},
    {"Identity", 1, 1},
    {"InstanceNormalization", 3, 3, kInstanceNormalization},
    {"IsInf", 1, 1, kIsInf, 1, 10},
    {"IsNaN", 1, 1, {}, 1, 9},
    {"LRN", 1, 1, kLRN},
    {"LayerNormalization", 2, 3, kLayerNormalization, 3, 17, kLastOpset, 3},
    {"LeakyRelu", 1, 1, kAlpha},
    {"Less", 2, 2},
    {"LessOrEqual", 2, 2, {}, 1, 12},
    {"Log", 1, 1},
    {"LogSoftmax", 1, 1, kAxis},
    {"LpNormalization", 1, 1, kLpNormalization},
    {"LpPool", 1, 1, kLpPool},
    {"MatMul", 2, 2},
    {"MatMulInteger", 2, 4, {}, 1, 10},
    {"Max", 1, kAnyNumber},
    {"MaxPool", 1, 1, kMaxPool, 1, kFirstOpset, 7},
    {"MaxPool", 1, 1, kMaxPool, 2, 8},
    {"Mean", 1, kAnyNumber},
    {"MeanVarianceNormalization", 1, 1, kMeanVarianceNormalization, 1, 9},
    {"Min", 1, kAnyNumber},
    {"Mish", 1, 1, {}, 1, 18},
    {"Mod", 2, 2, kMod, 1, 10},
    {"Mul", 2, 2},
    {"Neg", 1, 1},
    {"Not", 1, 1},
    {"OneHot", 3, 3, kAxis, 1, 9},
    {"Or", 2, 2},
    {"PRelu", 2, 2},
    {"Pad", 1, 1, kPad, 1, kFirstOpset, 10},
    {"Pad", 2, 3, kPad, 1, 11, 17},
    {"Pad", 2, 4, kPad, 1, 18},
    {"Pow", 2, 2},
    {"QLinearConv", 8, 9, kConv, 1, 10},
    {"QLinearMatMul", 8, 8, {}, 1, 10},
    {"QuantizeLinear", 2, 3, kQuantizeLinear, 1, 10},
    {"RMSNormalization", 2, 2, kLayerNormalization, 1, 23},
    {"Range", 3, 3, kRange, 1, 11},
    {"Reciprocal", 1, 1},
    {"ReduceL1", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceL1", 1, 2, kReduceL1, 1, 18},
    {"ReduceL2", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceL2", 1, 2, kReduceL1, 1, 18},
    {"ReduceLogSum", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceLogSum", 1, 2, kReduceL1, 1, 18},
    {"ReduceLogSumExp", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceLogSumExp", 1, 2, kReduceL1, 1, 18},
    {"ReduceMax", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceMax", 1, 2, kReduceL1, 1, 18},
    {"ReduceMean", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceMean", 1, 2, kReduceL1, 1, 18},
    {"ReduceMin", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceMin", 1, 2, kReduceL1, 1, 18},
    {"ReduceProd", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceProd", 1, 2, kReduceL1, 1, 18},
    {"ReduceSum", 1, 1, kReduceSum, 1, kFirstOpset, 12},
    {"ReduceSum", 1, 2, kReduceSum, 1, 13},
    {"ReduceSumSquare", 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceSumSquare", 1, 2, kReduceL1, 1, 18},
    {"Relu", 1, 1},
    {"Reshape", 2, 2, kAllowZero},
    {"Resize", 2, 2, kResize, 1, 10, 10},
    {"Resize", 3, 4, kResize, 1, 11, 12},
    {"Resize", 1, 4, kResize, 1, 13},
    {"ReverseSequence", 2, 2, kReverseSequence, 1, 10},
    {"Round", 1, 1, {}, 1, 11},
    {"Scatter", 3, 3, kAxis, 1, 9, 10},
    {"ScatterElements", 3, 3, kScatterElements, 1, 11},
    {"ScatterND", 3, 3, kScatterND, 1, 11},
    {"Selu", 1, 1, kSelu},
    {"Shape", 1, 1, kShape},
    {"Shrink", 1, 1, kShrink, 1, 9},
    {"Sigmoid", 1, 1},
    {"Sign", 1, 1, {}, 1, 9},
    {"Sin", 1, 1},
    {"Sinh", 1, 1, {}, 1, 9},
    {"Size", 1, 1},
    {"Slice", 1, 1, kSlice, 1, kFirstOpset, 9},
    {"Slice", 3, 5, {}, 1, 10},
    {"Softmax", 1, 1, kAxis},
    {"Softplus", 1, 1},
    {"Softsign", 1, 1},
    {"SpaceToDepth", 1, 1, kSpaceToDepth},
    {"Split", 1, 1, kSplit, kAnyNumber, kFirstOpset, 12, kAnyNumber},
    {"Split", 1, 2, kSplit, kAnyNumber, 13, kLastOpset, kAnyNumber},
    {"Sqrt", 1, 1},
    {"Squeeze", 1, 1, kAxes, 1, kFirstOpset, 12},
    {"Squeeze", 1, 2, {}, 1, 13},
    {"Sub", 2, 2},
    {"Sum", 1, kAnyNumber},
    {"Swish", 1, 1, kAlpha, 1, 24},
    {"Tan", 1, 1},
    {"Tanh", 1, 1},
    {"ThresholdedRelu", 1, 1, kAlpha, 1, 10},
    {"Tile", 2, 2},
    {"TopK", 1, 1, kTopK, 2, kFirstOpset, 9, 2},
    {"TopK", 2, 2, kTopK, 2, 10, kLastOpset, 2},
    {"Transpose", 1, 1, kPerm},
    {"Trilu", 1, 2, kTrilu, 1, 14},
    {"Unsqueeze", 1, 1, kRequiredAxes, 1, kFirstOpset, 12},
    {"Unsqueeze", 2, 2, {}, 1, 13},
    {"Upsample", 1, 1, kUpsample, 1, kFirstOpset, 8},
    {"Upsample", 2, 2, kUpsample, 1, 9, 9},
    {"Where", 3, 3, {}, 1, 9},
    {"Xor", 2, 2},
    {"com.microsoft::MatMulNBits", 3, 6, kMatMulNBits},
};

}  // namespace

std::span<const OperatorRule> operator_rules() { return kOperators; }

}  // namespace tilewright::frontend::onnx
