#include "kernels/fast/elementwise/broadcast.h"

namespace mete {

BroadcastInput BroadcastOf(const Shape& in, const Shape& out) {
  if (in.Elements() == out.Elements()) return {};
  if (in.Elements() == 1) return {.spread = Broadcast::kScalar};
  BroadcastInput of{.spread = Broadcast::kRuns};
  const int missing = out.rank() - in.rank();
  int64_t step = in.Elements();
  for (int i = 0; i < out.rank(); ++i) {
    const int64_t own = i < missing ? 1 : in[i - missing];
    step /= own;
    if (out[i] == 1) continue;
    const int64_t stride = own == 1 ? 0 : step;
    const size_t outer = static_cast<size_t>(of.rank - 1);
    if (of.rank > 0 && of.strides[outer] == stride * out[i]) {
      of.dims[outer] *= out[i];
      of.strides[outer] = stride;
      continue;
    }
    const size_t next = static_cast<size_t>(of.rank++);
    of.dims[next] = out[i];
    of.strides[next] = stride;
  }
  return of;
}

}  // namespace mete
