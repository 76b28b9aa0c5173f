// The roles of blocks in computations of several blocks that rules of schedules treat as a whole.  topi
// annotates blocks with them, so that no rule has to guess a role from what a block computes.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// The annotation of a block that holds its role.
inline constexpr std::string_view kRole = "role";

// Attention in blocks of queries (te/topi/attention_blocks.cc).
inline constexpr std::string_view kAttentionProducts = "attention.products";  // products of queries and keys
inline constexpr std::string_view kAttentionScores = "attention.scores";
inline constexpr std::string_view kAttentionLargest = "attention.largest";  // largest score per block of keys
inline constexpr std::string_view kAttentionWeights = "attention.weights";  // exp(score - largest)
inline constexpr std::string_view kAttentionSum = "attention.sum";          // sum of weights
inline constexpr std::string_view kAttentionMixed = "attention.mixed";      // values, weighted
inline constexpr std::string_view kAttentionMerged = "attention.merged";    // mixed, of all blocks of keys
inline constexpr std::string_view kAttentionScaled = "attention.scaled";    // merged / sum of weights

// Winograd's convolutions (te/topi/winograd.cc).
inline constexpr std::string_view kWinogradColumns = "winograd.columns";  // tiles with columns transformed
inline constexpr std::string_view kWinogradPatches = "winograd.patches";  // tiles with rows transformed, too
inline constexpr std::string_view kWinogradProducts = "winograd.products";  // sums over channels
inline constexpr std::string_view kWinogradRows = "winograd.rows";          // rows of tiles of results

// Pools by steps (te/topi/pool_steps.h).
inline constexpr std::string_view kPoolRows = "pool.rows";  // rows of windows combined
inline constexpr std::string_view kPoolStep = "pool.step";  // neighbours along a row combined

}  // namespace tilewright::tir
