#include "kernels/reference/control_flow.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/errors_testing.h"

namespace mete {
namespace {

// A body that is a function.
class FunctionBody : public Body {
 public:
  using Fn = std::function<void(std::span<const ConstView>, std::span<GrowingTensor>)>;
  FunctionBody(size_t outputs, Fn fn) : outputs_(outputs), fn_(std::move(fn)) {}
  size_t outputs() const override { return outputs_; }
  void Run(std::span<const ConstView> inputs, std::span<GrowingTensor> results) override {
    ++runs;
    fn_(inputs, results);
  }
  ConstView Expected(std::span<const ConstView>, size_t) override { return {nullptr, DType::kF32, Shape{4}}; }

  int runs = 0;

 private:
  const size_t outputs_;
  const Fn fn_;
};

void Give(GrowingTensor& to, const std::vector<float>& values) {
  const View view = to.Resize(DType::kF32, Shape{int64_t(values.size())});
  std::copy(values.begin(), values.end(), view.as<float>());
}
void Flag(GrowingTensor& to, bool value) { *to.Resize(DType::kBool, {}).as<uint8_t>() = value; }

std::vector<float> Values(const ConstView& view) {
  return {view.as<float>(), view.as<float>() + view.elements()};
}

struct Outputs {
  std::vector<Tensor> tensors = std::vector<Tensor>(4);
  std::function<View(size_t, DType, const Shape&)> take = [this](size_t i, DType type, const Shape& shape) {
    tensors[i] = Tensor(type, shape);
    return tensors[i].mutable_view();
  };
  std::vector<float> of(size_t i) const { return Values(tensors[i].view()); }
};

const Tensor kX = Tensor::Floats({2}, std::vector<float>{1, 2});

// Carries x, to which the capture is added, until the number of the run is 3; gives x before as scan output.
FunctionBody Adding() {
  return FunctionBody(3, [](std::span<const ConstView> in, std::span<GrowingTensor> out) {
    const std::vector<float> x = Values(in[2]), y = Values(in[3]);
    Flag(out[0], *in[0].as<int64_t>() < 3);
    Give(out[1], {x[0] + y[0], x[1] + y[1]});
    Give(out[2], x);
  });
}

TEST(RunIf, RunsOneBranch) {
  for (const bool taken : {true, false}) {
    const auto give = [](float value) {
      return FunctionBody(1, [value](std::span<const ConstView> in, std::span<GrowingTensor> out) {
        Give(out[0], {value * Values(in[0])[1]});
      });
    };
    FunctionBody then_branch = give(10), else_branch = give(20);
    const Tensor flag = Tensor::Of<bool>(DType::kBool, {}, std::span(&taken, 1));
    const std::vector<ConstView> in{flag.view(), kX.view()};
    Outputs out;
    RunIf({{}, in, 1, out.take}, then_branch, else_branch);
    EXPECT_EQ(out.of(0), std::vector<float>{taken ? 20.f : 40.f});
    EXPECT_EQ(then_branch.runs + else_branch.runs, 1);
  }
}

TEST(RunLoop, EndsByNumberOrByCondition) {
  for (const int64_t most : {0, 1, 2, 9}) {
    FunctionBody body = Adding();
    const Tensor number = Tensor::Of<int64_t>(DType::kI64, {}, std::span(&most, 1));
    const std::vector<ConstView> in{number.view(), {}, kX.view(), kX.view()};
    Outputs out;
    RunLoop({{}, in, 1, out.take}, body);
    const int runs = most == 9 ? 4 : int(most);  // the condition of the run after number 3 is false
    EXPECT_EQ(body.runs, runs);
    EXPECT_EQ(out.of(0), (std::vector<float>{1.f + float(runs), 2.f + 2 * float(runs)}));
    ASSERT_EQ(out.tensors[1].shape(), (runs == 0 ? Shape{0, 4} : Shape{runs, 2}));
    for (int i = 0; i < runs; ++i) EXPECT_EQ(out.of(1)[size_t(2 * i)], 1.f + float(i));
  }
}

TEST(RunLoop, WithoutANumberGoesOnUntilTheCondition) {
  FunctionBody body = Adding();
  const std::vector<ConstView> in{{}, {}, kX.view(), kX.view()};
  Outputs out;
  RunLoop({{}, in, 1, out.take}, body);
  EXPECT_EQ(body.runs, 4);
}

TEST(RunLoop, RefusesScanOutputsThatChange) {
  FunctionBody body(2, [](std::span<const ConstView> in, std::span<GrowingTensor> out) {
    Flag(out[0], true);
    Give(out[1], std::vector<float>(size_t(*in[0].as<int64_t>() + 1)));
  });
  const std::vector<ConstView> in{{}, {}};
  Outputs out;
  EXPECT_TELLS(RunLoop({{}, in, 0, out.take}, body),
               "differ in what they give; got f32 2 from run 1, expected f32 1");
}

// Axes and directions against a plain computation of the running sums.
TEST(RunScan, TakesInputsApartAlongAnyAxis) {
  constexpr int64_t kRows = 3, kColumns = 4;
  Tensor data(DType::kF32, Shape{kRows, kColumns});
  std::iota(data.mutable_view().as<float>(), data.mutable_view().as<float>() + kRows * kColumns, 1.f);
  for (const int64_t axis : {0, 1})
    for (const int64_t out_axis : {0, 1})
      for (const int64_t backwards : {0, 1})
        for (const int64_t out_backwards : {0, 1}) {
          const int64_t length = axis == 0 ? kRows : kColumns, width = kRows * kColumns / length;
          FunctionBody body(2, [](std::span<const ConstView> in, std::span<GrowingTensor> out) {
            std::vector<float> sum = Values(in[0]);
            const std::vector<float> x = Values(in[1]);
            for (size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
            Give(out[0], sum);
            Give(out[1], sum);
          });
          Attributes a;
          a.Set("num_scan_inputs", int64_t(1));
          a.Set("scan_input_axes", Ints{axis - 2});
          a.Set("scan_output_axes", Ints{out_axis});
          a.Set("scan_input_directions", Ints{backwards});
          a.Set("scan_output_directions", Ints{out_backwards});
          const Tensor zero(DType::kF32, Shape{width});
          const std::vector<ConstView> in{zero.view(), data.view()};
          Outputs out;
          RunScan({a, in, 0, out.take}, body);
          std::vector<float> sum(static_cast<size_t>(width));
          ASSERT_EQ(out.tensors[1].shape(), (out_axis == 0 ? Shape{length, width} : Shape{width, length}));
          for (int64_t t = 0; t < length; ++t)
            for (int64_t i = 0; i < width; ++i) {
              const int64_t from = backwards ? length - 1 - t : t, to = out_backwards ? length - 1 - t : t;
              sum[size_t(i)] += data.as<float>()[axis == 0 ? from * kColumns + i : i * kColumns + from];
              EXPECT_EQ(out.of(1)[size_t(out_axis == 0 ? to * width + i : i * length + to)], sum[size_t(i)]);
            }
          EXPECT_EQ(out.of(0), sum);
        }
}

TEST(RunScan, OfNothingGivesNothing) {
  FunctionBody body(2, [](std::span<const ConstView>, std::span<GrowingTensor>) { FAIL(); });
  Attributes a;
  a.Set("num_scan_inputs", int64_t(1));
  a.Set("scan_input_axes", Ints{1});
  const Tensor empty(DType::kF32, Shape{2, 0});
  const std::vector<ConstView> in{kX.view(), empty.view()};
  Outputs out;
  RunScan({a, in, 0, out.take}, body);
  EXPECT_EQ(out.of(0), Values(kX.view()));
  EXPECT_EQ(out.tensors[1].shape(), (Shape{0, 4}));
}

}  // namespace
}  // namespace mete
