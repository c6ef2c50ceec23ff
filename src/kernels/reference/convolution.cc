#include "kernels/reference/convolution.h"

#include "base/visit_type.h"
#include "kernels/reference/convolution_planes.h"
#include "kernels/reference/epilogue.h"

namespace mete {
namespace {

template <class T>
void RunConv(RefArgs& args, ConvDirection direction) {
  if (args.out[0].elements() == 0) return;
  ConvCall c(args.attributes, args.in[0].shape, args.in[1].shape, args.out[0].shape, direction);
  const ReferenceEpilogue<T> epilogue(args);
  const T* bias = args.has(2) ? args.in[2].as<T>() : nullptr;
  T* y = args.out[0].as<T>();
  const int64_t all = args.attributes.Int(kIntoChannels, 0), channels = args.in[1].shape[0];
  // A slice of y's channels is written (graph/fused.h, section 7).
  const bool slice = direction == ConvDirection::kForward && all > 0;
  if (slice) {
    CopyInto(args.in, kIntoInput, args.out[0]);
    c.NarrowOutput(channels);
    y += args.attributes.Int(kIntoOffset, 0);
  }
  Convolve(c, args.in[0].as<T>(), args.in[1].as<T>(), args.scratch.Get<double>(size_t(c.y.plane())),
           [&](double sum, int64_t m, int64_t at) {
             // The residual only has the channels of the slice.
             const int64_t residual_at = slice ? at / all * channels + m : at;
             y[at] = epilogue.Apply(bias ? sum + double(bias[m]) : sum, residual_at);
           });
}

void Conv(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { RunConv<T>(args, ConvDirection::kForward); });
}

void ConvTranspose(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { RunConv<T>(args, ConvDirection::kTransposed); });
}

}  // namespace

std::span<const RefEntry> ConvolutionReferences() {
  static constexpr RefEntry kConvolutionEntries[] = {
      {"AveragePool", AveragePoolReference},
      {"Conv", Conv},
      {"ConvTranspose", ConvTranspose},
      {"DeformConv", DeformConvReference},
      {"GlobalAveragePool", GlobalAveragePoolReference},
      {"GlobalLpPool", GlobalLpPoolReference},
      {"GlobalMaxPool", GlobalMaxPoolReference},
      {"LpPool", LpPoolReference},
      {"MaxPool", MaxPoolReference},
  };
  return kConvolutionEntries;
}

}  // namespace mete
