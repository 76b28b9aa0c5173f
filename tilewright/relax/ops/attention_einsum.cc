// Attention whose operands have their dimensions in any order, as the pass fuse_attention makes it from matmuls,
// and the importer of ONNX models.
#include <algorithm>
#include <map>

#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/attention.h"

namespace tilewright::relax {
namespace {

struct Attrs {
  std::string subscripts;
  double scale = 1;
  std::string causal_mask;
  std::optional<int64_t> window_size;
  double softcap = 0;
  static constexpr auto fields() {
    return std::tuple{
        field<&Attrs::subscripts>("subscripts",
                                  "letters of dimensions of query, key, value, bias and the result: s of "
                                  "queries, t of keys, d summed by the products, e of values, others of the "
                                  "batch, 1 means extent 1; e.g. \"bhsd,bhdt,bhte,bhst->bshe\""),
        field<&Attrs::scale>("scale", "factor of the products"),
        field<&Attrs::causal_mask>(
            "causal_mask",
            "\"TopLeft\": query i sees keys up to i; \"BottomRight\": the last query sees all keys; empty: "
            "all see all"),
        field<&Attrs::window_size>("window_size", "how many keys before it a query sees; none: all"),
        field<&Attrs::softcap>(
            "softcap", "scores are softcap * tanh(scores / softcap) before the bias; 0: as they are")};
  }
};

// The letters in order, without 1.
std::string sorted(std::string letters) {
  std::erase(letters, '1');
  std::sort(letters.begin(), letters.end());
  return letters;
}
bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }
bool has_only(const std::string& letters, const std::string& of) {
  return std::includes(of.begin(), of.end(), letters.begin(), letters.end()) &&
         std::adjacent_find(letters.begin(), letters.end()) == letters.end();
}
bool are_letters(const topi::AttentionLetters& letters) {
  std::string batch = sorted(letters.query);
  const bool has_query = std::erase(batch, 's') == 1 && std::erase(batch, 'd') == 1;
  const auto is = [&](const std::string& own, const std::string& required, bool has_all) {
    const std::string found = sorted(own);
    return has_only(found, sorted(batch + required)) &&
           std::all_of(required.begin(), required.end(), [&](char c) { return has(found, c); }) &&
           (!has_all || found.size() == batch.size() + required.size());
  };
  return has_query && !has(batch, 't') && !has(batch, 'e') &&
         std::all_of(batch.begin(), batch.end(), [](unsigned char c) { return std::isalpha(c); }) &&
         is(letters.query, "sd", true) && is(letters.key, "td", false) && is(letters.value, "te", false) &&
         has_only(sorted(letters.bias), sorted(batch + "st")) && is(letters.result, "se", true);
}

Type infer(const Call& call, const Attrs& attrs, Requirements& require) {
  const topi::AttentionLetters letters = topi::parse_attention(attrs.subscripts);
  const std::string* own[] = {&letters.query, &letters.key, &letters.value, &letters.bias};
  const size_t num_operands =
      1 + static_cast<size_t>(std::count(attrs.subscripts.begin(), attrs.subscripts.end(), ','));
  if (num_operands != call->args.size() || !are_letters(letters))
    fail(call, "subscripts \"{}\" are not those of attention of {} operands", attrs.subscripts,
         call->args.size());
  if (!attrs.causal_mask.empty() && attrs.causal_mask != "TopLeft" && attrs.causal_mask != "BottomRight")
    fail(call, "causal_mask is \"{}\", expected \"TopLeft\" or \"BottomRight\"", attrs.causal_mask);
  std::map<char, PrimExpr> extents;
  for (size_t n = 0; n < call->args.size(); ++n) {
    require_ndim(call, n, static_cast<int64_t>(own[n]->size()));
    require_float(call, n);
    common_dtype(call, 0, n);
    const Shape* shape = known_shape(tensor_arg(call, n));
    if (!shape)
      return tensor_type_of_ndim(static_cast<int64_t>(letters.result.size()), tensor_arg(call, 0)->dtype);
    for (size_t dim = 0; dim < shape->size(); ++dim) {
      PrimExpr& extent = extents[(*own[n])[dim]];
      if (!extent) extent = (*own[n])[dim] == '1' ? extent_imm(1) : (*shape)[dim];
      const bool may_be_one = n > 0 && (*own[n])[dim] != '1' && tir::is_one((*shape)[dim]);
      if (!may_be_one)
        require.equal(extent, (*shape)[dim], "dimension {} has extent {}, but is {} in {} {}",
                      std::string(1, (*own[n])[dim]), extent, (*shape)[dim], arg_name(call, n), *shape);
    }
  }
  Shape result;
  for (char letter : letters.result) result.push_back(letter == '1' ? extent_imm(1) : extents[letter]);
  return tensor_type(std::move(result), tensor_arg(call, 0)->dtype);
}

te::Tensor lower(const LowerInput& in, const Attrs& attrs) {
  topi::AttentionOptions options{.scale = attrs.scale, .softcap = attrs.softcap};
  if (!attrs.causal_mask.empty())
    options.mask =
        attrs.causal_mask == "TopLeft" ? topi::CausalMask::kTopLeft : topi::CausalMask::kBottomRight;
  options.window = attrs.window_size.value_or(-1);
  return topi::attention(in[0], in[1], in[2], in.has(3) ? in[3] : te::Tensor(), options,
                         topi::parse_attention(attrs.subscripts));
}

constexpr OpInfo kOps[] = {
    op<infer, lower, Attrs>("relax.nn.attention_einsum", "query, key, value, bias?",
                            "softmax(query . key * scale + bias) . value, dimensions in any order.",
                            FusePattern::kOpaque),
};

}  // namespace

extern constinit const OpTable attention_einsum_info =
    op_table(kOps, "Vaswani et al., Attention Is All You Need, arXiv 1706.03762; numpy.einsum (subscripts)");

}  // namespace tilewright::relax
