// The attributes of convolutions as options.
#pragma once
#include "tilewright/relax/graph/relax.h"
#include "tilewright/te/topi/conv.h"
#include "tilewright/te/topi/conv_transpose.h"

namespace tilewright::relax {

/// The options of `call`, one of relax.nn.conv1d, conv2d or conv3d, with a number for each spatial dimension;
/// padding holds those before all dimensions, then those after.  Raises UserError.
topi::ConvOptions conv_options(const Call& call);

/// A transposed convolution's options, and what each spatial dimension needs of them.
struct TransposedOptions {
  topi::ConvOptions conv;
  std::vector<topi::TransposedAxis> axes;  // without extents of the window
};
/// The options of `call`, one of relax.nn.conv1d_transpose, conv2d_transpose or conv3d_transpose.  Raises
/// UserError.
TransposedOptions transposed_options(const Call& call);

}  // namespace tilewright::relax
