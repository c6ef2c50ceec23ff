// A kernel of the GPU as a value: OpenCL C made for given sizes and types, and the work-items of its launch.
// Nothing here calls OpenCL or compiles anything.
//
// Texts are made of integers, enumerations and numbers alone, never of a model's names, and all sizes are
// constants in them: addresses are then displacements, and loops have known ends. Kernels that run once for
// some weights read their sizes instead, so that one program serves all layers. A text needs nothing but
// the full profile of OpenCL 1.2. Elements of f16 and of bytes are converted to f32 where they are read, and
// arithmetic is in f32, so a device needs no arithmetic on halves.
//
// The arguments of each kernel are buffers alone, in the order that the function's comment says, each with
// the byte at which the kernel's part of it begins (Arguments). The parts begin at multiples of their
// element's size, do not overlap where one of them is written, and hold at most 2^31 elements
// (CheckElements).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "mete/tensor.h"

namespace mete::opencl {

struct KernelText {
  std::string name;  // of the function
  std::string source;
  std::array<int64_t, 3> items = {1, 1, 1};  // multiples of those of the group
  std::array<int64_t, 3> group = {1, 1, 1};  // the text requires these
  std::vector<int32_t> sizes;  // what the text reads from its first argument; empty: it has none
  bool operator==(const KernelText&) const = default;
};

// Returns 32 hexadecimal digits that differ if the texts, or their launches, do (XXH3, 128 bits).
std::string DigestOf(const KernelText& text);
// Returns such digits of what a driver compiles: launches of one program may differ in their sizes.
std::string DigestOfProgram(const KernelText& text);

// Gives the sizes of a kernel names in its text, and collects them for KernelText::sizes.
class SizeList {
 public:
  // Returns the name of a size, another one at each call.
  std::string operator()(int64_t size);
  // Returns the statements that make the names known, from the argument `sizes`.
  std::string Declarations() const;
  const std::vector<int32_t>& sizes() const { return sizes_; }

 private:
  std::vector<int32_t> sizes_;
};

// The widths that vectors have here, and the largest of them that is at most `most`.
inline constexpr std::array<int, 5> kVectorWidths = {16, 8, 4, 2, 1};
int VectorWidth(int64_t most);

// Parts of texts. A type of elements is f32, f16, u8 or i8 (Error UNIMPLEMENTED for others); a vector has 1,
// 2, 4, 8 or 16 of them. `pointer` and `offset`, in elements, are expressions.
std::string ElementName(DType type);    // "float", "half", "uchar"
std::string FloatVector(int width);     // "float", "float4", ...
std::string FloatLiteral(float value);  // the exact value, also of infinities
std::string LoadText(DType type, int width, const std::string& pointer, const std::string& offset);
// Returns a statement that rounds `value` to the nearest even number of the type, bytes with saturation.
std::string StoreText(DType type, int width, const std::string& value, const std::string& pointer,
                      const std::string& offset);
// Returns the pointer to element `first` of a buffer.
std::string PointerText(const std::string& buffer, int64_t first);
// Returns element `lane` of the vector that is called `name`.
std::string LaneText(const std::string& name, int width, int lane);
// The same as the two above for the first `lanes` elements of a vector: others are zero, and stay as they
// are in memory. `value` is the name of a vector.
std::string LoadLanes(DType type, int width, int lanes, const std::string& pointer,
                      const std::string& offset);
std::string StoreLanes(DType type, int width, int lanes, const std::string& value, const std::string& pointer,
                       const std::string& offset);
// The arguments of a kernel. A part of a buffer is the buffer and a number, which Kernel::SetPlace() sets,
// and no object of the driver's: NVIDIA's (580.159) crashes where several of them are released.
class Arguments {
 public:
  enum class Overlap { kNone, kAllowed };
  // `type` of elements, such as "const float". kAllowed: others may have some of its bytes.
  Arguments& Add(const std::string& type, const std::string& name, Overlap overlap = Overlap::kNone);
  // Returns "kernel __attribute__((reqd_work_group_size(1,1,1))) void NAME(ARGUMENTS){" for the text's name
  // and group, and the statements that move each pointer to its part.
  std::string Head(const KernelText& text) const;

 private:
  std::string list_, moves_;
};

// Error INVALID_ARGUMENT if a tensor has more elements than an int of the device can count.
void CheckElements(const char* where, std::initializer_list<int64_t> counts);

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

}  // namespace mete::opencl
