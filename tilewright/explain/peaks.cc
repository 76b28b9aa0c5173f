#include "tilewright/explain/peaks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "tilewright/driver/build.h"
#include "tilewright/driver/build_id.h"
#include "tilewright/driver/disk_cache.h"
#include "tilewright/driver/target.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/script/parse.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::explain {
namespace {

using Json = nlohmann::ordered_json;
using runtime::Tensor;

// enough to keep two units with a latency of 4 busy, few enough for 16 registers
constexpr int kAccumulators = 12;
// Others use the machine, too: of so many calls the fastest counts, again and again until several agree.
constexpr int kCallsOfSample = 4;
constexpr size_t kLeastRounds = 3, kMostRounds = 12;
constexpr double kAgree = 0.95;  // of the best sample is what as many as kLeastRounds must reach

// Sums of `threads` threads, each in registers.  `step` adds to element j of sum k what its comment says.
std::string program(int threads, int lanes, const std::string& shape, const std::string& begin_loops,
                    const std::string& step) {
  const std::string each = fmt::format("for k in T.unroll({}):\n", kAccumulators) + "{0}" +
                           fmt::format("    for j in T.vectorized({}):\n", lanes) + "{0}        ";
  const auto nest = [&](const std::string& indent) {
    return indent + fmt::format(fmt::runtime(each), indent);
  };
  const std::string sum = fmt::format("acc[k * {} + j]", lanes), outer(8, ' '), inner(16, ' ');
  return fmt::format(
             "@T.prim_func\ndef main(x: T.Buffer({}, \"float32\"), sums: T.Buffer(({}, {}), \"float32\")):\n"
             "    for t in T.parallel({}):\n"
             "        acc = T.decl_buffer(({},), \"float32\", scope=\"local\")\n",
             shape, threads, kAccumulators * lanes, threads, kAccumulators * lanes) +
         nest(outer) + sum + " = T.float32(0)\n" + begin_loops + nest(inner) + sum + " = " + step + "\n" +
         nest(outer) + fmt::format("sums[t, k * {} + j] = {}\n", lanes, sum);
}

// One of the figures: how much is done a second.
struct Probe {
  runtime::Module module;  // keeps the code of `main`
  runtime::Function main;
  std::vector<runtime::Value> args;
  double amount;               // that one call does
  std::vector<double> speeds;  // of samples

  void take_sample() {
    double best = std::numeric_limits<double>::infinity();
    for (int n = 0; n < kCallsOfSample; ++n) {
      const auto start = std::chrono::steady_clock::now();
      main.call(args);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    speeds.push_back(amount / best);
  }
};

Probe make_probe(const std::string& text, std::vector<runtime::Value> args, double amount) {
  const auto func = ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("peak", text))));
  const runtime::Module module = driver::build(func, target::parse_target("llvm"), {.schedules = false});
  return {module, module.find_function("main"), std::move(args), amount, {}};
}

Probe make_probe(const std::string& text, int threads, int lanes, const std::vector<int64_t>& shape,
                 double amount) {
  const DataType f32 = DataType::float_(32);
  const Tensor x = Tensor::empty(shape, f32);
  std::fill_n(x.data_as<float>(), x.num_elements(), 1.f);  // written, so that it has memory of its own
  const Tensor sums = Tensor::empty(std::vector<int64_t>{threads, kAccumulators * lanes}, f32);
  return make_probe(text, {runtime::Value(x), runtime::Value(sums)}, amount);
}

Probe flops_probe(int threads, int lanes) {
  constexpr int64_t kSteps = 500'000;  // about two milliseconds
  const std::string text =
      program(threads, lanes, fmt::format("({},)", 2 * lanes),
              fmt::format("        for n in range({}):\n            for m in range(1):\n", kSteps),
              fmt::format("acc[k * {0} + j] * x[j] + x[{0} + j]", lanes));
  return make_probe(text, threads, lanes, {2 * lanes},
                    2.0 * static_cast<double>(kSteps * kAccumulators * lanes * threads));
}

// Dot products of groups of `x` and `y`, which are of 32 bits.
Probe dots_probe(int threads, int lanes, DataType x, DataType y, DataType sum) {
  constexpr int64_t kSteps = 500'000;
  const int64_t group = 32 / x.bits, width = group * lanes;
  const std::string text = fmt::format(
      R"(
@T.prim_func
def main(x: T.Buffer(({width},), "{x}"), y: T.Buffer(({width},), "{y}"), sums: T.Buffer(({threads}, {all}), "{sum}")):
    for t in T.parallel({threads}):
        acc = T.decl_buffer(({all},), "{sum}", scope="local")
        for k in T.unroll({count}):
            acc[k * {lanes}:k * {lanes} + {lanes}] = T.Broadcast(T.{sum}(0), {lanes})
        for n in range({steps}):
            for k in T.unroll({count}):
                acc[k * {lanes}:k * {lanes} + {lanes}] = T.dot_add(
                    acc[k * {lanes}:k * {lanes} + {lanes}], x[0:{width}], y[0:{width}])
        for k in T.unroll({count}):
            sums[t, k * {lanes}:k * {lanes} + {lanes}] = acc[k * {lanes}:k * {lanes} + {lanes}]
)",
      fmt::arg("width", width), fmt::arg("x", x.str()), fmt::arg("y", y.str()), fmt::arg("sum", sum.str()),
      fmt::arg("threads", threads), fmt::arg("lanes", lanes), fmt::arg("all", kAccumulators * lanes),
      fmt::arg("count", kAccumulators), fmt::arg("steps", kSteps));
  const std::vector<int64_t> operand{width}, result{threads, int64_t{kAccumulators} * lanes};
  return make_probe(text,
                    {runtime::Value(Tensor::zeros(operand, x)), runtime::Value(Tensor::zeros(operand, y)),
                     runtime::Value(Tensor::zeros(result, sum))},
                    2.0 * static_cast<double>(kSteps * kAccumulators * width * threads));
}

// Two by two tiles of 16 x 16, again and again.
Probe tiles_probe(int threads, DataType operand, DataType sum) {
  constexpr int64_t kSteps = 20'000, kSide = 32, kGroups = 16;
  const int64_t group = 32 / operand.bits;
  const std::string text = fmt::format(
      R"(
@T.prim_func
def main(x: T.Buffer(({side}, {terms}), "{operand}"), y: T.Buffer(({groups}, {side}, {group}), "{operand}"), sums: T.Buffer(({threads}, {side}, {side}), "{sum}")):
    for t in T.parallel({threads}):
        for n in T.serial({steps}, annotations={{"{annotation}": True}}):
            for io, jo, i, j, k, g in T.grid(2, 2, 16, 16, {groups}, {group}):
                sums[t, io * 16 + i, jo * 16 + j] = sums[t, io * 16 + i, jo * 16 + j] + T.Cast(
                    "{sum}", x[io * 16 + i, k * {group} + g]) * T.Cast("{sum}", y[k, jo * 16 + j, g])
)",
      fmt::arg("side", kSide), fmt::arg("terms", kGroups * group), fmt::arg("groups", kGroups),
      fmt::arg("group", group), fmt::arg("operand", operand.str()), fmt::arg("sum", sum.str()),
      fmt::arg("threads", threads), fmt::arg("steps", kSteps), fmt::arg("annotation", tir::kMatrixTiles));
  const std::vector<int64_t> x{kSide, kGroups * group}, y{kGroups, kSide, group}, sums{threads, kSide, kSide};
  return make_probe(text,
                    {runtime::Value(Tensor::zeros(x, operand)), runtime::Value(Tensor::zeros(y, operand)),
                     runtime::Value(Tensor::zeros(sums, sum))},
                    2.0 * static_cast<double>(kSteps * kSide * kSide * kGroups * group * threads));
}

// Reading `num_bytes` per thread again and again.
Probe bandwidth_probe(int threads, int lanes, int64_t num_bytes) {
  const int64_t group = int64_t{kAccumulators} * lanes, groups = std::max<int64_t>(num_bytes / 4 / group, 1);
  constexpr int64_t kBytesRead = int64_t{1} << 28;
  const int64_t rounds = std::max<int64_t>(kBytesRead / (groups * group * 4), 1);
  const std::string text =
      program(threads, lanes, fmt::format("({}, {})", threads, groups * group),
              fmt::format("        for n in range({}):\n            for m in range({}):\n", rounds, groups),
              fmt::format("acc[k * {0} + j] + x[t, (m * {1} + k) * {0} + j]", lanes, kAccumulators));
  return make_probe(text, threads, lanes, {threads, groups * group},
                    static_cast<double>(threads * rounds * groups * group * 4));
}

// The bytes of the last cache, 0 if there is none.  Virtual machines tell of one that many of them share:
// more than this is not to be counted on.
int64_t l3_bytes() {
  constexpr long kMost = 32L << 20;
  return std::clamp(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L, kMost);
}

// The probe of dot products that the machine has, if any.
std::optional<Probe> bfloat16_probe(const target::Features& features, int threads, int lanes) {
  const DataType bfloat16 = DataType::bfloat16(), f32 = DataType::float_(32);
  if (features.dots.bfloat_tiles) return tiles_probe(threads, bfloat16, f32);
  if (features.dots.bfloats) return dots_probe(threads, lanes, bfloat16, bfloat16, f32);
  return std::nullopt;
}

std::optional<Probe> int8_probe(const target::Features& features, int threads, int lanes) {
  const DataType int8 = DataType::int_(8), uint8 = DataType::uint(8), int32 = DataType::int_(32);
  if (features.dots.byte_tiles) return tiles_probe(threads, int8, int32);
  if (features.dots.mixed_bytes) return dots_probe(threads, lanes, uint8, int8, int32);
  if (features.dots.signed_bytes) return dots_probe(threads, lanes, int8, int8, int32);
  return std::nullopt;
}

// Takes samples of all probes in turn, so that no neighbour's work falls on one of them alone; whether
// several of each agree.
bool take_samples(std::vector<Probe>* probes) {
  for (size_t round = 1; round <= kMostRounds; ++round) {
    for (Probe& probe : *probes) probe.take_sample();
    if (round >= kLeastRounds && std::all_of(probes->begin(), probes->end(),
                                             [](const Probe& probe) { return are_steady(probe.speeds); }))
      return true;
  }
  return false;
}

Peaks measure(const target::Features& features) {
  constexpr int64_t kMemory = int64_t{256} << 20;
  const int threads = runtime::num_threads(), lanes = static_cast<int>(features.vector_bytes / 4);
  const int64_t l1 = features.l1_bytes, l2 = features.l2_bytes, l3 = l3_bytes();
  Peaks peaks{threads, 0, {}};
  std::vector<Probe> probes = {flops_probe(threads, lanes)};
  const auto add_level = [&](const char* name, int64_t num_bytes, int64_t num_read) {
    peaks.levels.push_back({name, num_bytes, 0});
    probes.push_back(bandwidth_probe(threads, lanes, num_read));
  };
  add_level("L1", l1 * threads, l1 / 2);
  add_level("L2", l2 * threads, l2 / 2);
  if (l3 > 2 * l2 * threads) add_level("L3", l3, l3 / 2 / threads);
  add_level("memory", std::numeric_limits<int64_t>::max(), kMemory / threads);
  std::vector<double*> figures = {&peaks.flops_per_s};
  for (MemoryLevel& level : peaks.levels) figures.push_back(&level.bytes_per_s);
  if (std::optional<Probe> probe = bfloat16_probe(features, threads, lanes)) {
    probes.push_back(std::move(*probe));
    figures.push_back(&peaks.bfloat16_per_s);
  }
  if (std::optional<Probe> probe = int8_probe(features, threads, lanes)) {
    probes.push_back(std::move(*probe));
    figures.push_back(&peaks.int8_per_s);
  }
  peaks.is_steady = take_samples(&probes);
  for (size_t n = 0; n < probes.size(); ++n)
    *figures[n] = *std::max_element(probes[n].speeds.begin(), probes[n].speeds.end());
  put_levels_in_order(&peaks);
  return peaks;
}

std::string text_of(const Peaks& peaks) {
  Json levels = Json::array();
  for (const MemoryLevel& level : peaks.levels)
    levels.push_back(
        {{"name", level.name}, {"num_bytes", level.num_bytes}, {"bytes_per_s", level.bytes_per_s}});
  return Json{{"num_threads", peaks.num_threads},
              {"flops_per_s", peaks.flops_per_s},
              {"levels", levels},
              {"bfloat16_per_s", peaks.bfloat16_per_s},
              {"int8_per_s", peaks.int8_per_s}}
      .dump();
}

Peaks peaks_of(const std::string& text) {
  const Json json = Json::parse(text);
  Peaks peaks{json.at("num_threads"), json.at("flops_per_s"), {}};
  for (const Json& level : json.at("levels"))
    peaks.levels.push_back({level.at("name"), level.at("num_bytes"), level.at("bytes_per_s")});
  peaks.bfloat16_per_s = json.at("bfloat16_per_s");
  peaks.int8_per_s = json.at("int8_per_s");
  return peaks;
}

// A hash of what the figures depend on.
Hash128 cache_key(const driver::Generator& generator) {
  Hasher hasher;
  hasher.add("peaks 2")
      .add(driver::build_id())
      .add(generator.code_key)
      .add(static_cast<uint64_t>(l3_bytes()));
  return hasher.add(static_cast<uint64_t>(runtime::num_threads())).finish();
}

}  // namespace

bool are_steady(std::vector<double> speeds) {
  if (speeds.size() < kLeastRounds) return false;
  std::sort(speeds.begin(), speeds.end(), std::greater<>());
  return speeds[kLeastRounds - 1] >= kAgree * speeds[0];
}

void put_levels_in_order(Peaks* peaks) {
  for (size_t n = peaks->levels.size(); n-- > 1;)
    peaks->levels[n - 1].bytes_per_s =
        std::max(peaks->levels[n - 1].bytes_per_s, peaks->levels[n].bytes_per_s);
}

const MemoryLevel& Peaks::level_for(int64_t num_bytes) const {
  // A cache that is read and written to the last line loses lines before they come again.
  for (const MemoryLevel& level : levels) {
    if (num_bytes <= level.num_bytes - level.num_bytes / 4) return level;
  }
  return levels.back();
}

std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kVectors: return "vectors";
    case Arithmetic::kBfloat16: return "bfloat16";
    case Arithmetic::kInt8: return "int8";
  }
  return "";
}

double Peaks::of(Arithmetic arithmetic) const {
  const double own = arithmetic == Arithmetic::kBfloat16 ? bfloat16_per_s
                     : arithmetic == Arithmetic::kInt8   ? int8_per_s
                                                         : 0;
  return own > 0 ? own : flops_per_s;
}

Peaks peaks_of_machine(bool again) {
  const std::optional<driver::DiskCache> cache = driver::DiskCache::of_user();
  const driver::Generator generator = driver::make_generator(target::parse_target("llvm"));
  if (cache && !again) {
    if (const std::optional<std::string> text = cache->find(cache_key(generator))) return peaks_of(*text);
  }
  const Peaks peaks = measure(generator.features);
  keep(peaks);
  return peaks;
}

void keep(const Peaks& peaks) {
  const std::optional<driver::DiskCache> cache = driver::DiskCache::of_user();
  if (!cache || !peaks.is_steady) return;
  cache->add(cache_key(driver::make_generator(target::parse_target("llvm"))), text_of(peaks));
}

}  // namespace tilewright::explain
