// What the attributes of a convolution say.
#pragma once
#include "tilewright/relax/graph/relax.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::relax {

/// The options of `call`, one of relax.nn.conv1d, conv2d or conv3d: per dimension, padding before all and
/// then after.  Raises UserError.
topi::ConvOptions conv_options(const Call& call);

}  // namespace tilewright::relax
