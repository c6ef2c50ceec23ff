#include "kernels/fast/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

using enum ReduceFunction;

constexpr ReduceFunction kAll[] = {kMean, kSum, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum, kLogSumExp};

// A tensor and the axes that are reduced.
struct Case {
  std::vector<int64_t> sizes;
  std::vector<bool> reduced;

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    return n;
  }
  // The output of an element, in the order of the kept axes.
  int64_t OutputOf(int64_t element) const {
    int64_t output = 0, step = 1;
    for (size_t i = sizes.size(); i-- > 0; element /= sizes[i]) {
      if (reduced[i]) continue;
      output += element % sizes[i] * step;
      step *= sizes[i];
    }
    return output;
  }
};

double Oracle(ReduceFunction function, const std::vector<double>& terms) {
  double sum = function == kProd ? 1 : 0, most = -INFINITY, least = INFINITY;
  for (double x : terms) {
    most = std::isnan(x) || std::isnan(most) ? NAN : std::max(most, x);
    least = std::isnan(x) || std::isnan(least) ? NAN : std::min(least, x);
  }
  for (double x : terms) {
    if (function == kProd) sum *= x;
    else if (function == kL1) sum += std::abs(x);
    else if (function == kL2 || function == kSumSquare) sum += x * x;
    else if (function == kLogSumExp) sum += std::exp(x - most);
    else sum += x;
  }
  switch (function) {
    case kMean: return sum / double(terms.size());
    case kMax: return most;
    case kMin: return least;
    case kL2: return std::sqrt(sum);
    case kLogSum: return std::log(sum);
    case kLogSumExp: return std::isfinite(most) ? most + std::log(sum) : most;
    default: return sum;
  }
}

// The magnitude of what is added up, and the slope of what is computed from the sum.
double ToleranceOf(ReduceFunction function, const std::vector<double>& terms, double expected) {
  if (function == kMax || function == kMin) return 0;
  if (function == kProd) return 0;  // computed in double and in the same order
  double magnitude = 0, sum = 0;
  for (double x : terms) {
    magnitude += function == kL2 || function == kSumSquare ? x * x : std::abs(x);
    sum += x;
  }
  const auto n = int64_t(terms.size());
  if (function == kMean) return SumTolerance(n, magnitude / double(n));
  if (function == kL2) return SumTolerance(n, expected);
  if (function == kLogSum) return SumTolerance(n, magnitude / sum) + SumTolerance(1, std::abs(expected));
  // all exponentials are at most 1, and an exponential has an error of 1.5e-7 itself
  if (function == kLogSumExp) return SumTolerance(n, 1) + 1.5e-7 + SumTolerance(1, std::abs(expected));
  return SumTolerance(n, magnitude);
}

Case RandomCase(RandomData& random) {
  Case c;
  const int64_t rank = random.Int(0, 5);
  for (int64_t i = 0; i < rank; ++i) {
    c.sizes.push_back(random.Int(1, rank < 3 ? 300 : 9));
    c.reduced.push_back(random.Int(0, 1) == 1);
  }
  return c;
}

// Computes the outputs by blocks of units, or by parts of the terms.
std::vector<float> Reduced(RandomData& random, const ReduceShape& shape, const std::vector<float>& x,
                           int64_t parts) {
  std::vector<float> y(size_t(shape.outputs()), NAN), part(size_t(shape.outputs() * parts), NAN);
  const int64_t units = ReduceUnits(shape);
  for (int64_t u = 0, end; u < units; u = end) {
    end = std::min(units, u + random.Int(1, 90));
    if (parts == 1) RunReduce(shape, x.data(), {u, end}, y.data());
    for (int64_t p = 0; parts > 1 && p < parts; ++p)
      RunReducePart(shape, x.data(), {u, end}, {shape.terms() * p / parts, shape.terms() * (p + 1) / parts},
                    part.data() + p * shape.outputs());
  }
  if (parts > 1) JoinReduceParts(shape, x.data(), part.data(), parts, y.data());
  return y;
}

void ExpectReduces(RandomData& random, ReduceFunction function, const Case& c, const std::vector<float>& x,
                   int64_t parts) {
  const ReduceShape shape = MakeReduceShape(function, c.sizes, c.reduced);
  std::vector<std::vector<double>> terms(size_t(shape.outputs()));
  for (int64_t i = 0; i < c.elements(); ++i) terms[size_t(c.OutputOf(i))].push_back(x[size_t(i)]);
  const std::vector<float> y = Reduced(random, shape, x, parts);
  for (size_t o = 0; o < y.size(); ++o) {
    double expected = Oracle(function, terms[o]);
    if (function == kProd) expected = static_cast<float>(expected);  // it may be beyond f32
    ASSERT_EQ(int64_t(terms[o].size()), shape.terms());
    if (std::isfinite(expected)) ASSERT_NEAR(y[o], expected, ToleranceOf(function, terms[o], expected)) << o;
    else if (std::isnan(expected)) ASSERT_TRUE(std::isnan(y[o])) << o << " is " << y[o];
    else ASSERT_EQ(y[o], expected) << o;
  }
}

TEST(ReduceF32, MatchesDoubleOverAnyAxes) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed < 60; ++seed) {
      RandomData random(seed);
      const Case c = RandomCase(random);
      std::vector<float> x = random.Floats(c.elements(), seed % 3 == 0 ? 50 : 1);
      for (const ReduceFunction function : kAll) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", function " + std::to_string(int(function)));
        std::vector<float> positive = x;
        for (float& v : positive) v = std::abs(v) + 1e-3f;
        const int64_t parts = ReducesInParts(function) ? random.Int(1, 3) : 1;
        ExpectReduces(random, function, c, function == kLogSum ? positive : x, parts);
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

// The terms that are added in sequence are as many as a block has, and the blocks.
TEST(ReduceF32, LongSumsAreDividedIntoBlocks) {
  constexpr int64_t kTerms = 1 << 18, kInSequence = 512 + kTerms / 512;
  OnEveryTarget([](const std::string&) {
    for (const int64_t columns : {1, 2, 33, 300}) {
      const int64_t terms = kTerms / columns;
      RandomData random(static_cast<uint32_t>(columns));
      std::vector<float> x = random.Floats(terms * columns);
      for (float& v : x) v = std::abs(v);
      const ReduceShape shape = MakeReduceShape(kSum, {terms, columns}, {true, false});
      std::vector<double> expected(size_t(columns), 0.0);
      for (int64_t i = 0; i < terms * columns; ++i) expected[size_t(i % columns)] += double(x[size_t(i)]);
      const std::vector<float> y = Reduced(random, shape, x, 1);
      for (size_t c = 0; c < y.size(); ++c)
        ASSERT_NEAR(y[c], expected[c], SumTolerance(kInSequence, expected[c])) << columns;
    }
  });
}

TEST(ReduceF32, NanAndInfinityStay) {
  OnEveryTarget([](const std::string&) {
    for (const Case& c : {Case{{3, 37}, {false, true}}, Case{{37, 3}, {true, false}},
                          Case{{37, 40}, {true, false}}, Case{{5, 90, 7}, {true, false, true}}})
      for (const float value : {NAN, INFINITY, -INFINITY})
        for (const ReduceFunction function : kAll) {
          if (function == kLogSum) continue;  // of a negative sum
          RandomData random(7);
          SCOPED_TRACE("function " + std::to_string(int(function)));
          std::vector<float> x = random.Floats(c.elements());
          x[size_t(random.Int(0, c.elements() - 1))] = value;
          ExpectReduces(random, function, c, x, 1);
          if (testing::Test::HasFailure()) return;
        }
  });
}

TEST(ReduceF32, AllTermsMayBeInfinite) {
  OnEveryTarget([](const std::string&) {
    const std::vector<float> x(40, -INFINITY);
    RandomData random(1);
    for (const ReduceFunction function : {kMax, kMin, kLogSumExp, kSum})
      ExpectReduces(random, function, {{8, 5}, {true, false}}, x, 1);
  });
}

// The sums are beyond f32, or the squares below it.
TEST(ReduceF32, WhatF32CannotAddIsAddedInDouble) {
  RandomData random(3);
  for (const Case& c : {Case{{3, 50}, {false, true}}, Case{{50, 3}, {true, false}}})
    for (const int64_t parts : {1, 2}) {
      ExpectReduces(random, kMean, c, std::vector<float>(150, 3e38f), parts);
      ExpectReduces(random, kLogSum, c, std::vector<float>(150, 3e38f), parts);
      ExpectReduces(random, kL2, c, random.Floats(150, 1e25f), parts);
      ExpectReduces(random, kL2, c, random.Floats(150, 1e-30f), parts);
    }
}

TEST(ReduceShape, NeighbouringAxesAreOne) {
  const ReduceShape s =
      MakeReduceShape(kSum, {2, 3, 1, 5, 7, 1, 4}, {false, false, true, true, true, true, false});
  EXPECT_EQ(s.columns, 4);
  EXPECT_EQ(s.rows, 35);
  EXPECT_EQ(s.row_step, 4);
  EXPECT_EQ(s.outputs(), 24);
  EXPECT_EQ(s.kept.size(), 1u);
  EXPECT_TRUE(s.reduced.empty());
}

}  // namespace
}  // namespace mete
