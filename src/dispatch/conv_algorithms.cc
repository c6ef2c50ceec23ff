#include "dispatch/conv_algorithms.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

constexpr ConvAlgorithm kAll[] = {ConvAlgorithm::kDirect,     ConvAlgorithm::kWinogradF2,
                                  ConvAlgorithm::kWinogradF4, ConvAlgorithm::kWinogradF6,
                                  ConvAlgorithm::kBf16,       ConvAlgorithm::kF16};

}  // namespace

const char* Name(ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::kDirect: return "direct";
    case ConvAlgorithm::kWinogradF2: return "winograd_f2";
    case ConvAlgorithm::kWinogradF4: return "winograd_f4";
    case ConvAlgorithm::kWinogradF6: return "winograd_f6";
    case ConvAlgorithm::kBf16: return "bf16";
    case ConvAlgorithm::kF16: return "f16";
  }
  return "";
}

std::optional<ConvAlgorithm> ParseConvAlgorithm(std::string_view where, std::string_view name) {
  if (name.empty() || name == "auto") return std::nullopt;
  for (ConvAlgorithm algorithm : kAll)
    if (name == Name(algorithm)) return algorithm;
  std::string names = "auto";
  for (ConvAlgorithm algorithm : kAll) names += std::string(", ") + Name(algorithm);
  Fail(Code::kFailedPrecondition, std::string(where),
       "no such way to compute convolutions; got '{}', expected one of {}; try auto", name, names);
}

int WinogradTile(ConvAlgorithm algorithm) {
  return OperandsOf(algorithm) == Precision::kF32 ? 2 * int(algorithm) : 0;
}

Precision OperandsOf(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::kBf16  ? Precision::kBf16
         : algorithm == ConvAlgorithm::kF16 ? Precision::kF16
                                            : Precision::kF32;
}

std::vector<ConvAlgorithm> ConvAlgorithmsFor(const ConvShape& shape, Precision operands) {
  std::vector<ConvAlgorithm> algorithms;
  for (const ConvAlgorithm algorithm : kAll) {
    if (WinogradTile(algorithm) > 0 && !TakesWinograd(shape)) continue;
    if (const Precision rounded = OperandsOf(algorithm); rounded != Precision::kF32 && rounded != operands)
      continue;
    algorithms.push_back(algorithm);
  }
  return algorithms;
}

std::string KernelName(const ConvShape& shape, ConvAlgorithm algorithm) {
  if (const Precision rounded = OperandsOf(algorithm); rounded != Precision::kF32)
    return std::string("conv_") + Name(rounded);
  if (WinogradTile(algorithm) > 0) return fmt::format("winograd_f{}_f32", WinogradTile(algorithm));
  if (IsDepthwise(shape)) return "depthwise_f32";
  const ConvPlan plan = PlanConv(shape);
  return plan.as_gemm ? "conv_1x1_f32" : plan.joined ? "conv_rows_f32" : "conv_f32";
}

}  // namespace mete
