#include <cmath>

#include "kernels/fast/winograd/matrices.h"
#include "processor/opencl/kernels/winograd.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

// Returns for each position the factors of the nine taps in G g G^T, times `scale`, which makes all of them
// whole numbers.
std::vector<double> Factors(int m, double scale) {
  std::vector<double> factors;
  WithWinograd(m, [&](auto matrices) {
    for (const auto& p : matrices.kWeights)
      for (const auto& q : matrices.kWeights)
        for (double y : p)
          for (double x : q) factors.push_back(std::round(y * x * scale));
  });
  return factors;
}

}  // namespace

// Work-item (x, y) writes channel x of a panel in all of its steps, y counts panels of all positions; those
// of the last y write bias and zeros, which stand for nothing here. The sum of nine products is exact to
// twice the precision of f32 (Ogita, Rump and Oishi 2005, "Accurate Sum and Dot Product", Dot2), because the
// terms of a transformed weight cancel.
KernelText WinogradPackKernel(const WinogradSpec& spec, const Tile& tile) {
  const ConvShape& s = spec.conv.shape;
  const ConvSpec product = WinogradProduct(spec);
  const PackedConv p = PackedSizes(product, tile);
  const double scale = spec.m == 2 ? 4 : 576;
  KernelText k;
  k.name = "winograd_pack";
  k.items = {p.panel_channels, p.sets * p.panels + 1, 1};
  SizeList n;
  Writer w;
  w.Line("const int lane=get_global_id(0),panel=get_global_id(1);");
  w.Line("if(panel=={}){{for(int i={}+lane;i<{};i+={})packed[i]=0.0f;return;}}", n(p.sets * p.panels),
         n(p.bias_at / 4), n(p.bytes / 4), n(p.panel_channels));
  w.Line("const int position=panel/{0},m=panel%{0}*{1}+lane;", n(p.panels), n(p.panel_channels));
  w.Line("global float* to=packed+panel*{}+lane;", n(p.steps * p.panel_channels));
  w.Line("for(int c=0;c<{};++c){{float sum=0,rest=0;", n(s.in_channels));
  w.Line("if(m<{})for(int tap=0;tap<9;++tap){{", n(s.out_channels));
  w.Line("const float g=weights[(m*{}+c)*9+tap],f=factors[position*9+tap];", n(s.in_channels));
  w.Line("const float product=f*g,low=fma(f,g,-product),next=sum+product,part=next-sum;");
  w.Line("rest+=(sum-(next-part))+(product-part)+low;\nsum=next;}}");
  w.Line("to[c*{}]=(sum+rest)/{};}}}}", n(p.panel_channels), FloatLiteral(float(scale)));
  Writer head;
  head.Line("#pragma OPENCL FP_CONTRACT OFF\nconstant float factors[]={{");
  for (double factor : Factors(spec.m, scale)) head.Line("{},", FloatLiteral(float(factor)));
  const Arguments arguments =
      Arguments().Add("const int", "sizes").Add("const float", "weights").Add("float", "packed");
  head.Line("}};\n{}{}", arguments.Head(k), n.Declarations());
  k.source = head.text() + w.text();
  k.sizes = n.sizes();
  return k;
}

}  // namespace mete::opencl
