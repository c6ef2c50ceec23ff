// A share as a GPU computes it: launches in order over buffers. It is a value that a pure function makes of a
// graph (Lower()); nothing here calls OpenCL.
//
// All activations lie in one arena, and values whose lifetimes do not overlap share bytes. Weights are packed
// once, by launches of their own. Inputs and outputs of the share are buffers of their own, in the types and
// the order of the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "mete/tensor.h"
#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/kernel_text.h"
#include "processor/opencl/kernels/tile.h"

namespace mete::opencl {

enum class Space : uint8_t { kInput, kOutput, kArena, kConstant, kPacked };

// Bytes of a buffer that a launch reads or writes.
struct Place {
  Space space = Space::kArena;
  int32_t index = 0;  // of the graph's inputs or outputs, of the constants, of the packed buffers; arena: 0
  int64_t offset = 0, bytes = 0;  // the offset is a multiple of GpuTarget::alignment

  bool operator==(const Place&) const = default;
};

struct Launch {
  KernelText text;
  std::vector<Place> arguments;  // in the kernel's order
  int node = -1;                 // of the graph, for traces; several launches may compute one node
  DType type = DType::kUnknown;  // of the first argument's elements in memory, for explanations
};

struct ShareOnGpu {
  std::vector<Tensor> constants;  // with the types that the kernels read
  std::vector<int64_t> packed;    // the bytes of each packed buffer
  std::vector<Launch> packing;    // run once, before the first launch; read constants, write packed buffers
  std::vector<Launch> launches;   // run in order, for each request
  int64_t arena_bytes = 0;        // 0: no arena
};

// What the making of a share needs to know of a device.
struct GpuTarget {
  TileDevice tile;
  int64_t alignment = 128;        // bytes; of places (DeviceFacts::base_alignment)
  int64_t most_buffer_bytes = 0;  // of one buffer; 0: no limit
  DType storage = DType::kF32;    // of activations and weights within the share: f32 or f16
  // Where `storage` is f16, whether shares with bytes are computed as with f32. Else long sums of bytes may
  // be of f32, so that a byte differs by at most one from the CPU's (byte_sums.h).
  bool exact_bytes = false;
};

// Chooses one of the tiles of a convolution or product, for example the fastest that was measured.
using ChooseTile = std::function<Tile(const ConvSpec& spec, std::span<const Tile> candidates)>;

// Returns why no kernel computes a node of a graph before the pass `layout`; empty if one does.
std::string WhyNoKernel(const Graph& graph, const Node& node);

// Returns the launches that compute a graph which has had all passes. One Error UNIMPLEMENTED lists every
// node that no kernel computes; RESOURCE_EXHAUSTED if a buffer would be larger than the device's largest.
ShareOnGpu Lower(const Graph& graph, const GpuTarget& target, const ChooseTile& choose);

// Returns the kernels that compute a share for each request, one for each launch, with the type of the
// elements that it reads: "conv_f16", "winograd_input_f32". `share` is a graph before the pass `layout`.
// Errors are those of Lower().
std::vector<std::string> GpuKernelsOf(const Graph& share, const GpuTarget& target);

}  // namespace mete::opencl
