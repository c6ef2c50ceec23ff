// Compares each model of an operator in TensorFlow Lite's format with what LiteRT gives for it, which
// tests/models/tflite_expected.py writes.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "mete/engine.h"

namespace mete {
namespace {

struct Expected {
  DType type = DType::kUnknown;
  Shape shape;
  std::vector<double> elements;
};

Shape ShapeOf(const std::string& text) {
  Shape shape;
  std::istringstream dims(text == "scalar" ? "" : text);
  for (std::string d; std::getline(dims, d, 'x');) shape.push_back(std::stoll(d));
  return shape;
}

// By model: its outputs.
std::map<std::string, std::vector<Expected>> ReadExpected() {
  std::map<std::string, std::vector<Expected>> models;
  std::ifstream file("tests/fuzz/tflite_expected.tsv");
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    std::string model, number, type, shape;
    for (std::string* word : {&model, &number, &type, &shape}) std::getline(row, *word, '\t');
    Expected& output = models[model].emplace_back();
    output.type = DTypeOf(type);
    output.shape = ShapeOf(shape);
    for (double element; row >> element;) output.elements.push_back(element);
  }
  return models;
}

double At(const Tensor& t, int64_t i) {
  switch (t.type()) {
    case DType::kF32: return t.as<float>()[i];
    case DType::kI32: return t.as<int32_t>()[i];
    case DType::kI64: return double(t.as<int64_t>()[i]);
    case DType::kU8: return t.as<uint8_t>()[i];
    case DType::kI8: return t.as<int8_t>()[i];
    case DType::kBool: return t.as<bool>()[i];
    default: return NAN;
  }
}

// The elements that tests/models/tflite_expected.py makes.
Tensor Made(const Port& port) {
  Tensor t(port.type, port.shape);
  View view = t.mutable_view();
  for (int64_t i = 0; i < t.elements(); ++i) {
    const int64_t n = i * 37 % 101;
    if (port.type == DType::kF32) view.as<float>()[i] = float(n - 50) / 32;
    else if (port.type == DType::kBool) view.as<bool>()[i] = n % 2 == 0;
    else if (port.type == DType::kU8) view.as<uint8_t>()[i] = uint8_t(2 * n);
    else if (port.type == DType::kI8) view.as<int8_t>()[i] = int8_t(n);
    else if (port.type == DType::kI32) view.as<int32_t>()[i] = int32_t(n);
    else ADD_FAILURE() << port.name << " is " << Name(port.type);
  }
  return t;
}

// Floats differ by roundings of sums of at most a few hundred products of about 1. Of bytes LiteRT scales
// sums by numbers of 31 bits and rounds twice, so that a sum near the middle of two levels may be the other
// one. The next layer can make two levels of that one.
double ToleranceOf(const Expected& output) {
  if (output.type != DType::kF32) return output.type == DType::kU8 || output.type == DType::kI8 ? 2 : 0;
  double largest = 1;
  for (double e : output.elements) largest = std::max(largest, std::abs(e));
  return 2e-6 * largest;
}

void ExpectSameAsLiteRt(const SessionOptions& options) {
  const auto models = ReadExpected();
  ASSERT_GT(models.size(), 100u);
  int bytes = 0, other_bytes = 0;
  for (const auto& [name, outputs] : models) {
    SCOPED_TRACE(name);
    const Model model = Model::Load("tests/fuzz/tflite_fuzz/" + name + ".tflite");
    std::vector<Tensor> inputs;
    for (const Port& port : model.inputs()) inputs.push_back(Made(port));
    const std::vector<Tensor> results = Session(model, options).Run(inputs);
    ASSERT_EQ(results.size(), outputs.size());
    for (size_t o = 0; o < outputs.size(); ++o) {
      ASSERT_EQ(results[o].type(), outputs[o].type) << o;
      ASSERT_EQ(results[o].shape(), outputs[o].shape) << o;
      ASSERT_EQ(size_t(results[o].elements()), outputs[o].elements.size()) << o;
      const double tolerance = ToleranceOf(outputs[o]);
      for (size_t i = 0; i < outputs[o].elements.size(); ++i) {
        const double got = At(results[o], int64_t(i)), expected = outputs[o].elements[i];
        EXPECT_NEAR(got, expected, tolerance) << "output " << o << " element " << i;
        bytes += tolerance == 2;
        other_bytes += tolerance == 2 && got != expected;
      }
    }
  }
  EXPECT_GT(bytes, 100);
  EXPECT_LE(other_bytes * 20, bytes) << other_bytes << " of " << bytes << " bytes are another level";
}

TEST(TfliteOperators, GiveWhatLiteRtGives) { ExpectSameAsLiteRt({.threads = 1}); }
TEST(TfliteOperators, ReferenceKernelsGiveWhatLiteRtGives) {
  ExpectSameAsLiteRt({.threads = 1, .reference = true});
}

}  // namespace
}  // namespace mete
