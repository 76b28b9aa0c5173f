// The parts that blocks have in computations of several blocks, which rules of schedules know as a whole:
// topi says them, so that nobody has to guess them from what blocks compute.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// The annotation of a block that says its part.
inline constexpr std::string_view kRole = "role";

// Of attention in blocks of queries (te/topi/attention_blocks.cc).
inline constexpr std::string_view kAttentionProducts = "attention.products";  // of queries and keys
inline constexpr std::string_view kAttentionScores = "attention.scores";
inline constexpr std::string_view kAttentionLargest = "attention.largest";  // score of a block of keys
inline constexpr std::string_view kAttentionWeights = "attention.weights";  // exp(score - largest)
inline constexpr std::string_view kAttentionSum = "attention.sum";          // of weights
inline constexpr std::string_view kAttentionMixed = "attention.mixed";      // values, by weights
inline constexpr std::string_view kAttentionMerged = "attention.merged";    // mixed, of all blocks of keys
inline constexpr std::string_view kAttentionScaled = "attention.scaled";    // by the sum of weights

// Of Winograd's convolutions (te/topi/winograd.cc).
inline constexpr std::string_view kWinogradColumns = "winograd.columns";    // of tiles, transformed
inline constexpr std::string_view kWinogradPatches = "winograd.patches";    // their rows, too
inline constexpr std::string_view kWinogradProducts = "winograd.products";  // sums over channels
inline constexpr std::string_view kWinogradRows = "winograd.rows";          // of tiles of results

}  // namespace tilewright::tir
