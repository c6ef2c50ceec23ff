// The computation of a fused operator as a value: the epilogue of a Conv, Gemm or MatMul, or a program of
// element-wise steps. Shape inference and kernels read it once from a node's attributes, which graph/fused.h
// documents.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

// Names of attributes, and the number of an input; graph/fused.h explains them (6, 7, 9 and 10).
inline constexpr const char* kSumPiece = "sum_piece";
inline constexpr const char* kIntoOffset = "into_offset";
inline constexpr const char* kIntoChannels = "into_channels";
inline constexpr int kIntoInput = 4, kByteIntoInput = 10;  // of a Conv and of a QLinearConv
inline constexpr int kByteTableInput = 9;
inline constexpr const char* kLevels = "levels";      // section 9
inline constexpr const char* kOperands = "operands";  // section 10

// Returns the number of the input that kIntoChannels continues, of a node with operator `op`.
inline int IntoInputOf(std::string_view op) { return op == "QLinearConv" ? kByteIntoInput : kIntoInput; }

// Copies the channels that earlier nodes have written, input `into`, to the output of a node with
// kIntoChannels. The copy is skipped if both are the same memory, which is how the memory plan places them.
void CopyInto(std::span<const ConstView> inputs, int into, const View& output);

enum class FusedOp : uint8_t {
  kNone,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,  // the operators from kAdd to here have two operands, the others one
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

FusedOp FusedOpOf(std::string_view name);  // `name`: of ONNX; kNone if no such operator can be fused
const char* Name(FusedOp op);
inline bool IsBinary(FusedOp op) { return op >= FusedOp::kAdd && op <= FusedOp::kPow; }

struct Activation {
  FusedOp op = FusedOp::kNone;
  float alpha = 0, beta = 0;
};

// Returns `op` with ONNX's default alpha and beta.
Activation DefaultActivation(FusedOp op);

// The epilogue of a matrix product or a convolution: y = activation(product + bias + residual).
struct EpilogueSpec {
  Activation activation;
  bool residual = false;
};

// Reads the epilogue from `attributes`. Returns a description of the problem, or an empty string.
std::string ParseEpilogue(const Attributes& attributes, EpilogueSpec& spec);

struct FusedStep {
  Activation function;
  // registers: r < inputs is input r, inputs + k is the result of step k, -1 is unused
  std::array<int, 3> args{-1, -1, -1};
};

struct FusedProgram {
  static constexpr int kMaxSteps = 64, kMaxInputs = 32;
  int inputs = 0, steps = 0;
  std::array<FusedStep, kMaxSteps> step{};
};

// Reads the program of a mete.Elementwise node that has `inputs` inputs. Returns a description of the
// problem, or an empty string.
std::string ParseFusedProgram(const Attributes& attributes, int inputs, FusedProgram& program);

}  // namespace mete
