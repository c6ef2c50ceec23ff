// The inner loop of the register tile on NEON: four elements of K at a time, of which each row's are a
// vector, so that an input costs a quarter of a load and no broadcast. A multiply-add takes its input from a
// lane. See tile-inl.h.
//
// The instructions are volatile assembly, which keeps them in the order of this code and each sum in a
// register of its own. GCC 12 orders intrinsics by itself, and then keeps two to five sums of the larger
// tiles on the stack.
#if defined(METE_QUADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_QUADS_INL_H
#undef METE_QUADS_INL_H
#else
#define METE_QUADS_INL_H
#endif

#include <utility>

#include "kernels/fast/vector-inl.h"

#if HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

#define METE_IN_PLACE __attribute__((always_inline))

constexpr size_t kQuadOfSteps = 4;  // lanes of a vector

HWY_INLINE void LoadInOrder(float32x4_t& to, const float* from) {
  typedef float32x4_t Elements __attribute__((may_alias, aligned(4)));
  asm volatile("ldr %q0, %1" : "=w"(to) : "m"(*reinterpret_cast<const Elements*>(from)));
}

template <int kLane>
HWY_INLINE void AddInOrder(float32x4_t& sum, float32x4_t weights, float32x4_t inputs) {
  asm volatile("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(sum) : "w"(weights), "w"(inputs), "i"(kLane));
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

// The elements of K whose weights are loaded together: two if the registers suffice. In an in-order core,
// each change from multiply-adds to loads costs cycles.
constexpr int kRegisters = 32;
template <int MR, int V>
constexpr int kElementsAtOnce = MR* V + MR + 2 * V < kRegisters ? 2 : 1;

// Adds the products of the four elements from k on.
template <int MR, int V>
HWY_INLINE void MultiplyQuad(const float* const (&a)[MR], size_t k, const float* w, size_t width,
                             float32x4_t (&sums)[MR][V]) {
  constexpr int kAtOnce = kElementsAtOnce<MR, V>;
  float32x4_t inputs[MR], weights[kAtOnce][V];
  ForEach<kQuadOfSteps / kAtOnce>([&](auto part) METE_IN_PLACE {
    constexpr int kFirst = part * kAtOnce;
    ForEach<kAtOnce>([&](auto l) METE_IN_PLACE {
      ForEach<V>([&](auto j)
                     METE_IN_PLACE { LoadInOrder(weights[l][j], w + (kFirst + l) * width + j * kLanes); });
      if constexpr (kFirst + l == 0)
        ForEach<MR>([&](auto i) METE_IN_PLACE { LoadInOrder(inputs[i], a[i] + k); });
    });
    ForEach<kAtOnce>([&](auto l) METE_IN_PLACE {
      ForEach<V>([&](auto j) METE_IN_PLACE {
        ForEach<MR>([&](auto i)
                        METE_IN_PLACE { AddInOrder<kFirst + l>(sums[i][j], weights[l][j], inputs[i]); });
      });
    });
  });
}

// Adds the products of the elements [k, end), but of the last ones that are no quad, and moves `k`, the place
// of the weights and that of what is prefetched behind them.
template <int MR, int V>
HWY_INLINE void MultiplyQuads(const float* const (&a)[MR], size_t& k, size_t end, const float*& w,
                              size_t width, const float*& ahead, size_t ahead_step, V32 (&totals)[MR][V]) {
  float32x4_t sums[MR][V];
  ForEach<MR>([&](auto i) METE_IN_PLACE {
    ForEach<V>([&](auto j) METE_IN_PLACE { sums[i][j] = totals[i][j].raw; });
  });
  for (; k + kQuadOfSteps <= end; k += kQuadOfSteps) {
    // Four steps prefetch no more than a line (RunTiles()).
    __builtin_prefetch(ahead, 0, 2);
    MultiplyQuad(a, k, w, width, sums);
    w += kQuadOfSteps * width;
    ahead += kQuadOfSteps * ahead_step;
  }
  ForEach<MR>([&](auto i) METE_IN_PLACE {
    ForEach<V>([&](auto j) METE_IN_PLACE { totals[i][j] = V32(sums[i][j]); });
  });
}

#undef METE_IN_PLACE

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
#endif
