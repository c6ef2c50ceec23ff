// The epilogues of convolutions: what is done with the sums of a tile (conv_text.h).
#include <algorithm>

#include "processor/opencl/kernels/conv_text.h"
#include "processor/opencl/kernels/functions.h"

namespace mete::opencl {
namespace {

int64_t OrElse(int64_t stride, int64_t channels) { return stride ? stride : channels; }

}  // namespace

void ConvText::Store() {
  const int64_t last = group_outputs_ - (channel_tiles_ - 1) * tile_.channels();  // channels of the last tile
  const int64_t residual_stride = OrElse(spec_.residual_stride, s_.out_channels);
  w_.Line("const int pixel=oy*{}+ox,m=g*{}+t*{};", s_.out_width, group_outputs_, tile_.channels());
  w_.Line("global {}* yp={}+n*{}+pixel*{}+m;", ElementName(spec_.output),
          PointerText("output", spec_.output_first), out_image_, out_stride_);
  if (spec_.residual)
    w_.Line("global const {}* rp=residual+(n*{}+pixel)*{}+m;", ElementName(spec_.output),
            s_.out_height * s_.out_width, residual_stride);
  struct Part {
    const char *name, *type;
    int64_t at;
  };
  std::vector<Part> parts = {{"bias", spec_.bytes ? "int" : "float", packed_.bias_at}};
  if (spec_.bytes) parts.push_back({"scale", "float", packed_.scale_at});
  for (const auto& [name, type, at] : parts)
    w_.Line("global const {0}* {1}=(global const {0}*)((global const uchar*)packed+{2})+g*{3}+t*{4};", type,
            name, at, packed_.panels * packed_.panel_channels, tile_.channels());
  if (last == tile_.channels()) return StoreChannels(last);
  if (channel_tiles_ == 1) return StoreChannels(last);
  w_.Line("if(t<{}){{", channel_tiles_ - 1);
  StoreChannels(tile_.channels());
  w_.Line("}}else{{");
  StoreChannels(last);
  w_.Line("}}");
}

void ConvText::StoreBytes(int64_t channels) {
  const ByteSums& bytes = *spec_.bytes;
  const std::string type = FloatVector(tile_.vector), ints = type == "float" ? "int" : "int" + type.substr(5);
  const std::string n = tile_.vector == 1 ? "" : std::to_string(tile_.vector);
  for (int v = 0; v * tile_.vector < channels; ++v) {
    const int first = v * tile_.vector, lanes = int(std::min<int64_t>(channels - first, tile_.vector));
    w_.Line("{{const {} f={};\nconst {} b={};", type,
            LoadText(DType::kF32, tile_.vector, "scale", std::to_string(first)), ints,
            n.empty() ? fmt::format("bias[{}]", first) : fmt::format("vload{}(0,bias+{})", n, first));
    for (int p = 0; p < tile_.pixels(); ++p) {
      const int64_t pixel = p / tile_.columns * s_.out_width + p % tile_.columns;
      w_.Line("{{{0} v=convert_{0}(convert_{1}{2}(c{3}_{4})+b)*f;", type, ints, bytes.whole ? "" : "_rte", p,
              v);
      if (spec_.output != DType::kF32)
        w_.Line("v=clamp(rint(v),{},{})+{};", FloatLiteral(bytes.least), FloatLiteral(bytes.most),
                FloatLiteral(float(bytes.output_zero)));
      w_.Line("{}}}", StoreLanes(spec_.output, tile_.vector, lanes, "v", "yp",
                                 std::to_string(pixel * out_stride_ + first)));
    }
    w_.Line("}}");
  }
}

void ConvText::StoreChannels(int64_t channels) {
  if (spec_.bytes) return StoreBytes(channels);
  const std::string type = FloatVector(tile_.vector);
  const int64_t residual_stride = OrElse(spec_.residual_stride, s_.out_channels);
  const std::string scale = spec_.scale == 1 ? "" : "*" + FloatLiteral(spec_.scale);
  for (int v = 0; v * tile_.vector < channels; ++v) {
    const int first = v * tile_.vector, lanes = int(std::min<int64_t>(channels - first, tile_.vector));
    w_.Line("{{const {} b={};", type, LoadText(DType::kF32, tile_.vector, "bias", std::to_string(first)));
    for (int p = 0; p < tile_.pixels(); ++p) {
      const int64_t pixel = p / tile_.columns * s_.out_width + p % tile_.columns;
      w_.Line("{{{} v=c{}_{}{}+b;", type, p, v, scale);
      if (spec_.residual)
        w_.Line("v+={};", LoadLanes(spec_.output, tile_.vector, lanes, "rp",
                                    std::to_string(pixel * residual_stride + first)));
      w_.Line("v={};", FunctionText(spec_.activation, tile_.vector, "v"));
      w_.Line("{}}}", StoreLanes(spec_.output, tile_.vector, lanes, "v", "yp",
                                 std::to_string(pixel * out_stride_ + first)));
    }
    w_.Line("}}");
  }
}

}  // namespace mete::opencl
