// What happens to a block of outputs while it is still in registers or in the first-level cache, and how
// blocks are named. Shared by the matrix product and the convolutions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mete {

// [begin, end)
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

enum class Activation {
  kNone,
  kRelu,         // max(x, 0)
  kClip,         // min(max(x, alpha), beta)
  kLeakyRelu,    // x < 0 ? alpha * x : x
  kSigmoid,      // 1 / (1 + exp(-x))
  kHardSigmoid,  // max(0, min(1, alpha * x + beta))
  kHardSwish,    // x * max(0, min(1, x / 6 + 1 / 2))
  kSwish,        // x * sigmoid(alpha * x)
  kTanh,
  kGelu,  // alpha == 1: the tanh approximation, else exact (erf)
  kElu,   // x < 0 ? alpha * (exp(x) - 1) : x
};

// The kind that an ONNX operator's name stands for; "" is kNone. False where there is none.
bool FindActivation(std::string_view op, Activation* kind);

// output = activation(sum + bias[channel] + residual), in f32. Owns nothing.
struct Epilogue {
  const float* bias = nullptr;      // one per output channel, or null
  const float* residual = nullptr;  // shaped like the output, or null; may be the output itself
  int64_t residual_stride = 0;      // elements between its rows (pixels); 0: as in the output
  Activation kind = Activation::kNone;
  float alpha = 0, beta = 0;  // see Activation
};

}  // namespace mete
