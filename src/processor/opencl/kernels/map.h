// Kernels that compute each element of a tensor from one element of each input, as text: chains of
// element-wise operators with any broadcast, and copies: transpositions, slices, parts of a concatenation,
// conversions between f32, f16 and u8, and bytes that a table has for bytes.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/fused.h"
#include "kernels/fast/bytes/byte_elementwise.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

// How a tensor is read or written while the sizes of MapSpec are walked through.
struct MapOperand {
  DType type = DType::kF32;
  std::vector<int64_t> strides;  // elements from one index to the next of each size; 0 repeats an element
  int64_t first = 0;             // the element of index 0
};

// Between numbers and the levels of bytes: level = round(number) + zero, halves to the even number.
struct LevelConversion {
  enum class Kind : uint8_t {
    kQuantize,    // level = round(x / scale) + zero
    kRescale,     // level = round((x - minus) * scale) + zero
    kDequantize,  // number = (x - zero) * scale
  };
  Kind kind = Kind::kQuantize;
  float scale = 1, zero = 0, minus = 0;
  float least = 0, most = 255;  // of the levels
};

// The byte that a table of 256 has for a byte of the input as an unsigned number.
struct ByteLookup {};

struct MapSpec {
  std::vector<int64_t> sizes;  // of the output, the last one changes first
  std::vector<MapOperand> inputs;
  MapOperand output;     // its strides are those of a tensor whose elements are written once
  FusedProgram program;  // without steps: a copy of the only input
  // Instead of a program: a conversion of the only input, a sum or product of two tensors of bytes (levels as
  // bytes; the operands say whether they are signed), or a lookup, whose types are u8. Bits are those of the
  // CPU's kernels where divisions are rounded correctly.
  std::variant<std::monostate, LevelConversion, ByteBinary, ByteLookup> levels;
};

// Returns the strides with which a tensor of `shape` is broadcast to `sizes`, as ONNX does. Error
// INVALID_ARGUMENT if it cannot be.
std::vector<int64_t> BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> sizes);

// Returns the same map with as few sizes as possible: neighbours are joined where all tensors walk on evenly.
MapSpec Joined(const MapSpec& spec);

// Arguments: the inputs, the table of a lookup, the output. `vector`: the most elements of a work-item. An
// input may be the output if each element is read by the work-item that writes it: `program.step` sees them
// all before it writes.
KernelText MapKernel(const MapSpec& spec, int vector);

}  // namespace mete::opencl
