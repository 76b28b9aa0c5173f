// Gradient-boosted trees by the C API of XGBoost, whose library is opened when it is asked for (decision 30).
// Chen, Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::tune {

/// Rows of equally many numbers.
struct Table {
  size_t columns = 0;
  std::vector<float> values;  // row by row
  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

/// The opened library.
class XGBoost {
 public:
  /// Raises UserError if `path` is no library of XGBoost.
  static std::shared_ptr<const XGBoost> open(const std::string& path);
  ~XGBoost();
  /// Its version: "3.2.0".
  std::string version() const;

 private:
  friend class Trees;
  struct Functions;
  XGBoost() = default;
  std::unique_ptr<Functions> functions_;
};

/// Trees that predict one number for each row.
class Trees {
 public:
  struct Options {
    uint64_t seed = 0;
    int rounds = 40;
    int depth = 3;
    double rate = 0.1;      // by which each tree corrects
    double shrinkage = 5;   // of corrections that few rows ask for
    double features = 0.3;  // share of them that each node may ask about
  };
  explicit Trees(std::shared_ptr<const XGBoost> library);
  ~Trees();
  Trees(const Trees&) = delete;
  Trees& operator=(const Trees&) = delete;

  bool is_trained() const { return booster_ != nullptr; }
  /// Forgets what was learnt, and learns `labels`, one for each row of `table`, of which those with larger
  /// `weights` count more.  The same in gives the same trees.
  void train(const Table& table, const std::vector<float>& labels, const std::vector<float>& weights,
             const Options& options);
  std::vector<float> predict(const Table& table) const;
  /// The trees as bytes, and back.  Raise UserError if XGBoost cannot read them.
  std::string save() const;
  void load(const std::string& bytes);

 private:
  void reset();
  std::shared_ptr<const XGBoost> library_;
  void* booster_ = nullptr;
};

}  // namespace tilewright::tune
