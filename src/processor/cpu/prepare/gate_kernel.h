// The product of rows with the weights of some gates of a recurrent node, whose columns have the order of
// kernels/fast/recurrence (PackedGates), by the kernels of products: in f32, with operands rounded to halves,
// or with weights in few bits.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "base/precision.h"
#include "kernels/fast/half/half_conv.h"
#include "kernels/fast/matvec/few_bits.h"
#include "kernels/fast/recurrence/recurrence.h"

namespace mete {

class GateKernel {
 public:
  // `k`: elements of a row. `precision`: what the weights are rounded to, and with bf16 the rows as well.
  GateKernel(const PackedGates& gates, int64_t k, Precision precision);

  Precision precision() const { return precision_; }
  std::string target() const;
  bool rounds() const { return precision_ != Precision::kF32; }
  int64_t panels() const;
  Range Columns(int64_t panel) const;
  int64_t MostColumns() const;    // of a panel
  int64_t packed_bytes() const;   // of one direction, a multiple of 64
  int64_t scratch_bytes() const;  // of a thread that multiplies

  // Packs a panel. `columns` has the k weights of each of its columns; `packed` is that of all panels.
  void Pack(const float* columns, int64_t panel, std::byte* packed) const;

  // Multiplies `count` rows that are `stride` elements apart. `c` has rows of all columns, `c_stride`
  // elements apart; pointers are those of whole matrices.
  void Run(const float* first, int64_t stride, int64_t count, const std::byte* packed,
           const Epilogue& epilogue, Range panels, float* c, int64_t c_stride, std::byte* scratch) const;

  static constexpr size_t kRows = 64;  // that are rounded at a time; the weights are read again for more

  // Multiplies at most kRows rows, which lie anywhere. Requires rounds().
  void RunRounded(std::span<const float* const> rows, const std::byte* packed, const Epilogue& epilogue,
                  Range panels, float* c, int64_t c_stride, std::byte* scratch) const;

 private:
  int64_t HalvesBytes() const;  // of the rows in the scratch memory
  void RunHalves(const HalfConvPlan& plan, std::span<const float* const> rows, const std::byte* packed,
                 const Epilogue& epilogue, Range panels, float* c, int64_t c_stride,
                 std::byte* scratch) const;

  Precision precision_;
  int64_t k_;
  std::variant<GemmPlan, HalfConvPlan, FewBitsPlan> plan_;
};

}  // namespace mete
