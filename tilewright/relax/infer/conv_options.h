// The attributes of convolutions as options.
#pragma once
#include "tilewright/relax/graph/relax.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::relax {

/// The options of `call`, one of relax.nn.conv1d, conv2d or conv3d, with a number for each spatial dimension;
/// padding holds those before all dimensions, then those after.  Raises UserError.
topi::ConvOptions conv_options(const Call& call);

}  // namespace tilewright::relax
