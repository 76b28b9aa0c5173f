// Random numbers from a counter: element n of a result depends on the key and n only, whatever computes it.
// Source: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011), Philox2x32 with ten rounds
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// `key`: uint32[2], the key of the generator and the number of the stream.
/// Numbers from `low` up to, but without, `high`.
Tensor random_uniform(const Shape& shape, const Tensor& key, double low, double high, DataType dtype);
/// Normally distributed numbers.  Source: Box and Muller, A Note on the Generation of Random Normal Deviates (1958)
Tensor random_normal(const Shape& shape, const Tensor& key, double mean, double scale, DataType dtype);
/// 1 with the probability that `chance` has there, else 0.
Tensor bernoulli(const Tensor& chance, const Tensor& key, DataType dtype);
/// For each row of `weights`, logarithms of weights [batch, classes], `count` classes drawn with these weights.
Tensor draw_classes(const Tensor& weights, const Tensor& key, int64_t count, DataType dtype);
/// x with elements set to 0 with probability ratio [], the others divided by 1 - ratio; and where they are kept.
/// All are kept, and nothing changes, where `training` [], a bool, is false.
/// Source: Srivastava et al., Dropout, JMLR 15 (2014)
std::vector<Tensor> dropout(const Tensor& x, const Tensor& ratio, const Tensor& training, const Tensor& key);

}  // namespace tilewright::topi
