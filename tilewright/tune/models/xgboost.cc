#include "tilewright/tune/models/xgboost.h"

#include <dlfcn.h>

#include <utility>

#include "tilewright/support/error.h"

namespace tilewright::tune {

using Handle = void*;
using Length = uint64_t;  // bst_ulong

struct XGBoost::Functions {
  void* library = nullptr;
  const char* (*last_error)() = nullptr;
  void (*version)(int*, int*, int*) = nullptr;
  int (*matrix_create)(const float*, Length, Length, float, Handle*) = nullptr;
  int (*matrix_set)(Handle, const char*, const float*, Length) = nullptr;
  int (*matrix_free)(Handle) = nullptr;
  int (*create)(const Handle*, Length, Handle*) = nullptr;
  int (*free)(Handle) = nullptr;
  int (*set_param)(Handle, const char*, const char*) = nullptr;
  int (*update)(Handle, int, Handle) = nullptr;
  int (*predict)(Handle, Handle, const char*, const Length**, Length*, const float**) = nullptr;
  int (*save)(Handle, const char*, Length*, const char**) = nullptr;
  int (*load)(Handle, const void*, Length) = nullptr;

  template <class F>
  bool find(const char* name, F*& function) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    return function != nullptr;
  }
  bool find_all() {
    return find("XGBGetLastError", last_error) && find("XGBoostVersion", version) &&
           find("XGDMatrixCreateFromMat", matrix_create) && find("XGDMatrixSetFloatInfo", matrix_set) &&
           find("XGDMatrixFree", matrix_free) && find("XGBoosterCreate", create) &&
           find("XGBoosterFree", free) && find("XGBoosterSetParam", set_param) &&
           find("XGBoosterUpdateOneIter", update) && find("XGBoosterPredictFromDMatrix", predict) &&
           find("XGBoosterSaveModelToBuffer", save) && find("XGBoosterLoadModelFromBuffer", load);
  }
  void check(int code) const {
    if (code != 0) throw UserError("xgboost: {}", last_error());
  }
};

XGBoost::~XGBoost() = default;  // the library stays open: its threads do

std::shared_ptr<const XGBoost> XGBoost::open(const std::string& path) {
  std::shared_ptr<XGBoost> opened(new XGBoost);
  opened->functions_ = std::make_unique<Functions>();
  Functions& functions = *opened->functions_;
  functions.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!functions.library) throw UserError("xgboost: {} cannot be opened: {}", path, dlerror());
  if (!functions.find_all())
    throw UserError("xgboost: {} lacks functions of the C API of XGBoost 1.7", path)
        .help("install another: pip install 'tilewright[xgboost]'");
  return opened;
}

std::string XGBoost::version() const {
  int major = 0, minor = 0, patch = 0;
  functions_->version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

namespace {

// Rows as XGBoost keeps them.
template <class Functions>
class Matrix {
 public:
  Matrix(const Functions& functions, const Table& table) : functions_(functions) {
    functions_.check(functions_.matrix_create(table.values.data(), table.rows(), table.columns,
                                              __builtin_nanf(""), &handle_));
  }
  ~Matrix() { functions_.matrix_free(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  void set(const char* name, const std::vector<float>& values) {
    functions_.check(functions_.matrix_set(handle_, name, values.data(), values.size()));
  }
  Handle get() const { return handle_; }

 private:
  const Functions& functions_;
  Handle handle_ = nullptr;
};

}  // namespace

Trees::Trees(std::shared_ptr<const XGBoost> library) : library_(std::move(library)) {}

Trees::~Trees() { reset(); }

void Trees::reset() {
  if (booster_) library_->functions_->free(std::exchange(booster_, nullptr));
}

void Trees::train(const Table& table, const std::vector<float>& labels, const std::vector<float>& weights,
                  const Options& options) {
  const XGBoost::Functions& functions = *library_->functions_;
  reset();
  Matrix matrix(functions, table);
  matrix.set("label", labels);
  matrix.set("weight", weights);
  const Handle data = matrix.get();
  functions.check(functions.create(&data, 1, &booster_));
  // one thread: sums of several would round in the order in which they end
  const std::pair<const char*, std::string> params[] = {
      {"objective", "reg:squarederror"},
      {"base_score", "0"},
      {"tree_method", "hist"},
      {"nthread", "1"},
      {"verbosity", "0"},
      {"seed", std::to_string(options.seed % (1u << 31))},
      {"max_depth", std::to_string(options.depth)},
      {"eta", std::to_string(options.rate)},
      {"lambda", std::to_string(options.shrinkage)},
      {"colsample_bynode", std::to_string(options.features)}};
  for (const auto& [name, value] : params)
    functions.check(functions.set_param(booster_, name, value.c_str()));
  for (int round = 0; round < options.rounds; ++round)
    functions.check(functions.update(booster_, round, matrix.get()));
}

std::vector<float> Trees::predict(const Table& table) const {
  if (table.rows() == 0) return {};
  const XGBoost::Functions& functions = *library_->functions_;
  const Matrix matrix(functions, table);
  const Length* shape = nullptr;
  Length ndim = 0;
  const float* values = nullptr;
  constexpr const char* kConfig =
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
  functions.check(functions.predict(booster_, matrix.get(), kConfig, &shape, &ndim, &values));
  return std::vector<float>(values, values + table.rows());
}

std::string Trees::save() const {
  const XGBoost::Functions& functions = *library_->functions_;
  Length size = 0;
  const char* bytes = nullptr;
  functions.check(functions.save(booster_, R"({"format": "ubj"})", &size, &bytes));
  return std::string(bytes, size);
}

void Trees::load(const std::string& bytes) {
  const XGBoost::Functions& functions = *library_->functions_;
  reset();
  functions.check(functions.create(nullptr, 0, &booster_));
  functions.check(functions.load(booster_, bytes.data(), bytes.size()));
}

}  // namespace tilewright::tune
