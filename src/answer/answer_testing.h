// Outputs of networks, made up for tests, and what a head finds in them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mete/answer.h"

namespace mete {

inline const Shape kInput{1, 3, 100, 200};  // a picture of 400x200 is twice as large

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

inline PictureAnswer Decode(const std::string& head, const std::vector<NamedTensor>& outputs,
                            Preprocess settings = {}, const Shape& input = kInput,
                            const Image& picture = Image(400, 200)) {
  settings.head.name = head;
  std::vector<HeadOutput> all;
  for (const NamedTensor& output : outputs) all.push_back({output.name, output.tensor.view()});
  return DecodeAnswer(all, picture, settings, input);
}

inline Tensor Values(const Shape& shape, const std::vector<float>& values) {
  return Tensor::Floats(shape, values);
}

// A tensor of one value, in which some elements are others.
struct Element {
  size_t at;
  float value;
};
inline Tensor Filled(const Shape& shape, float value, const std::vector<Element>& others) {
  std::vector<float> values(size_t(shape.Elements()), value);
  for (const Element& other : others) values[other.at] = other.value;
  return Values(shape, values);
}

// The positions of these tests are at most 400 and follow from about ten operations in f32.
inline constexpr float kTolerance = 400 * 10 * std::numeric_limits<float>::epsilon();

inline void ExpectBox(const PictureBox& box, float x0, float y0, float x1, float y1, float score, int label) {
  EXPECT_NEAR(box.x0, x0, kTolerance);
  EXPECT_NEAR(box.y0, y0, kTolerance);
  EXPECT_NEAR(box.x1, x1, kTolerance);
  EXPECT_NEAR(box.y1, y1, kTolerance);
  EXPECT_NEAR(box.score, score, 1e-5);  // of exp() and pow()
  EXPECT_EQ(box.label, label);
}

inline void ExpectPoint(const PicturePoint& point, float x, float y, float score, int label) {
  EXPECT_NEAR(point.x, x, kTolerance);
  EXPECT_NEAR(point.y, y, kTolerance);
  EXPECT_NEAR(point.score, score, 1e-5);  // of exp()
  EXPECT_EQ(point.label, label);
}

inline float Logit(float p) { return std::log(p / (1 - p)); }

}  // namespace mete
