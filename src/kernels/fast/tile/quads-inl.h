// The inner loop of the register tiles on NEON: four elements of K at a time, which each row has in one
// vector, so that an input costs a quarter of a load and no broadcast: a multiply-add takes its input from a
// lane. An element is an f32 (tile-inl.h) or four bytes (byte_tile-inl.h).
//
// The instructions are volatile assembly, which keeps them in the order of this code and each sum in a
// register of its own. GCC 12 orders intrinsics by itself, and then keeps two to five sums of the larger
// tiles on the stack. `make arm-loops` shows the loops.
#if defined(METE_QUADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_QUADS_INL_H
#undef METE_QUADS_INL_H
#else
#define METE_QUADS_INL_H
#endif

#include <utility>

#include "kernels/fast/vector-inl.h"

// Of a lambda: it is part of its caller, so that the caller's arrays stay in registers.
#undef METE_IN_PLACE
#define METE_IN_PLACE __attribute__((always_inline))

#if HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr size_t kQuadOfElements = 4;  // lanes of a vector
constexpr size_t kElementBytes = 4;

template <class Vector>
HWY_INLINE void LoadInOrder(Vector& to, const void* from) {
  typedef uint8x16_t Unaligned __attribute__((may_alias, aligned(1)));
  asm volatile("ldr %q0, %1" : "=w"(to) : "m"(*reinterpret_cast<const Unaligned*>(from)));
}
// The same with the address as two registers, which pairs with a multiply-add in LLVM's model of the
// Cortex-A55 where an address with a constant does not.
template <class Vector>
HWY_INLINE void LoadInOrder(Vector& to, const uint8_t* from, size_t offset) {
  asm volatile("ldr %q0, [%1, %2]"
               : "=w"(to)
               : "r"(from), "r"(offset), "m"(*reinterpret_cast<const uint8_t(*)[]>(from)));
}
template <class Vector>
HWY_INLINE void FlipInOrder(Vector& bits, Vector flip) {
  asm volatile("eor %0.16b, %0.16b, %1.16b" : "+w"(bits) : "w"(flip));
}

// Calls f(0), f(1), ... f(N - 1) with the numbers as constants. Loops are unrolled too late for the arrays in
// them to stay in registers.
template <class F, int... I>
HWY_INLINE void ForEach(std::integer_sequence<int, I...>, F f) {
  (f(std::integral_constant<int, I>()), ...);
}
template <int N, class F>
HWY_INLINE void ForEach(F f) {
  ForEach(std::make_integer_sequence<int, N>(), f);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
#endif
