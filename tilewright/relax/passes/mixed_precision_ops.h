// The lists of operators that to_mixed_precision uses.
#pragma once
#include <string_view>

namespace tilewright::relax {

/// Products, for which machines have instructions on 16-bit values.
inline constexpr std::string_view kAlwaysOps[] = {"relax.matmul",
                                                  "relax.linear",
                                                  "relax.outer",
                                                  "relax.einsum",
                                                  "relax.nn.attention",
                                                  "relax.nn.attention_bias",
                                                  "relax.nn.conv1d",
                                                  "relax.nn.conv2d",
                                                  "relax.nn.conv3d",
                                                  "relax.nn.conv1d_transpose",
                                                  "relax.nn.conv2d_transpose",
                                                  "relax.nn.conv3d_transpose",
                                                  "relax.nn.conv_transpose_by_phase"};
/// Arithmetic whose results are not much larger than its operands.
inline constexpr std::string_view kArithmeticOps[] = {
    "relax.add",           "relax.subtract",      "relax.multiply",     "relax.divide",   "relax.maximum",
    "relax.minimum",       "relax.where",         "relax.clip",         "relax.negative", "relax.abs",
    "relax.nn.relu",       "relax.nn.relu6",      "relax.nn.leakyrelu", "relax.nn.prelu", "relax.nn.dropout",
    "relax.nn.max_pool1d", "relax.nn.max_pool2d", "relax.nn.max_pool3d"};

/// Operators that move elements unchanged.
inline constexpr std::string_view kMoves[] = {"relax.nn.pad",
                                              "relax.nn.pixel_shuffle",
                                              "relax.nn.phase_weight",
                                              "relax.reshape",
                                              "relax.flatten",
                                              "relax.nn.batch_flatten",
                                              "relax.layout_transform",
                                              "relax.permute_dims",
                                              "relax.expand_dims",
                                              "relax.squeeze",
                                              "relax.broadcast_to",
                                              "relax.concat",
                                              "relax.stack",
                                              "relax.split",
                                              "relax.tile",
                                              "relax.repeat",
                                              "relax.flip",
                                              "relax.strided_slice",
                                              "relax.take",
                                              "relax.gather_elements",
                                              "relax.gather_nd",
                                              "relax.tril",
                                              "relax.triu"};

}  // namespace tilewright::relax
