// What mete quantize tells about the file that it wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "quantize/answers.h"

namespace mete::cli {

struct QuantizeReport {
  std::string model, file;
  int64_t bytes = 0;         // of the file
  int64_t bytes_before = 0;  // of the constants in floats
  int64_t opset = 0;
  std::string activations;  // "u8", "i8", "dynamic"; the following members are those of fixed scales
  double ms = 0;
  int pictures = 0, unreadable = 0;
  std::string method;
  bool equalized = false, biases_corrected = false;
  std::optional<double> answers_db;  // nothing if no output is of f32
  std::optional<Changed> holdout;
  std::vector<std::string> kept;  // nodes in floats
  std::vector<LayerError> layers;
};

// Prints the report: as text the worst layers, as JSON all of them.
void Report(const QuantizeReport& report, const Context& context);

}  // namespace mete::cli
