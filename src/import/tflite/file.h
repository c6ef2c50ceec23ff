// A model file whose references, sizes and types have been checked.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "import/problems.h"
#include "src/import/tflite/tflite_generated.h"

namespace mete::tflite_import {

// How the bytes of a tensor stand for numbers: (q - zero) * scale, with one scale for the tensor, or one for
// each index of `axis`.
struct Scales {
  std::vector<float> scale;
  std::vector<int64_t> zero;  // as many as scales
  int axis = 0;

  bool one() const { return scale.size() == 1; }
  bool operator==(const Scales& other) const = default;
};

struct TensorInfo {
  std::string name;  // not empty, and unique
  DType type = DType::kUnknown;
  Shape shape;
  std::optional<Scales> scales;
  bool complex = false;     // of f32; `unsupported` says so, for operators that take real numbers alone
  Tensor constant;          // has a value for weights
  std::string unsupported;  // why Mete cannot read the tensor; empty: it can
};

struct OperatorInfo {
  const tflite::Operator* source = nullptr;
  tflite::BuiltinOperator code{};
  std::string kind;          // "CONV_2D"; for a custom operator its name
  std::vector<int> inputs;   // numbers of tensors; -1: left out
  std::vector<int> outputs;  // numbers of tensors
  std::span<const uint8_t> custom_options;
};

// The network, or a subgraph that operators of it run.
struct File {
  std::string name;
  std::string description;
  std::vector<TensorInfo> tensors;
  std::vector<OperatorInfo> operators;
  std::vector<int> inputs, outputs;
  std::vector<File> others;  // of the network: the other subgraphs; the first of them has the number 1
};

DType DTypeOf(tflite::TensorType type);  // kUnknown for types that Mete lacks
// Returns the operator's name, for a custom one that of the file.
std::string KindOf(tflite::BuiltinOperator code, const tflite::OperatorCode& source);

// Reads the file in `bytes`, which `owner` keeps alive, and adds what is wrong with it to `problems`. Throws
// DATA_LOSS if the bytes are not a whole TensorFlow Lite model. What the result holds in memory is a multiple
// of the file's size that does not depend on numbers in the file.
File ReadFile(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, ImportProblems& problems,
              int64_t max_value_bytes);

}  // namespace mete::tflite_import
