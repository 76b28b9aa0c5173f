// Counts of n-grams.  The pool of n-grams is a tree: the tokens of a row lead from state to state, and the last state of an
// n-gram has its column.  Strings are ids, so that they are tokens like numbers.
// Source: onnx.ai/onnx/operators, TfIdfVectorizer-9; where the text leaves a choice (columns that two n-grams share,
// n-grams that occur twice), onnx's reference implementation.
#include <algorithm>
#include <map>

#include "tilewright/frontend/onnx/graphs/ml.h"
#include "tilewright/frontend/onnx/import/strings.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr int64_t kNoColumn = -1;

/// The n-grams of the pool with n in the range that the attributes say.
struct Grams {
  std::vector<int64_t> tokens;  // in order
  /// For each number of tokens after the first: states by the state before and the place of the token, in order, and
  /// the column of each.  State n of the first level is token n; a state that is none follows the last.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> steps;
  std::vector<std::vector<int64_t>> columns;  // of the states of each level
  int64_t num_columns = 0;
};

/// An n-gram of the pool.
struct Gram {
  std::vector<int64_t> tokens;
  int64_t column;
};

std::vector<int64_t> pool_of(const Importer& importer, const Node& node) {
  const bool has_strings = node.find("pool_strings") && !node.find("pool_strings")->texts.empty();
  const std::vector<int64_t> numbers = ints_attr(node, "pool_int64s", {});
  if (has_strings == !numbers.empty())
    throw UserError("attributes \"pool_int64s\" and \"pool_strings\" are {}, expected one of them",
                    has_strings ? "both given" : "left out");
  if (has_strings != node.reads_strings(0))
    throw UserError("the input holds {}, but the pool {}", node.reads_strings(0) ? "strings" : "numbers",
                    has_strings ? "strings" : "numbers");
  return has_strings ? string_ids_attr(importer, node, "pool_strings") : numbers;
}

// The n-grams of `pool` whose length is in the range, in order.
std::vector<Gram> grams_of(const Node& node, const std::vector<int64_t>& pool) {
  const std::vector<int64_t> starts = ints_attr(node, "ngram_counts", {}),
                             columns = ints_attr(node, "ngram_indexes", {});
  const int64_t least = int_attr(node, "min_gram_length", 1), most = int_attr(node, "max_gram_length", 1);
  if (least > most) throw UserError("min_gram_length is {}, but max_gram_length {}", least, most);
  std::vector<Gram> grams;
  size_t number = 0;
  for (size_t level = 0; level < starts.size(); ++level) {
    const auto size = static_cast<int64_t>(level) + 1;
    const int64_t first = starts[level],
                  end = level + 1 < starts.size() ? starts[level + 1] : static_cast<int64_t>(pool.size());
    if (first < 0 || first > end || end > static_cast<int64_t>(pool.size()) || (end - first) % size != 0)
      throw UserError("attribute \"ngram_counts\" says that {} of the pool, {} to {}, are {}-grams",
                      count_text(static_cast<size_t>(std::max<int64_t>(end - first, 0)), "token"), first, end,
                      size);
    for (int64_t at = first; at < end; at += size, ++number) {
      if (number >= columns.size())
        throw UserError("attribute \"ngram_indexes\" has {} for more n-grams",
                        count_text(columns.size(), "number"));
      if (size < least || size > most) continue;
      grams.push_back({{pool.begin() + at, pool.begin() + at + size}, columns[number]});
    }
  }
  return grams;
}

// The states after `level` + 2 tokens of the n-grams that are so long, which have reached `states` before.
void add_level(Grams* grams, const std::vector<Gram>& list, const std::map<int64_t, int64_t>& places,
               size_t level, std::vector<int64_t>* states) {
  std::map<std::pair<int64_t, int64_t>, int64_t> columns;
  const auto step_of = [&](size_t n) {
    return std::pair((*states)[n], places.at(list[n].tokens[level + 1]));
  };
  for (size_t n = 0; n < list.size(); ++n) {
    if (list[n].tokens.size() < level + 2) continue;
    int64_t& column = columns.emplace(step_of(n), kNoColumn).first->second;
    if (list[n].tokens.size() == level + 2) column = list[n].column;
  }
  auto& steps = grams->steps.emplace_back();
  auto& own = grams->columns.emplace_back();
  for (const auto& [step, column] : columns) {
    steps.push_back(step);
    own.push_back(column);
  }
  for (size_t n = 0; n < list.size(); ++n) {
    if (list[n].tokens.size() < level + 2) continue;
    (*states)[n] = std::lower_bound(steps.begin(), steps.end(), step_of(n)) - steps.begin();
  }
}

Grams tree_of(const Importer& importer, const Node& node) {
  const std::vector<Gram> list = grams_of(node, pool_of(importer, node));
  Grams grams;
  for (const int64_t column : ints_attr(node, "ngram_indexes", {}))
    grams.num_columns = std::max(grams.num_columns, column + 1);
  if (grams.num_columns == 0) throw UserError("attribute \"ngram_indexes\" is empty");
  size_t longest = 1;
  for (const Gram& gram : list) {
    grams.tokens.insert(grams.tokens.end(), gram.tokens.begin(), gram.tokens.end());
    longest = std::max(longest, gram.tokens.size());
  }
  std::sort(grams.tokens.begin(), grams.tokens.end());
  grams.tokens.erase(std::unique(grams.tokens.begin(), grams.tokens.end()), grams.tokens.end());
  std::map<int64_t, int64_t> places;
  for (size_t n = 0; n < grams.tokens.size(); ++n) places[grams.tokens[n]] = static_cast<int64_t>(n);
  grams.columns.emplace_back(grams.tokens.size(), kNoColumn);
  std::vector<int64_t> states;
  for (const Gram& gram : list) {
    states.push_back(places.at(gram.tokens[0]));
    if (gram.tokens.size() == 1) grams.columns[0][static_cast<size_t>(states.back())] = gram.column;
  }
  for (size_t level = 0; level + 1 < longest; ++level) add_level(&grams, list, places, level, &states);
  return grams;
}

/// Operators on the tokens of a node.
class Counter {
 public:
  Counter(Importer& importer, const Node& node, const Grams& grams)
      : importer_(importer), node_(node), grams_(grams) {}

  /// The columns of the n-grams that begin at each token of `x` [n, columns], int64 [n, any number]: one past the last
  /// column where there is none.
  std::vector<Expr> columns_of(const Expr& x, int64_t num_distances) {
    const auto longest = static_cast<int64_t>(grams_.columns.size());
    const auto num_tokens = static_cast<int64_t>(grams_.tokens.size());
    const Expr tokens = place_in(grams_.tokens, x);
    std::vector<Expr> found;
    if (has_columns(0)) found.push_back(column_of(0, tokens));
    const int64_t width = (longest - 1) * num_distances;
    if (width == 0) return found;
    // tokens after the last are none of the pool
    const Expr padded =
        call("relax.nn.pad", {tokens},
             {{"pad_width", attr(std::vector<int64_t>{0, 0, 0, width})}, {"pad_value", attr(num_tokens)}});
    const ir::PrimExpr count = shape_of(node_, x)[1];
    for (int64_t distance = 1; distance <= num_distances; ++distance) {
      Expr state = tokens;
      for (size_t level = 0; level < grams_.steps.size(); ++level) {
        const ir::PrimExpr first = relax::extent_imm((static_cast<int64_t>(level) + 1) * distance);
        const Expr token =
            call("relax.strided_slice",
                 {padded, relax::shape_expr({relax::extent_imm(1)}), relax::shape_expr({first}),
                  relax::shape_expr({importer_.facts.simplify(tir::operator+(first, count))})});
        state = next_state(level, state, token);
        if (has_columns(level + 1)) found.push_back(column_of(level + 1, state));
      }
    }
    return found;
  }

 private:
  Expr call(std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) {
    return importer_.bind(node_, op, std::move(args), std::move(attrs));
  }
  static Expr list(const std::vector<int64_t>& values) {
    return constant_of(values, {static_cast<int64_t>(values.size())}, kInt64);
  }
  Expr scalar(int64_t value) { return constant_of(std::vector<int64_t>{value}, {}, kInt64); }
  Expr taken(const std::vector<int64_t>& table, const Expr& places) {
    return call("relax.take", {list(table), places}, {{"axis", attr(int64_t{0})}});
  }

  // The places of the elements of x in `sorted`, its size for those that are not there.
  Expr place_in(const std::vector<int64_t>& sorted, const Expr& x) {
    const auto count = static_cast<int64_t>(sorted.size());
    const Places found = places_in(importer_, node_, list(sorted), count, x);
    return call("relax.where", {found.is_there, found.place, scalar(count)});
  }

  Expr next_state(size_t level, const Expr& state, const Expr& token) {
    const int64_t radix = static_cast<int64_t>(grams_.tokens.size()) + 1;
    std::vector<int64_t> keys;
    for (const auto& [before, place] : grams_.steps[level]) keys.push_back(before * radix + place);
    return place_in(keys, call("relax.add", {call("relax.multiply", {state, scalar(radix)}), token}));
  }

  bool has_columns(size_t level) const {
    const std::vector<int64_t>& columns = grams_.columns[level];
    return std::any_of(columns.begin(), columns.end(), [](int64_t column) { return column != kNoColumn; });
  }

  Expr column_of(size_t level, const Expr& state) {
    std::vector<int64_t> table = grams_.columns[level];
    table.push_back(kNoColumn);
    std::replace(table.begin(), table.end(), kNoColumn, grams_.num_columns);
    return taken(table, state);
  }

  Importer& importer_;
  const Node& node_;
  const Grams& grams_;
};

// Counts [n, columns] as attribute mode says.
Expr weighted(Importer& importer, const Node& node, const Expr& counts, int64_t num_columns) {
  const std::string mode = string_attr(node, "mode", "");
  require_known_text("mode", mode, {"TF", "IDF", "TFIDF"});
  const std::vector<double> weights = floats_attr(node, "weights");
  if (!weights.empty() && static_cast<int64_t>(weights.size()) != num_columns)
    throw UserError("attribute \"weights\" has {} values, expected {}", weights.size(), num_columns);
  if (mode == "TF") return counts;
  const Expr given =
      mode == "IDF" ? importer.bind(node, "relax.minimum", {counts, number(1, kFloat32)}) : counts;
  if (weights.empty()) return given;
  return importer.bind(node, "relax.multiply", {given, constant_of(weights, {num_columns}, kFloat32)});
}

// The numbers of skipped tokens that are looked at; more than a row has make no difference.
int64_t num_distances(const Node& node, const ir::PrimExpr& count) {
  constexpr int64_t kMost = 64;
  int64_t distances = int_attr(node, "max_skip_count", 0) + 1, known = 0;
  if (tir::as_const_int(count, &known)) distances = std::min(distances, std::max<int64_t>(known, 1));
  if (distances > kMost)
    throw Unsupported("max_skip_count is {}, at most {} are supported", distances - 1, kMost - 1)
        .help("n-grams with so many tokens between theirs say little; export the model with fewer");
  return distances;
}

void tf_idf(Importer& importer, const Node& node) {
  Expr x = bound_as(importer, importer.value(node, 0), kInt64);
  const relax::Shape given = shape_of(node, x);
  if (given.size() > 2)
    throw UserError("the input has {}, expected at most 2", count_text(given.size(), "dimension"));
  const bool has_rows = given.size() == 2;
  const ir::PrimExpr rows = has_rows ? given[0] : relax::extent_imm(1),
                     count = given.empty() ? relax::extent_imm(1) : given.back();
  if (!has_rows) x = importer.reshaped(node, x, {rows, count});
  const Grams grams = tree_of(importer, node);
  const relax::Shape all{rows, relax::extent_imm(grams.num_columns + 1)};
  Expr sums = importer.bind(node, "relax.broadcast_to", {number(0, kFloat32), relax::shape_expr(all)});
  if (!grams.tokens.empty()) {
    for (const Expr& places : Counter(importer, node, grams).columns_of(x, num_distances(node, count))) {
      const Expr ones =
          importer.bind(node, "relax.broadcast_to", {number(1, kFloat32), relax::shape_expr({rows, count})});
      sums = importer.bind(node, "relax.scatter_elements", {sums, places, ones},
                           {{"axis", attr(int64_t{1})}, {"reduction", attr("add")}});
    }
  }
  const auto one = [](int64_t value) { return relax::shape_expr({relax::extent_imm(value)}); };
  const Expr counts =
      importer.bind(node, "relax.strided_slice", {sums, one(1), one(0), one(grams.num_columns)});
  Expr result = weighted(importer, node, counts, grams.num_columns);
  if (!has_rows) result = importer.reshaped(node, result, {relax::extent_imm(grams.num_columns)});
  importer.define(node.outputs.at(0), result);
}

constexpr AttributeRule kTfIdf[] = {required("max_gram_length", Attribute::kInt, 1, kMostExtent),
                                    required("max_skip_count", Attribute::kInt, 0, kMostExtent),
                                    required("min_gram_length", Attribute::kInt, 1, kMostExtent),
                                    required("mode", Attribute::kString),
                                    required("ngram_counts", Attribute::kInts),
                                    required("ngram_indexes", Attribute::kInts, 0, kMostExtent),
                                    {"pool_int64s", Attribute::kInts},
                                    {"pool_strings", Attribute::kStrings},
                                    {"weights", Attribute::kFloats}};

constexpr ConverterRow kRows[] = {
    {.op = "TfIdfVectorizer",
     .convert = tf_idf,
     .min_inputs = 1,
     .max_inputs = 1,
     .attributes = kTfIdf,
     .since = 9},
};

}  // namespace

extern constinit const ConverterTable tfidf_info = {kRows};

}  // namespace tilewright::frontend::onnx
