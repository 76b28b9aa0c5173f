// What the attributes of a convolution say.
#pragma once
#include "tilewright/relax/relax.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::relax {

/// The options of `call`, one of relax.nn.conv2d: per dimension, padding before and after.  Raises UserError.
topi::ConvOptions conv2d_options(const Call& call);

}  // namespace tilewright::relax
