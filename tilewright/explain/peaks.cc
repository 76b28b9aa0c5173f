#include "tilewright/explain/peaks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "tilewright/driver/build.h"
#include "tilewright/driver/build_id.h"
#include "tilewright/driver/disk_cache.h"
#include "tilewright/driver/target.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/script/parse.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::explain {
namespace {

using Json = nlohmann::ordered_json;
using runtime::Tensor;

// enough to keep two units with a latency of 4 busy, few enough for 16 registers
constexpr int kAccumulators = 12;
constexpr int kRepeats = 20;  // the best of so many counts: others use the machine, too

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

// Seconds of the fastest call.
double best_time(const std::string& text, const std::vector<runtime::Value>& args) {
  const auto func = ir::ref_as<tir::PrimFuncNode>(script::parse(Ref<Source>(new Source("peak", text))));
  const runtime::Module module = driver::build(func, ir::parse_target("llvm"), {.schedules = false});
  const runtime::Function main = module.find_function("main");
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kRepeats; ++n) {
    const auto start = std::chrono::steady_clock::now();
    main.call(args);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

double best_time(const std::string& text, int threads, int lanes, const std::vector<int64_t>& shape) {
  const DataType f32 = DataType::float_(32);
  const Tensor x = Tensor::empty(shape, f32);
  std::fill_n(x.data_as<float>(), x.num_elements(), 1.f);  // written, so that it has memory of its own
  const Tensor sums = Tensor::empty(std::vector<int64_t>{threads, kAccumulators * lanes}, f32);
  return best_time(text, {runtime::Value(x), runtime::Value(sums)});
}

double measure_flops(int threads, int lanes) {
  constexpr int64_t kSteps = 500'000;  // about two milliseconds
  const std::string text =
      program(threads, lanes, fmt::format("({},)", 2 * lanes),
              fmt::format("        for n in range({}):\n            for m in range(1):\n", kSteps),
              fmt::format("acc[k * {0} + j] * x[j] + x[{0} + j]", lanes));
  return 2.0 * static_cast<double>(kSteps * kAccumulators * lanes * threads) /
         best_time(text, threads, lanes, {2 * lanes});
}

// Dot products of groups of `x` and `y`, which are of 32 bits.
double measure_dots(int threads, int lanes, DataType x, DataType y, DataType sum) {
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
  const double seconds =
      best_time(text, {runtime::Value(Tensor::zeros(operand, x)), runtime::Value(Tensor::zeros(operand, y)),
                       runtime::Value(Tensor::zeros(result, sum))});
  return 2.0 * static_cast<double>(kSteps * kAccumulators * width * threads) / seconds;
}

// Two by two tiles of 16 x 16, again and again.
double measure_tiles(int threads, DataType operand, DataType sum) {
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
  const double seconds =
      best_time(text, {runtime::Value(Tensor::zeros(x, operand)), runtime::Value(Tensor::zeros(y, operand)),
                       runtime::Value(Tensor::zeros(sums, sum))});
  return 2.0 * static_cast<double>(kSteps * kSide * kSide * kGroups * group * threads) / seconds;
}

// Reading `num_bytes` per thread again and again.
double measure_bandwidth(int threads, int lanes, int64_t num_bytes) {
  const int64_t group = int64_t{kAccumulators} * lanes, groups = std::max<int64_t>(num_bytes / 4 / group, 1);
  constexpr int64_t kBytesRead = int64_t{1} << 28;
  const int64_t rounds = std::max<int64_t>(kBytesRead / (groups * group * 4), 1);
  const std::string text =
      program(threads, lanes, fmt::format("({}, {})", threads, groups * group),
              fmt::format("        for n in range({}):\n            for m in range({}):\n", rounds, groups),
              fmt::format("acc[k * {0} + j] + x[t, (m * {1} + k) * {0} + j]", lanes, kAccumulators));
  return static_cast<double>(threads * rounds * groups * group * 4) /
         best_time(text, threads, lanes, {threads, groups * group});
}

// Of the last cache, 0 if there is none.  Virtual machines tell of one that many of them share: more than
// this is not to be counted on.
int64_t l3_bytes() {
  constexpr long kMost = 32L << 20;
  return std::clamp(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L, kMost);
}

Peaks measure(const schedule::Machine& machine) {
  constexpr int64_t kMemory = int64_t{256} << 20;
  const int threads = runtime::num_threads(), lanes = static_cast<int>(machine.vector_bytes / 4);
  const int64_t l1 = machine.l1_bytes, l2 = machine.l2_bytes, l3 = l3_bytes();
  Peaks peaks{threads, measure_flops(threads, lanes), {}};
  peaks.levels = {{"L1", l1 * threads, measure_bandwidth(threads, lanes, l1 / 2)},
                  {"L2", l2 * threads, measure_bandwidth(threads, lanes, l2 / 2)}};
  if (l3 > 2 * l2 * threads)
    peaks.levels.push_back({"L3", l3, measure_bandwidth(threads, lanes, l3 / 2 / threads)});
  peaks.levels.push_back(
      {"memory", std::numeric_limits<int64_t>::max(), measure_bandwidth(threads, lanes, kMemory / threads)});
  const DataType bfloat16 = DataType::bfloat16(), f32 = DataType::float_(32), int8 = DataType::int_(8),
                 uint8 = DataType::uint(8), int32 = DataType::int_(32);
  if (machine.dots.bfloat_tiles)
    peaks.bfloat16_per_s = measure_tiles(threads, bfloat16, f32);
  else if (machine.dots.bfloats)
    peaks.bfloat16_per_s = measure_dots(threads, lanes, bfloat16, bfloat16, f32);
  if (machine.dots.byte_tiles)
    peaks.int8_per_s = measure_tiles(threads, int8, int32);
  else if (machine.dots.mixed_bytes)
    peaks.int8_per_s = measure_dots(threads, lanes, uint8, int8, int32);
  else if (machine.dots.signed_bytes)
    peaks.int8_per_s = measure_dots(threads, lanes, int8, int8, int32);
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

// Of what the figures depend on.
Hash128 cache_key(const driver::Generator& generator) {
  Hasher hasher;
  hasher.add("peaks").add(driver::build_id()).add(generator.code_key).add(static_cast<uint64_t>(l3_bytes()));
  return hasher.add(static_cast<uint64_t>(runtime::num_threads())).finish();
}

}  // namespace

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
  const driver::Generator generator = driver::make_generator(ir::parse_target("llvm"));
  const Hash128 key = cache_key(generator);
  if (cache && !again) {
    if (const std::optional<std::string> text = cache->find(key)) return peaks_of(*text);
  }
  const Peaks peaks = measure(*generator.rules_for);
  if (cache) cache->add(key, text_of(peaks));
  return peaks;
}

}  // namespace tilewright::explain
