#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {

PackSource OnnxWeights(const ConvShape& s, bool bias) {
  const int64_t taps = s.kernel_height * s.kernel_width, channels = s.in_channels / s.groups;
  return {.output = channels * taps, .channel = taps, .tap_row = s.kernel_width, .tap = 1, .bias = bias};
}

PackSource RowsOfK(int64_t k, int64_t n, bool bias) {
  return {.image = k * n, .output = 1, .channel = n, .bias = bias};
}

PackSource RowsOfN(int64_t k, int64_t n, bool bias) {
  return {.image = k * n, .output = k, .channel = 1, .bias = bias};
}

namespace {

// Writes a packing kernel, whose sizes have names.
class PackText {
 public:
  PackText(const ConvSpec& spec, const Tile& tile, const PackSource& from)
      : spec_(spec),
        from_(from),
        p_(PackedSizes(spec, tile)),
        inputs_(spec.shape.in_channels / spec.shape.groups),
        outputs_(spec.shape.out_channels / spec.shape.groups) {}

  KernelText Write() {
    KernelText k;
    k.name = "pack";
    k.items = {p_.panel_channels, p_.sets * p_.panels + 1, 1};
    Body();
    Writer w;
    Arguments arguments;
    arguments.Add("const int", "sizes").Add("const " + ElementName(from_.type), "weights");
    if (spec_.bytes) arguments.Add("const float", "scales");
    if (from_.bias) arguments.Add(spec_.bytes ? "const int" : "const float", "bias");
    w.Line("{}{}", arguments.Add(ElementName(spec_.weights), "packed").Head(k), n_.Declarations());
    k.source = w.text() + w_.text();
    k.sizes = n_.sizes();
    return k;
  }

 private:
  void Body() {
    const ConvShape& s = spec_.shape;
    w_.Line("const int lane=get_global_id(0),panel=get_global_id(1);");
    w_.Line("if(panel=={}){{", n_(p_.sets * p_.panels));
    if (spec_.bytes) ByteStarts();
    else Bias();
    w_.Line("const int set=panel/{0},m=panel%{0}*{1}+lane,g=set%{2},image=set/{2};", n_(p_.panels),
            n_(p_.panel_channels), n_(s.groups));
    w_.Line("global {}* to=packed+panel*{}+lane;", ElementName(spec_.weights),
            n_(p_.steps * p_.panel_channels));
    w_.Line("global const {}* at=weights+image/{}*{}+g/{}*{}+m*{};", ElementName(from_.type),
            n_(from_.image_repeat), n_(from_.image), n_(from_.group_repeat), n_(Group()), n_(from_.output));
    w_.Line("for(int ky=0;ky<{};++ky)for(int kx=0;kx<{};++kx)for(int c=0;c<{};++c){{", n_(s.kernel_height),
            n_(s.kernel_width), n_(inputs_));
    w_.Line("const float v=m<{}?{}{}:0.0f;", n_(outputs_),
            LoadText(from_.type, 1, "at",
                     fmt::format("c*{}+ky*{}+kx*{}", n_(from_.channel), n_(from_.tap_row), n_(from_.tap))),
            spec_.bytes ? fmt::format("-(float){}", n_(from_.zero)) : "");
    w_.Line("{}to+={};}}}}", StoreText(spec_.weights, 1, "v", "to", "0"), n_(p_.panel_channels));
  }

  void Bias() {
    w_.Line(
        "global float* b=(global float*)((global uchar*)packed+{}),*zeros=(global float*)((global "
        "uchar*)packed+{});",
        n_(p_.bias_at), n_(p_.zeros_at));
    w_.Line("for(int g=0;g<{};++g)for(int i=0;i<{};++i){{const int m=i*{}+lane;", n_(spec_.shape.groups),
            n_(p_.panels), n_(p_.panel_channels));
    w_.Line("b[g*{}+m]={};}}", n_(p_.panels * p_.panel_channels),
            from_.bias ? fmt::format("m<{0}?bias[g*{0}+m]:0.0f", n_(outputs_)) : "0.0f");
    w_.Line("for(int i=lane;i<{};i+={})zeros[i]=0.0f;\nreturn;}}", n_(inputs_), n_(p_.panel_channels));
  }

  // What the sums of bytes start with: the bias minus what the input's zero point adds to them. Padding reads
  // as the zero point.
  void ByteStarts() {
    const ConvShape& s = spec_.shape;
    w_.Line("global int* b=(global int*)((global uchar*)packed+{});", n_(p_.bias_at));
    w_.Line("global float* f=(global float*)((global uchar*)packed+{});", n_(p_.scale_at));
    w_.Line("global {}* zeros=(global {}*)((global uchar*)packed+{});", ElementName(spec_.input),
            ElementName(spec_.input), n_(p_.zeros_at));
    w_.Line("for(int g=0;g<{};++g)for(int i=0;i<{};++i){{const int m=i*{}+lane,to=g*{}+m;", n_(s.groups),
            n_(p_.panels), n_(p_.panel_channels), n_(p_.panels * p_.panel_channels));
    w_.Line("int sum=0;if(m<{}){{global const {}* at=weights+g*{}+m*{};", n_(outputs_),
            ElementName(from_.type), n_(Group()), n_(from_.output));
    w_.Line("for(int ky=0;ky<{};++ky)for(int kx=0;kx<{};++kx)for(int c=0;c<{};++c)", n_(s.kernel_height),
            n_(s.kernel_width), n_(inputs_));
    w_.Line("sum+=(int)at[c*{}+ky*{}+kx*{}]-({});}}", n_(from_.channel), n_(from_.tap_row), n_(from_.tap),
            n_(from_.zero));
    w_.Line("b[to]={}-({})*sum;f[to]=m<{}?scales[g*{}+m]:0.0f;}}",
            from_.bias ? fmt::format("(m<{0}?bias[g*{0}+m]:0)", n_(outputs_)) : "0",
            n_(spec_.bytes->input_zero), n_(outputs_), n_(outputs_));
    w_.Line("for(int i=lane;i<{};i+={})zeros[i]={};\nreturn;}}", n_(inputs_), n_(p_.panel_channels),
            n_(spec_.bytes->input_zero));
  }

  int64_t Group() const { return from_.group ? from_.group : outputs_ * from_.output; }

  const ConvSpec& spec_;
  const PackSource& from_;
  const PackedConv p_;
  const int64_t inputs_, outputs_;  // channels of a group
  SizeList n_;
  Writer w_;
};

}  // namespace

// Work-item (x, y) writes channel x of a panel in all of its steps, y counts panels of all sets; those of the
// last y write bias and zeros.
KernelText PackKernel(const ConvSpec& spec, const Tile& tile, const PackSource& from) {
  return PackText(spec, tile, from).Write();
}

}  // namespace mete::opencl
