// Conversions of Interp (of the segmentation forks: bilinear, with aligned corners) and Upsample (nearest
// neighbor, or SegNet's unpooling).
#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

using mete::Ints;

void NeedPicture(Layer& l) {
  if (l.shape().rank() != 4) l.Bad("{} needs 4 dimensions; got {}", l.p.type(), ToString(l.shape()));
}

// Only height and width are named, so that a session may take another batch.
ValueId EmitResize(Layer& l, ValueId x, int64_t height, int64_t width, Attributes attributes) {
  attributes.Set("axes", Ints{2, 3});
  return l.Emit("Resize", {x, kNoValue, kNoValue, l.Ints("sizes", Ints{height, width})},
                std::move(attributes));
}

int64_t InterpSize(Layer& l, int64_t in, int64_t given) {
  const auto& p = l.p.interp_param();
  if (given > 0) return given;
  if (p.zoom_factor() < 1 || p.shrink_factor() < 1)
    l.Bad("factors must be from 1 on; got zoom {} and shrink {}", p.zoom_factor(), p.shrink_factor());
  const int64_t shrunk = (in - 1) / p.shrink_factor() + 1;
  return shrunk + (shrunk - 1) * (p.zoom_factor() - 1);
}

// Returns the input without the border that negative padding cuts off before the resize.
ValueId CutBorder(Layer& l) {
  const auto& p = l.p.interp_param();
  if (p.pad_beg() > 0 || p.pad_end() > 0)
    l.Bad("padding must not be positive; got {} and {}", p.pad_beg(), p.pad_end());
  if (p.pad_beg() == 0 && p.pad_end() == 0) return l.in();
  const int64_t begin = -int64_t(p.pad_beg()), end = p.pad_end();
  if (l.shape()[2] + end <= begin || l.shape()[3] + end <= begin)
    l.Bad("the padding leaves nothing of {}", ToString(l.shape()));
  return l.Emit("Slice",
                {l.in(), l.Ints("starts", Ints{begin, begin}),
                 l.Ints("ends", Ints{l.shape()[2] + end, l.shape()[3] + end}), l.Ints("axes", Ints{2, 3})});
}

void Interp(Layer& l) {
  NeedPicture(l);
  const auto& p = l.p.interp_param();
  const ValueId x = CutBorder(l);
  int64_t height = p.height(), width = p.width();
  if (l.bottoms() == 2) {
    if (l.shape(1).rank() != 4) l.Bad("the second bottom needs 4 dimensions; got {}", ToString(l.shape(1)));
    height = l.shape(1)[2];
    width = l.shape(1)[3];
  }
  Attributes a;
  a.Set("mode", std::string("linear"));
  a.Set("coordinate_transformation_mode", std::string("align_corners"));
  const Shape in = l.ShapeOf(x);
  l.SetTop(0, EmitResize(l, x, InterpSize(l, in[2], height), InterpSize(l, in[3], width), a));
}

struct Size {
  int64_t height, width;
};

Size UpsampledSize(Layer& l) {
  const auto& p = l.p.upsample_param();
  Size size{int64_t(p.upsample_h()), int64_t(p.upsample_w())};
  const int64_t sh = p.has_scale_h() ? p.scale_h() : p.scale(),
                sw = p.has_scale_w() ? p.scale_w() : p.scale();
  if ((size.height == 0 && sh < 1) || (size.width == 0 && sw < 1))
    l.Bad("scale must be from 1 on; got {} and {}", sh, sw);
  if (size.height == 0) size.height = l.shape()[2] * sh - (p.pad_out_h() ? 1 : 0);
  if (size.width == 0) size.width = l.shape()[3] * sw - (p.pad_out_w() ? 1 : 0);
  return size;
}

// Puts each value at the position where its pooling found it. The mask holds positions in the pooling's
// input, so the output must have that input's shape.
void Unpool(Layer& l, Size size) {
  const Shape out{l.shape()[0], l.shape()[1], size.height, size.width};
  const Shape pooled = l.PooledFrom(l.in(1));
  if (pooled != out)
    l.Bad("unpooling to another size than was pooled is not supported; got {}, expected {}", ToString(out),
          ToString(pooled));
  // At a stride of 1 this window has the output's size, whatever the batch is. The mask alone says the
  // places.
  Attributes a;
  a.Set("kernel_shape", Ints{out[2] - l.shape()[2] + 1, out[3] - l.shape()[3] + 1});
  l.SetTop(0, l.Emit("MaxUnpool", {l.in(), l.in(1)}, a));
}

void Upsample(Layer& l) {
  NeedPicture(l);
  const Size size = UpsampledSize(l);
  if (l.bottoms() == 2) return Unpool(l, size);
  Attributes a;
  a.Set("mode", std::string("nearest"));
  a.Set("coordinate_transformation_mode", std::string("asymmetric"));
  a.Set("nearest_mode", std::string("floor"));
  l.SetTop(0, EmitResize(l, l.in(), size.height, size.width, a));
}

constexpr LayerType kResizeLayers[] = {{"Interp", 1, 2, 1, Interp}, {"Upsample", 1, 2, 1, Upsample}};

}  // namespace

std::span<const LayerType> ResizeLayers() { return kResizeLayers; }

}  // namespace mete::caffe_import
