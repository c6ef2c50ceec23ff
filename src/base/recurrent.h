// The attributes that LSTM, GRU and RNN share. Shape inference and kernels read them once from a node's
// attributes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/attributes.h"

namespace mete {

enum class RecurrentKind : uint8_t {
  kTanh,
  kRelu,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};

struct RecurrentFunction {
  RecurrentKind kind = RecurrentKind::kTanh;
  float alpha = 0, beta = 0;
};

struct RecurrentSpec {
  static constexpr int kMaxFunctions = 3;  // activations of one direction: f, g, h of LSTM
  int directions = 1;
  bool reverse = false;      // the first direction runs backwards
  bool batch_first = false;  // layout 1
  double clip = 0;           // 0: no clipping
  std::array<std::array<RecurrentFunction, kMaxFunctions>, 2> functions{};
};

// Reads the attributes. `defaults` has one direction's default activations. Returns a description of the
// problem, or an empty string.
std::string ParseRecurrent(const Attributes& attributes, std::span<const RecurrentKind> defaults,
                           RecurrentSpec& spec);

}  // namespace mete
