#include "tilewright/frontend/onnx/import/refused.h"

#include <algorithm>
#include <array>

namespace tilewright::frontend::onnx {
namespace {

constexpr std::string_view
    kSearch = "it searches for tokens, and runs a decoder as often as it needs",
    kSearchHelp = "compile the decoder, the subgraph of the node, and search in the program that calls it";
constexpr std::string_view kPacked = "it packs sequences without padding, for graphics processors",
                           kPackedHelp = "optimize the model without packing (convert_to_packing_mode)";
constexpr std::string_view
    kPages = "its sequences lie in pages, or one after the other, as a server hands them out",
    kPagesHelp = "export the model with GroupQueryAttention";
constexpr std::string_view kSparse = "a table says which blocks of keys each query reads",
                           kSparseHelp = "export the model with GroupQueryAttention or MultiHeadAttention";
constexpr std::string_view kOrdered = "its integers lie in an order of one maker's graphics processors",
                           kOrderedHelp = "quantize the model with QuantizeLinear and DequantizeLinear";
constexpr std::string_view kCompiled = "it holds a program of another compiler",
                           kCompiledHelp = "take the model from before that compiler";
constexpr std::string_view kTraining = "it is made for training",
                           kTrainingHelp = "export the model for inference";
constexpr std::string_view kFused = "it joins products for graphics processors in browsers",
                           kFusedHelp = "optimize the model for another processor, with MatMulNBits";
constexpr std::string_view kText = "it takes text apart", kTextHelp = "make numbers of text before the model";

constexpr std::array kRefused = {
    RefusedOperator{"com.microsoft::BeamSearch", kSearch, kSearchHelp},
    RefusedOperator{"com.microsoft::BitmaskBiasDropout", kTraining, kTrainingHelp},
    RefusedOperator{"com.microsoft::BitmaskDropout", kTraining, kTrainingHelp},
    RefusedOperator{"com.microsoft::DequantizeBFP", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::DequantizeWithOrder", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::DynamicSparseAttention", kSparse, kSparseHelp},
    RefusedOperator{"com.microsoft::EPContext", kCompiled, kCompiledHelp},
    RefusedOperator{"com.microsoft::GreedySearch", kSearch, kSearchHelp},
    RefusedOperator{"com.microsoft::LongformerAttention", kSparse, kSparseHelp},
    RefusedOperator{"com.microsoft::MatMulNBitsMlp", kFused, kFusedHelp},
    RefusedOperator{"com.microsoft::MatMulNBitsQkv", kFused, kFusedHelp},
    RefusedOperator{"com.microsoft::PackedAttention", kPacked, kPackedHelp},
    RefusedOperator{"com.microsoft::PackedMultiHeadAttention", kPacked, kPackedHelp},
    RefusedOperator{"com.microsoft::PackedSparseAttentionIndexer", kPages, kPagesHelp},
    RefusedOperator{"com.microsoft::PagedAttention", kPages, kPagesHelp},
    RefusedOperator{"com.microsoft::QOrderedAttention", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::QOrderedGelu", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::QOrderedLayerNormalization", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::QOrderedLongformerAttention", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::QOrderedMatMul", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::QuantizeBFP", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::QuantizeWithOrder", kOrdered, kOrderedHelp},
    RefusedOperator{"com.microsoft::RemovePadding", kPacked, kPackedHelp},
    RefusedOperator{"com.microsoft::RestorePadding", kPacked, kPackedHelp},
    RefusedOperator{"com.microsoft::Sampling", kSearch, kSearchHelp},
    RefusedOperator{"com.microsoft::Snpe", kCompiled, kCompiledHelp},
    RefusedOperator{"com.microsoft::SparseAttention", kSparse, kSparseHelp},
    RefusedOperator{"com.microsoft::SparseAttentionIndexer", kPages, kPagesHelp},
    RefusedOperator{"com.microsoft::SparsePagedAttention", kPages, kPagesHelp},
    RefusedOperator{"com.microsoft::Tokenizer", kText, kTextHelp},
    RefusedOperator{"com.microsoft::VarlenCausalConvWithState", kPages, kPagesHelp},
    RefusedOperator{"com.microsoft::VarlenNGramHashMapping", kPages, kPagesHelp},
    RefusedOperator{"com.microsoft::WhisperBeamSearch", kSearch, kSearchHelp},
    RefusedOperator{"com.microsoft::WordConvEmbedding", kText, kTextHelp},
};

}  // namespace

const RefusedOperator* find_refused(std::string_view op) {
  const auto* found = std::find_if(kRefused.begin(), kRefused.end(),
                                   [&](const RefusedOperator& each) { return each.op == op; });
  return found == kRefused.end() ? nullptr : found;
}

}  // namespace tilewright::frontend::onnx
