// The steps of attention by the letters of its dimensions, shared by its two forms: at once and in blocks.
#pragma once
#include <map>

#include "tilewright/te/topi/attention.h"

namespace tilewright::topi {

/// The value of each letter.
using LetterValues = std::map<char, PrimExpr>;

/// True if query i attends to key j; null if all queries attend to all keys.
PrimExpr visible_key(const AttentionOptions& options, const PrimExpr& i, const PrimExpr& j,
                     const PrimExpr& queries, const PrimExpr& keys);

class AttentionParts {
 public:
  AttentionParts(Tensor query, Tensor key, Tensor value, Tensor bias, const AttentionOptions& options,
                 AttentionLetters letters);

  const PrimExpr& extent(char letter) const { return extents_.at(letter); }
  /// The dtype of all intermediate values: dtype_of_sums.
  DataType dtype() const { return dtype_of_sums(query_.dtype()); }
  bool has_bias() const { return static_cast<bool>(bias_); }
  /// The batch letters, in the order of the query.
  const std::string& batch() const { return batch_; }
  /// The extents of the batch letters, then `others`.
  Shape shape(const Shape& others) const;
  /// The values of the batch letters: the first of `axes`.
  LetterValues batch_at(const std::vector<tir::Var>& axes) const;

  PrimExpr query(const LetterValues& at) const { return element(query_, letters_.query, at); }
  PrimExpr key(const LetterValues& at) const { return element(key_, letters_.key, at); }
  PrimExpr value(const LetterValues& at) const { return element(value_, letters_.value, at); }
  PrimExpr bias(const LetterValues& at) const { return element(bias_, letters_.bias, at); }
  /// True if the biases of successive queries are neither equal nor neighbours in memory.
  bool has_strided_bias() const;
  /// True if there is a batch and all of it has the same biases.
  bool has_shared_bias() const;
  /// The product, scaled and capped, plus `bias` (may be null); a very small value where the key does not count.
  PrimExpr score(const PrimExpr& product, const PrimExpr& bias, const LetterValues& at) const;
  /// The result of attention, whose value at the letters of the result is `body`.
  Tensor result(const std::function<PrimExpr(const LetterValues&)>& body) const;

 private:
  PrimExpr element(const Tensor& tensor, const std::string& own, const LetterValues& at) const;

  Tensor query_, key_, value_, bias_;
  AttentionOptions options_;
  AttentionLetters letters_;
  std::string batch_;
  LetterValues extents_;
};

/// Attention that computes all scores, then all weights, then their products with the
/// values, in dtype_of_sums.
Tensor attention_at_once(const AttentionParts& parts);

/// Attention by blocks of queries, which are the lanes of vectors, and by blocks of keys:
///   queries[d, i] = query[i, d];  scores[j, i] = sum_d queries[d, i] key[j, d] * scale + bias
///   largest[i] = max_j scores;  weights[j, i] = exp(scores - largest);  sum[i] = sum_j weights
///   mixed[e, i] = sum_j weights[j, i] value[j, e];  scaled = mixed / sum[i];  result[i, e] = scaled[e, i]
/// If there is more than one block of keys, each block c has its own largest, sum and mixed, and
///   share[c] = exp(largest[c] - max_c largest);  mixed = sum_c share[c] mixed[c];  sum likewise
/// Sources: Milakov and Gimelshein, arXiv 1805.02867 (sums of blocks merge); Dao et al., arXiv 2205.14135
Tensor attention_in_blocks(const AttentionParts& parts);

}  // namespace tilewright::topi
