// What a fused operator computes, as values: activations at the end of a Conv, Gemm or MatMul, and programs
// of element-wise steps. Read from attributes once by whoever checks or runs a node; graph/fused.h documents
// the attributes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

inline constexpr const char* kSumPiece = "sum_piece";  // these names: see graph/fused.h
inline constexpr const char* kIntoOffset = "into_offset";
inline constexpr const char* kIntoChannels = "into_channels";
inline constexpr int kIntoInput = 4;

// Gives the output of a Conv with kIntoChannels the channels that were written before it. There is nothing to
// do where both are the same memory, as the memory plan has it.
void CopyInto(std::span<const ConstView> inputs, const View& output);

enum class FusedOp : uint8_t {
  kNone,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,  // two operands
  kRelu,
  kLeakyRelu,
  kClip,
  kSigmoid,
  kHardSigmoid,
  kHardSwish,
  kTanh,
  kElu,
  kGelu,
  kErf,
  kSoftplus,
  kMish,
  kSwish,
  kExp,
  kLog,
  kSqrt,
  kReciprocal,
  kAbs,
  kNeg,
};

FusedOp FusedOpOf(std::string_view name);  // by ONNX name; kNone where it is not one
const char* Name(FusedOp op);
inline bool IsBinary(FusedOp op) { return op >= FusedOp::kAdd && op <= FusedOp::kPow; }

struct Activation {
  FusedOp op = FusedOp::kNone;
  float alpha = 0, beta = 0;
};

// The alpha and beta that ONNX gives `op` where a node does not.
Activation DefaultActivation(FusedOp op);

// What stands behind a matrix product or a convolution: y = activation(product + bias + residual).
struct EpilogueSpec {
  Activation activation;
  bool residual = false;
};

// Returns what is wrong in words, or an empty string.
std::string ParseEpilogue(const Attributes& attributes, EpilogueSpec& spec);

struct FusedStep {
  Activation function;
  // registers: r < inputs is input r, inputs + k is the result of step k
  std::array<int, 3> args{-1, -1, -1};
};

struct FusedProgram {
  static constexpr int kMaxSteps = 64, kMaxInputs = 32;
  int inputs = 0, steps = 0;
  std::array<FusedStep, kMaxSteps> step{};
};

// The same for mete.Elementwise with so many inputs.
std::string ParseFusedProgram(const Attributes& attributes, int inputs, FusedProgram& program);

}  // namespace mete
