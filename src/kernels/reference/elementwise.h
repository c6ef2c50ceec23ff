// The loops that element-wise reference kernels share, and the tables of their three files.
#pragma once

#include <span>

#include "kernels/reference/iterate.h"
#include "kernels/reference/number.h"
#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> UnaryReferences();   // elementwise_unary.cc: one input, activations among them
std::span<const RefEntry> BinaryReferences();  // elementwise_binary.cc: several inputs, broadcast together
std::span<const RefEntry> CastReferences();    // elementwise_cast.cc: types, copies

// Converts numbers, one for each element of `to`, as a Cast does. `from` may be null if there is no element.
void WriteDoubles(const double* from, const View& to);  // elementwise_cast.cc

// Computes out = f(x). Elements are read as In and computed in Compute<In>.
template <class In, class Out, class F>
void MapElements(const ConstView& x, const View& out, F f) {
  const In* from = x.as<In>();
  Out* to = out.as<Out>();
  for (int64_t i = 0, n = out.elements(); i < n; ++i) to[i] = Out(f(Compute<In>(from[i])));
}

// Computes out = f(a, b), with both inputs broadcast to out's shape. `out` may be the memory of an input that
// has out's shape.
template <class A, class B, class Out, class F>
void MapPairs(const ConstView& a, const ConstView& b, const View& out, F f) {
  const A* pa = a.as<A>();
  const B* pb = b.as<B>();
  Out* to = out.as<Out>();
  const std::array<Steps, 2> steps{BroadcastSteps(a.shape, out.shape), BroadcastSteps(b.shape, out.shape)};
  const size_t last = size_t(std::max(0, out.shape.rank() - 1));
  const int64_t n = out.shape.rank() == 0 ? 1 : out.shape.back(), step_a = steps[0][last],
                step_b = steps[1][last];
  ForEachRow(out.shape, steps, [&](const auto& at) {
    const A* ra = pa + at[0];
    const B* rb = pb + at[1];
    for (int64_t j = 0; j < n; ++j) to[j] = Out(f(Compute<A>(ra[j * step_a]), Compute<B>(rb[j * step_b])));
    to += n;
  });
}

}  // namespace mete
