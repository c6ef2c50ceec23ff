// The launches of a share while they are made, node by node. Functions of the families (families.h) ask an
// object of this class for the arrays of a node and append launches; Finish() gives every array its place.
//
// Buffers have no bytes until then: the arena's are placed by the launches that touch them, so that
// temporary arrays, such as a transposed operand, share bytes with values.
#pragma once

#include <string>
#include <vector>

#include "processor/memory/memory_plan.h"
#include "processor/opencl/kernels/map.h"
#include "processor/opencl/share/share_on_gpu.h"

namespace mete::opencl {

// A tensor in a buffer, without gaps.
struct Array {
  int buffer = -1;
  DType type = DType::kF32;  // in memory; bools are u8, and f32 within the share has the target's storage
  Shape shape;               // in memory order

  int64_t elements() const { return shape.Elements(); }
  bool operator==(const Array&) const = default;
};

// Returns the elements from one index of each dimension to the next.
std::vector<int64_t> DenseStrides(const Shape& shape);

class Lowering {
 public:
  Lowering(const Graph& graph, const GpuTarget& target, const ChooseTile& choose);

  const Graph& graph() const { return graph_; }
  const Value& value(ValueId id) const { return graph_.value(id); }
  const TileDevice& device() const { return target_.tile; }
  DType storage() const { return storage_; }
  // Whether sums must be direct, as the network has quantized values (dispatch/options.h).
  bool plain_sums() const { return plain_sums_; }
  // Whether a byte may differ by one from that of exact sums (byte_sums.h).
  bool within_a_level() const { return target_.storage == DType::kF16 && !target_.exact_bytes; }
  // Elements that a work-item of a kernel without a tile computes at once.
  int vector() const { return target_.tile.is_cpu ? target_.tile.vector : 4; }
  // Returns the tile of a convolution.
  Tile TileOf(const ConvSpec& spec) const;

  // Begins a node; all launches up to the next one compute it.
  void Begin(int node) { node_ = node; }

  // Return an array: of a value, of bytes of the share's own, or of a constant that no value has.
  Array Of(ValueId id);
  Array Temporary(DType type, const Shape& shape);
  Array Constant(const Tensor& tensor);
  // Returns an array for what follows from `from` alone: where that never changes, it is computed once.
  Array Derived(const Array& from, DType type, const Shape& shape);
  bool IsConstant(const Array& array) const;

  // Returns the array with elements of `type`: itself, or a converted copy.
  Array As(const Array& array, DType type);
  // Returns the array with permuted dimensions: dimension i of the result is dimension perm[i].
  Array Transposed(const Array& array, const std::vector<int>& perm);

  // Appends a launch. The last argument is what it writes; it is launched once if that is a packed buffer.
  void Launch(KernelText text, const std::vector<Array>& arguments);
  // Appends a launch that copies elements, converted where the types differ. `spec` has sizes, strides and
  // first elements; its types are those of the arrays. Any element type moves where both have it.
  void Move(const Array& from, const Array& to, MapSpec spec);
  // Copies all elements in their order; nothing if both are the same memory.
  void Copy(const Array& from, const Array& to);

  // Copies what the caller gets and no launch has written, and places all arrays.
  ShareOnGpu Finish();

 private:
  struct Buffer {
    Space space = Space::kArena;
    int32_t index = 0;
    int64_t bytes = 0;
    int first = -1, last = -1;  // the launches that touch it; -1: none
    int64_t offset = 0;
  };
  struct Step {
    KernelText text;
    std::vector<int> buffers;
    int node = -1;
    DType type = DType::kUnknown;  // of the first argument
  };

  int AddBuffer(Space space, int32_t index, int64_t bytes);
  int BufferOf(ValueId root);
  DType TypeInMemory(ValueId root) const;
  void CopyOutputs();
  void PlaceArena(ShareOnGpu& share);
  void CheckBytes(const ShareOnGpu& share) const;
  opencl::Launch Placed(const Step& step) const;

  const Graph& graph_;
  const GpuTarget target_;
  const ChooseTile& choose_;
  const MemoryPlan plan_;
  const bool plain_sums_;
  const DType storage_;
  std::vector<int> of_value_;  // the buffer of each value; -1: not yet
  std::vector<Buffer> buffers_;
  std::vector<Tensor> constants_;
  std::vector<int64_t> packed_;
  std::vector<Step> packing_, steps_;
  int node_ = -1;
};

}  // namespace mete::opencl
