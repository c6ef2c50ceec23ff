// Kernels of operators on images: affine grids and unpooling. Sampling and resizing have their own files.
#include "kernels/reference/image_kernels.h"
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

// Returns the position of pixel i of n as a coordinate between -1 and 1.
double Normalized(int64_t i, int64_t n, bool align_corners) {
  if (!align_corners) return (2 * double(i) + 1) / double(n) - 1;
  return n == 1 ? -1 : 2 * double(i) / double(n - 1) - 1;
}

void RunAffineGrid(RefArgs& args) {
  const View& out = args.out[0];
  if (out.elements() == 0) return;
  const bool align = args.attributes.Int("align_corners", 0) != 0;
  const int dims = int(out.shape.back());
  const int64_t depth = dims == 3 ? out.shape[1] : 1, height = out.shape[dims - 1], width = out.shape[dims];
  VisitFloat(out.type, [&]<class T>() {
    T* to = out.as<T>();
    for (int64_t n = 0; n < out.shape[0]; ++n)
      for (int64_t i = 0; i < depth * height * width; ++i) {
        const double z = dims == 3 ? Normalized(i / width / height, depth, align) : 1;
        const double at[] = {Normalized(i % width, width, align),
                             Normalized(i / width % height, height, align), z, 1};
        for (int r = 0; r < dims; ++r) {
          const T* row = args.in[0].as<T>() + (n * dims + r) * (dims + 1);
          double sum = 0;
          for (int k = 0; k <= dims; ++k) sum += double(row[k]) * at[k];
          *to++ = FromDouble<T>(sum);
        }
      }
  });
}

// Returns the shape in which the indices count. This is the shape of the pooling's input if the windows of
// the pooling covered all of it.
Shape UnpooledShape(const RefArgs& args) {
  Shape shape = args.in[0].shape;
  const Ints &kernel = args.attributes.IntList("kernel_shape"), &strides = args.attributes.IntList("strides"),
             &pads = args.attributes.IntList("pads");
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t stride = strides.empty() ? 1 : strides[i],
                  pad = pads.empty() ? 0 : pads[i] + pads[kernel.size() + i];
    shape[int(i) + 2] = (shape[int(i) + 2] - 1) * stride + kernel[i] - pad;
  }
  return shape;
}

int64_t OffsetIn(const Shape& out, const Shape& counted, int64_t index) {
  int64_t offset = 0, step = 1;
  for (int d = out.rank() - 1; d >= 0; --d) {
    offset += index % counted[d] * step;
    step *= out[d];
    index /= counted[d];
  }
  return offset;
}

void RunMaxUnpool(RefArgs& args) {
  const View& out = args.out[0];
  const Shape counted = UnpooledShape(args);
  const int64_t limit = counted.Elements();
  const IndexReader index(args.in[1]);
  if (out.elements() == 0) return;
  VisitSize(out.type, [&]<class T>() {
    T* to = out.as<T>();
    std::fill_n(to, out.elements(), T(0));
    for (int64_t i = 0, n = args.in[0].elements(); i < n; ++i) {
      if (index[i] < 0 || index[i] >= limit)
        Fail(Code::kOutOfRange, "MaxUnpool", "index is out of range; got {}, expected 0 to {}", index[i],
             limit - 1);
      to[OffsetIn(out.shape, counted, index[i])] = args.in[0].as<T>()[i];
    }
  });
}

constexpr RefEntry kImageKernels[] = {
    {"AffineGrid", RunAffineGrid}, {"GridSample", RunGridSample}, {"MaxUnpool", RunMaxUnpool},
    {"MaxRoiPool", RunMaxRoiPool}, {"Resize", RunResize},         {"RoiAlign", RunRoiAlign},
};

}  // namespace

std::span<const RefEntry> ImageReferences() { return kImageKernels; }

}  // namespace mete
