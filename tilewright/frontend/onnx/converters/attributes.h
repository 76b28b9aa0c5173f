// Attributes that operators of several files have.
#pragma once
#include "tilewright/frontend/onnx/import/converter.h"

namespace tilewright::frontend::onnx {

inline constexpr AttributeRule kAxis[] = {{"axis", Attribute::kInt}};
inline constexpr AttributeRule kAutoPad = {"auto_pad", Attribute::kString};
inline constexpr AttributeRule kConv[] = {kAutoPad,
                                          extents("dilations", 1),
                                          {"group", Attribute::kInt, 1, kMostExtent},
                                          extents("kernel_shape", 1),
                                          extents("pads", 0),
                                          extents("strides", 1)};

}  // namespace tilewright::frontend::onnx
