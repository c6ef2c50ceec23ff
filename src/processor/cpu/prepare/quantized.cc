// Quantized convolutions on the f32 kernels, and the conversions between bytes and floats.
//
// Sums of integers are exact in f32 in any order as long as no partial sum reaches 2^24 (not with Winograd's
// algorithm, whose transformed weights are fractions). The weights are known, so the largest possible sum is
// known too: 255 * sum |w|, with the bias. Where this bound is too large for a channel, the reference
// computes the node.
#include <cmath>
#include <type_traits>

#include "dispatch/reason.h"
#include "kernels/fast/conv/window.h"
#include "processor/cpu/prepare/families.h"
#include "processor/cpu/prepare/float_conv.h"

namespace mete {
namespace {

// This value is a guess: it costs more to hand out a smaller piece of work than to compute it.
constexpr int64_t kLeastElements = 16 * 1024;

// Rounds half to even for |x| < 2^22: floats of magnitude 2^23 have no fraction.
inline float RoundHalfEven(float x) {
  constexpr float kMagic = 12582912.f;  // 1.5 * 2^23
  return (x + kMagic) - kMagic;
}

// The type of a tensor and its one zero point.
struct Level {
  DType type = DType::kU8;
  float zero = 0;

  float least() const { return (type == DType::kI8 ? -128.f : 0.f) - zero; }
  float most() const { return (type == DType::kI8 ? 127.f : 255.f) - zero; }
  float largest() const { return std::max(-least(), most()); }
};

// Returns the byte that is `steps` from the zero point, saturated and rounded; a NaN gives the least value
// (kernels/reference/quantized.h).
template <class T>
inline T ToByte(float steps, float least, float most, float zero) {
  const float v = steps >= least ? steps : least;
  return T(int32_t(RoundHalfEven(std::min(v, most)) + zero));
}

template <class F>
void VisitByte(DType type, F&& f) {
  if (type == DType::kI8) f(int8_t{});
  else f(uint8_t{});
}

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

float AsFloat(const Tensor& t, int64_t i) {
  return t.type() == DType::kI8 ? float(t.as<int8_t>()[i]) : float(t.as<uint8_t>()[i]);
}

// Returns the constant zero point of a tensor of bytes; nullopt where there is no single constant one.
std::optional<Level> LevelOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id)) return std::nullopt;
  const Tensor& zero = graph.value(id).constant;
  if (zero.elements() != 1 || !IsByte(zero.type())) return std::nullopt;
  return Level{zero.type(), AsFloat(zero, 0)};
}

std::optional<float> ScaleOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id)) return std::nullopt;
  const Tensor& scale = graph.value(id).constant;
  if (scale.elements() != 1 || scale.type() != DType::kF32) return std::nullopt;
  return *scale.as<float>();
}

// The parameters of a QLinearConv, read from the node. Channels of the weights may have zero points of their
// own.
struct Parts {
  ConvShape shape;
  Level x, y;
  std::vector<float> weights;  // minus their zero points
  std::vector<float> scale;    // per output channel: the factor from a sum to steps of y
  std::vector<float> bias;
};

bool ReadWeights(const Graph& graph, const Node& node, Parts* parts) {
  const Tensor &w = graph.value(node.inputs[3]).constant, &zero = graph.value(node.inputs[5]).constant;
  if (!w.has_value() || !zero.has_value() || !IsByte(w.type()) || !IsByte(zero.type())) return false;
  const int64_t channels = w.shape()[0], length = w.elements() / channels;
  if (zero.elements() != 1 && zero.elements() != channels) return false;
  parts->weights.resize(size_t(w.elements()));
  for (int64_t i = 0; i < w.elements(); ++i)
    parts->weights[size_t(i)] = AsFloat(w, i) - AsFloat(zero, zero.elements() == 1 ? 0 : i / length);
  return true;
}

bool ReadScales(const Graph& graph, const Node& node, Parts* parts) {
  const auto x = ScaleOf(graph, node.inputs[1]), y = ScaleOf(graph, node.inputs[6]);
  const Tensor& w = graph.value(node.inputs[4]).constant;
  const int64_t channels = parts->shape.out_channels;
  if (!x || !y || !w.has_value() || w.type() != DType::kF32 ||
      (w.elements() != 1 && w.elements() != channels))
    return false;
  for (int64_t c = 0; c < channels; ++c)
    parts->scale.push_back(*x * w.as<float>()[w.elements() == 1 ? 0 : c] / *y);
  return true;
}

bool SumsAreExact(const Parts& parts) {
  const size_t channels = parts.bias.size(), length = parts.weights.size() / channels;
  for (size_t c = 0; c < channels; ++c) {
    double most = std::abs(double(parts.bias[c]));
    for (size_t i = 0; i < length; ++i)
      most += double(parts.x.largest()) * std::abs(double(parts.weights[c * length + i]));
    if (most >= double(1 << 24)) return false;
  }
  return true;
}

Shape ToNhwc(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }

std::optional<Parts> PartsOf(const Graph& graph, const Node& node, std::string* why) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape,
              &w = graph.value(node.inputs[3]).shape;
  if (!x.known() || !y.known() || x.rank() != 4 || y.Elements() == 0 || x.Elements() == 0)
    return No("not 2-D, or empty", why);
  // no pass makes such a node, but a file may have one
  if (node.attributes.String("layout", "") == "NHWC") return No("in NHWC", why);
  Parts parts;
  parts.shape = WindowOf(ToNhwc(x), ToNhwc(y), node.attributes, w[2], w[3]);
  parts.shape.groups = node.attributes.Int("group", 1);
  const auto x_level = LevelOf(graph, node.inputs[2]), y_level = LevelOf(graph, node.inputs[7]);
  if (!x_level || !y_level || !ReadWeights(graph, node, &parts) || !ReadScales(graph, node, &parts))
    return No("scales or zero points are not constants of a fitting form", why);
  parts.x = *x_level;
  parts.y = *y_level;
  parts.bias.assign(size_t(y[1]), 0.f);
  if (node.input(8) != kNoValue) {
    const Tensor& bias = graph.value(node.inputs[8]).constant;
    if (!bias.has_value()) return No("the bias is not constant", why);
    for (int64_t c = 0; c < y[1]; ++c) parts.bias[size_t(c)] = float(bias.as<int32_t>()[c]);
  }
  if (!SumsAreExact(parts)) return No("sums may pass 2^24, where f32 is not exact", why);
  return parts;
}

class QuantizedConv : public PreparedNode {
 public:
  QuantizedConv(Parts parts, Packer& packer)
      : parts_(std::move(parts)),
        pool_(packer.pool()),
        conv_(parts_.shape, parts_.weights.data(), ConvWay{}, packer) {
    const ConvShape& s = parts_.shape;
    // the weights are packed by now; assigning {} would keep the memory
    parts_.weights = std::vector<float>();
    input_ = Tensor(DType::kF32, Shape{s.batch, s.in_height * s.in_width, s.in_channels});
    sums_ = Tensor(DType::kF32, Shape{s.batch, s.out_height * s.out_width, s.out_channels});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Widen(in[0]);
    Epilogue epilogue;
    epilogue.bias = parts_.bias.data();
    conv_.Run(input_.as<float>(), epilogue, sums_.mutable_view().as<float>());
    Requantize(out[0]);
  }

  std::string kernel() const override { return "quantized_" + conv_.kernel(); }
  std::string reason() const override { return "its sums of integers are exact in f32"; }
  int64_t packed_bytes() const override { return conv_.packed_bytes(); }

 private:
  // Divides the pixels of every image into pieces for as many threads as are worth it, and calls f(image,
  // pixels).
  template <class F>
  void ForPixels(const Shape& nhwc, F&& f) {
    const int64_t pixels = nhwc[1],
                  blocks = std::min(pixels, BlocksOf(nhwc.Elements() / nhwc[0], kLeastElements, threads_));
    pool_.For(nhwc[0] * blocks, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        f(b / blocks, Range{pixels * (b % blocks) / blocks, pixels * (b % blocks + 1) / blocks});
    });
  }

  // Converts from NCHW to x - zero point in NHWC.
  void Widen(const ConstView& x) {
    const int64_t pixels = input_.shape()[1], channels = input_.shape()[2];
    float* to = input_.mutable_view().as<float>();
    VisitByte(x.type, [&]<class T>(T) {
      const T* from = x.as<T>();
      ForPixels(input_.shape(), [&](int64_t image, Range part) {
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t p = part.begin; p < part.end; ++p)
            to[(image * pixels + p) * channels + c] =
                float(from[(image * channels + c) * pixels + p]) - parts_.x.zero;
      });
    });
  }

  // Converts the sums to bytes in NCHW.
  void Requantize(const View& y) {
    const int64_t pixels = sums_.shape()[1], channels = sums_.shape()[2];
    const float* sums = sums_.as<float>();
    const float least = parts_.y.least(), most = parts_.y.most(), zero = parts_.y.zero;
    VisitByte(y.type, [&]<class T>(T) {
      T* to = y.as<T>();
      ForPixels(sums_.shape(), [&](int64_t image, Range part) {
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t p = part.begin; p < part.end; ++p) {
            const float scaled = sums[(image * pixels + p) * channels + c] * parts_.scale[size_t(c)];
            to[(image * channels + c) * pixels + p] = ToByte<T>(scaled, least, most, zero);
          }
      });
    });
  }

  Parts parts_;
  ThreadPool& pool_;
  const int threads_ = pool_.step_threads();
  FloatConv conv_;
  Tensor input_, sums_;
};

// Converts bytes to floats or floats to bytes, with one scale and one zero point.
class ConvertStep : public PreparedNode {
 public:
  ConvertStep(bool to_bytes, float scale, Level level, int64_t elements, ThreadPool& pool)
      : to_bytes_(to_bytes),
        scale_(scale),
        level_(level),
        elements_(elements),
        blocks_(BlocksOf(elements, kLeastElements, pool.step_threads())),
        pool_(pool) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    VisitByte(level_.type, [&]<class T>(T) {
      pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
        const Range part{elements_ * begin / blocks_, elements_ * end / blocks_};
        if (to_bytes_) ToBytes(in[0].as<float>(), part, out[0].as<T>());
        else ToFloats(in[0].as<T>(), part, out[0].as<float>());
      });
    });
  }

  std::string kernel() const override { return to_bytes_ ? "quantize_f32" : "dequantize_f32"; }

 private:
  // The function divides instead of multiplying by 1 / scale: a tie must round as in other engines.
  template <class T>
  void ToBytes(const float* x, Range part, T* y) const {
    const float least = level_.least(), most = level_.most(), zero = level_.zero, scale = scale_;
    for (int64_t i = part.begin; i < part.end; ++i) y[i] = ToByte<T>(x[i] / scale, least, most, zero);
  }

  template <class T>
  void ToFloats(const T* x, Range part, float* y) const {
    for (int64_t i = part.begin; i < part.end; ++i) y[i] = (float(x[i]) - level_.zero) * scale_;
  }

  const bool to_bytes_;
  const float scale_;
  const Level level_;
  const int64_t elements_, blocks_;
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<PreparedNode> PrepareConvert(const Graph& graph, const Node& node, Packer& packer,
                                             const KernelOptions&, std::string* why) {
  const bool to_bytes = node.op == "QuantizeLinear";
  const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
  const auto scale = ScaleOf(graph, node.inputs[1]);
  const auto level = LevelOf(graph, node.input(2));
  const Value &floats = to_bytes ? in : out, &bytes = to_bytes ? out : in;
  if (!scale || !level || floats.type != DType::kF32 || bytes.type != level->type || !out.shape.known())
    return No("not between f32 and bytes with one constant scale and zero point", why);
  return std::make_unique<ConvertStep>(to_bytes, *scale, *level, out.shape.Elements(), packer.pool());
}

std::unique_ptr<PreparedNode> PrepareQuantizedConv(const Graph& graph, const Node& node, Packer& packer,
                                                   const KernelOptions&, std::string* why) {
  auto parts = PartsOf(graph, node, why);
  return parts ? std::make_unique<QuantizedConv>(std::move(*parts), packer) : nullptr;
}

}  // namespace mete
