// Tests that models of com.microsoft's operators compute what the operators mean, beside plain loops.
#include <gtest/gtest.h>

#include "engine/one_node_testing.h"

namespace mete {
namespace {

TEST(MicrosoftRotaryEmbedding, PlacesOfEachTokenOrOfTheFirst) {
  OneNodeModel rows("RotaryEmbedding");
  rows.Floats("x", {2, 3, 8}, 0.05f).Numbers<int64_t>("places", DType::kI64, {2, 3}, {4, 0, 2, 1, 5, 3});
  Tensor y = rows.Floats("c_cos", {6, 2}, 0.03f).Floats("c_sin", {6, 2}).Run().at(0);
  const auto check = [&](const OneNodeModel& n, const std::function<int64_t(int64_t, int64_t)>& place) {
    const ByHead want = Turned(InRows(n["x"], 2), n["c_cos"], n["c_sin"], place);
    ExpectNear(y, {2, 3, 8}, [&](int64_t at) { return want(at / 24, at / 4 % 2, at / 8 % 3, at % 4); });
  };
  check(rows, [&](int64_t b, int64_t i) { return rows["places"].as<int64_t>()[b * 3 + i]; });

  OneNodeModel first("RotaryEmbedding");
  first.Floats("x", {2, 3, 8}, 0.05f).Numbers<int64_t>("place", DType::kI64, {1}, {2});
  y = first.Floats("c_cos", {6, 2}, 0.03f).Floats("c_sin", {6, 2}).Run().at(0);
  check(first, [](int64_t, int64_t i) { return 2 + i; });
}

TEST(MicrosoftEmbedLayerNormalization, NormalizesTheSumOfThreeTables) {
  OneNodeModel n("EmbedLayerNormalization");
  n.I32("words", {2, 3}, {4, 0, 2, 1, 1, 3}).I32("segments", {2, 3}, {0, 0, 1, 1, 0, 1});
  n.Floats("c_word", {5, 6}).Floats("c_place", {4, 6}, 0.05f).Floats("c_segment", {2, 6}, 0.03f);
  n.Floats("c_g", {6}).Floats("c_b", {6}, 0.04f).I32("mask", {2, 3}, {1, 1, 0, 1, 0, 0});
  const std::vector<Tensor> y = n.Float("epsilon", 0.001f).Run(3);
  const auto sum = [&](int64_t token, int64_t e) {
    const auto row = [&](const char* table, int64_t i) { return double(n[table].as<float>()[i * 6 + e]); };
    return row("c_word", n["words"].as<int32_t>()[token]) + row("c_place", token % 3) +
           row("c_segment", n["segments"].as<int32_t>()[token]);
  };
  ExpectNear(y[2], {2, 3, 6}, [&](int64_t at) { return sum(at / 6, at % 6); });
  ExpectNear(y[0], {2, 3, 6}, [&](int64_t at) {
    double mean = 0, variance = 0;
    for (int64_t e = 0; e < 6; ++e) mean += sum(at / 6, e) / 6;
    for (int64_t e = 0; e < 6; ++e) variance += (sum(at / 6, e) - mean) * (sum(at / 6, e) - mean) / 6;
    return (sum(at / 6, at % 6) - mean) / std::sqrt(variance + 0.001) * double(n["c_g"].as<float>()[at % 6]) +
           double(n["c_b"].as<float>()[at % 6]);
  });
  ASSERT_EQ(y[1].type(), DType::kI32);
  ASSERT_EQ(y[1].shape(), Shape{2});
  EXPECT_EQ(y[1].as<int32_t>()[0], 2);
  EXPECT_EQ(y[1].as<int32_t>()[1], 1);
}

TEST(MicrosoftMatMulNBits, MultipliesByWeightsOfFewBits) {
  constexpr int64_t kColumns = 40, kOutputs = 3, kBlock = 16, kBlocks = 3;
  std::vector<uint8_t> integers(size_t(kOutputs * kBlocks * kBlock / 2)), zeros(size_t(kOutputs * 2));
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = uint8_t(i * 73 + 29);
  for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = uint8_t(i * 57 + 38);
  for (const int64_t rows : {1, 2}) {
    OneNodeModel n("MatMulNBits");
    n.Int("K", kColumns).Int("N", kOutputs).Int("bits", 4).Int("block_size", kBlock);
    n.Floats("a", {rows, 2, kColumns}, 0.03f);
    n.Numbers("c_w", DType::kU8, {kOutputs, kBlocks, kBlock / 2}, integers)
        .Floats("c_s", {kOutputs * kBlocks});
    n.Numbers("c_z", DType::kU8, {kOutputs * 2}, zeros).None().Floats("c_bias", {kOutputs});
    const Tensor y = n.Run().at(0);
    const auto weight = [&](int64_t o, int64_t k) {
      const int64_t b = k / kBlock;
      const int integer = integers[size_t((o * kBlocks * kBlock + k) / 2)] >> (k % 2 * 4) & 15;
      const int zero = zeros[size_t(o * 2 + b / 2)] >> (b % 2 * 4) & 15;
      return double(integer - zero) * double(n["c_s"].as<float>()[o * kBlocks + b]);
    };
    ExpectNear(y, {rows, 2, kOutputs}, [&](int64_t at) {
      double sum = double(n["c_bias"].as<float>()[at % kOutputs]);
      for (int64_t k = 0; k < kColumns; ++k)
        sum += double(n["a"].as<float>()[at / kOutputs * kColumns + k]) * weight(at % kOutputs, k);
      return sum;
    });
  }
}

TEST(MicrosoftGatherBlockQuantized, RowsOfATableOfFewBits) {
  constexpr int64_t kRows = 4, kColumns = 32, kBlock = 16, kBlocks = 2;
  std::vector<uint8_t> table(kRows * kColumns / 2), zeros(kRows);
  for (size_t i = 0; i < table.size(); ++i) table[i] = uint8_t(i * 73 + 29);
  for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = uint8_t(i * 57 + 38);
  const std::vector<int64_t> indices{3, 0, 2};
  OneNodeModel n("GatherBlockQuantized");
  n.Int("bits", 4).Int("block_size", kBlock).Numbers("c_table", DType::kU8, {kRows, kColumns / 2}, table);
  n.Numbers("indices", DType::kI64, {3}, indices).Floats("c_s", {kRows, kBlocks});
  const Tensor y = n.Numbers("c_z", DType::kU8, {kRows, 1}, zeros).Run().at(0);
  ExpectNear(y, {3, kColumns}, [&](int64_t at) {
    const int64_t row = indices[size_t(at / kColumns)], k = at % kColumns, b = k / kBlock;
    const int integer = table[size_t((row * kColumns + k) / 2)] >> (k % 2 * 4) & 15;
    const int zero = zeros[size_t(row)] >> (b * 4) & 15;
    return double(integer - zero) * double(n["c_s"].as<float>()[row * kBlocks + b]);
  });
}

// Of bytes with a scale for each gate: gates are those of the input, the output, forgetting and the cell.
TEST(MicrosoftDynamicQuantizeLstm, ComputesWithTheWeightsOfItsBytes) {
  constexpr int64_t kSteps = 3, kInputs = 3, kHidden = 2, kGates = 4 * kHidden;
  OneNodeModel n("DynamicQuantizeLSTM");
  n.Int("hidden_size", kHidden).Floats("x", {kSteps, 1, kInputs}, 0.05f);
  std::vector<uint8_t> w(kInputs * kGates), r(kHidden * kGates), zeros(kGates);
  for (size_t i = 0; i < w.size(); ++i) w[i] = uint8_t(i * 73 + 29);
  for (size_t i = 0; i < r.size(); ++i) r[i] = uint8_t(i * 57 + 11);
  for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = uint8_t(110 + i * 5);
  n.Numbers("c_w", DType::kU8, {1, kInputs, kGates}, w).Numbers("c_r", DType::kU8, {1, kHidden, kGates}, r);
  n.Floats("c_bias", {1, 2 * kGates}).None().None().None().None();
  n.Floats("c_ws", {1, kGates}, 0.0002f).Numbers("c_wz", DType::kU8, {1, kGates}, zeros);
  n.Floats("c_rs", {1}, 0.0001f).Numbers("c_rz", DType::kU8, {1}, std::vector<uint8_t>{128});
  const Tensor y = n.Run().at(0);
  const auto at = [&](const char* name, int64_t i) { return double(n[name].as<float>()[i]); };
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  std::vector<double> want, hidden(kHidden, 0), cell(kHidden, 0);
  for (int64_t t = 0; t < kSteps; ++t) {
    std::vector<double> gates(kGates);
    for (int64_t g = 0; g < kGates; ++g) {
      gates[size_t(g)] = at("c_bias", g) + at("c_bias", kGates + g);
      for (int64_t i = 0; i < kInputs; ++i)
        gates[size_t(g)] +=
            at("x", t * kInputs + i) * at("c_ws", g) * (w[size_t(i * kGates + g)] - zeros[size_t(g)]);
      for (int64_t i = 0; i < kHidden; ++i)
        gates[size_t(g)] += hidden[size_t(i)] * at("c_rs", 0) * (r[size_t(i * kGates + g)] - 128);
    }
    for (size_t i = 0; i < kHidden; ++i) {
      cell[i] =
          sigmoid(gates[2 * kHidden + i]) * cell[i] + sigmoid(gates[i]) * std::tanh(gates[3 * kHidden + i]);
      hidden[i] = sigmoid(gates[kHidden + i]) * std::tanh(cell[i]);
    }
    want.insert(want.end(), hidden.begin(), hidden.end());
  }
  ExpectNear(y, {kSteps, 1, 1, kHidden}, [&](int64_t i) { return want[size_t(i)]; });
}

// Large weights stay the file's integers in memory, for one row and for several.
TEST(MicrosoftMatMulNBits, LargeWeightsAreNeverFloats) {
  constexpr int64_t kColumns = 544, kOutputs = 520, kBlock = 32, kBlocks = kColumns / kBlock;
  std::vector<uint8_t> integers(size_t(kOutputs * kColumns / 2));
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = uint8_t(i * 73 + i / 251);
  OneNodeModel n("MatMulNBits");
  n.Int("K", kColumns).Int("N", kOutputs).Int("bits", 4).Int("block_size", kBlock);
  n.Floats("a", {1, kColumns}, 0.03f).Numbers("c_w", DType::kU8, {kOutputs, kBlocks, kBlock / 2}, integers);
  n.Floats("c_s", {kOutputs, kBlocks}, 0.001f).Open();
  const Model model = n.Load(1);
  Session exact(model, {.reference = true}), fast(model, SessionOptions::Estimated());
  for (const int64_t rows : {1, 3}) {
    const Tensor a = Ramp({rows, kColumns}, 0.03f);
    const Tensor want = exact.Run({a}).at(0), got = fast.Run({a}).at(0);
    ASSERT_EQ(got.shape(), (Shape{rows, kOutputs}));
    // The magnitude of a sum is at most that of its products: |a| <= 1.5, |weight| <= 8 * 0.15.
    for (int64_t i = 0; i < got.elements(); ++i)
      ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i],
                  1.5f * 8 * 0.15f * float(kColumns) * std::numeric_limits<float>::epsilon() * 32)
          << i;
  }
  EXPECT_LT(fast.stats().packed_bytes, kOutputs * kColumns)
      << "half a byte for each, and a scale for 32 of them";
}

TEST(MicrosoftImages, ChannelsAreLast) {
  OneNodeModel n("NhwcConv");
  n.Floats("x", {1, 4, 5, 3}, 0.05f).Floats("c_w", {2, 3, 2, 2}).Floats("c_bias", {2});
  const Tensor y = n.IntList("strides", {2, 1}).Run().at(0);
  ExpectNear(y, {1, 2, 4, 2}, [&](int64_t at) {
    const int64_t o = at % 2, column = at / 2 % 4, row = at / 8;
    double sum = double(n["c_bias"].as<float>()[o]);
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 2; ++j)
          sum += double(n["x"].as<float>()[((row * 2 + i) * 5 + column + j) * 3 + c]) *
                 double(n["c_w"].as<float>()[((o * 3 + c) * 2 + i) * 2 + j]);
    return sum;
  });
}

TEST(MicrosoftImages, GroupNormOfASumWithAnActivation) {
  OneNodeModel n("SkipGroupNorm");
  n.Int("groups", 2).Int("activation", 1).Float("epsilon", 0.01f);
  n.Floats("x", {2, 2, 3, 4}, 0.05f)
      .Floats("c_g", {4})
      .Floats("c_b", {4}, 0.03f)
      .Floats("skip", {2, 1, 1, 4});
  const std::vector<Tensor> y = n.Floats("c_bias", {4}, 0.07f).Run(2);
  const auto sum = [&](int64_t b, int64_t pixel, int64_t c) {
    return double(n["x"].as<float>()[(b * 6 + pixel) * 4 + c]) + double(n["skip"].as<float>()[b * 4 + c]) +
           double(n["c_bias"].as<float>()[c]);
  };
  ExpectNear(y[1], {2, 2, 3, 4}, [&](int64_t at) { return sum(at / 24, at / 4 % 6, at % 4); });
  ExpectNear(y[0], {2, 2, 3, 4}, [&](int64_t at) {
    const int64_t b = at / 24, c = at % 4, first = c / 2 * 2;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < 12; ++i) mean += sum(b, i / 2, first + i % 2) / 12;
    for (int64_t i = 0; i < 12; ++i) variance += std::pow(sum(b, i / 2, first + i % 2) - mean, 2) / 12;
    const double normal =
        (sum(b, at / 4 % 6, c) - mean) / std::sqrt(variance + 0.01) * double(n["c_g"].as<float>()[c]) +
        double(n["c_b"].as<float>()[c]);
    return normal / (1 + std::exp(-normal));
  });
}

}  // namespace
}  // namespace mete
