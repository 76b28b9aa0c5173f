// Normalizations in their inference form, computed in dtype_of_sums (elementwise.h) and rounded once.
#pragma once
#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta; mean, variance, gamma and beta have one value per
/// index of `axis`.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                  const Tensor& variance, int64_t axis, double epsilon, bool center = true,
                  bool scale = true);
/// (x - mean(x)) / sqrt(variance(x) + epsilon) * gamma + beta over `axes`; gamma and beta have the shape of
/// these axes.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Axes& axes, double epsilon,
                  bool center = true, bool scale = true);
/// x / sqrt(mean(x * x) + epsilon) * weight over `axes`.  Source: Zhang and Sennrich, arXiv 1910.07467
Tensor rms_norm(const Tensor& x, const Tensor& weight, const Axes& axes, double epsilon);

/// Normalizes the channels (dimension `channel_axis`) in `num_groups` groups, each over its channels and
/// `axes`.  gamma and beta have one value per channel.  Source: Wu and He, arXiv 1803.08494
Tensor group_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const PrimExpr& num_groups,
                  int64_t channel_axis, const Axes& axes, double epsilon, bool center = true,
                  bool scale = true);

}  // namespace tilewright::topi
