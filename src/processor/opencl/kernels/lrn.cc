#include "processor/opencl/kernels/lrn.h"

#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr int64_t kGroup = 64;  // as in window.cc

// Returns base^-beta. Roots stand for the exponent of almost all models: powers take ten times as long.
std::string PowerText(float beta, int width) {
  if (beta == 0.75f) return "(1.0f/(sqrt(base)*sqrt(sqrt(base))))";
  if (beta == 0.5f) return "(1.0f/sqrt(base))";
  return fmt::format("pow(base,({}){})", FloatVector(width), FloatLiteral(-beta));
}

}  // namespace

KernelText LrnKernel(const LrnShape& s, int64_t pixels, DType type, int vector) {
  CheckElements("GPU LRN", {pixels, s.channels, pixels * s.channels, s.size});
  int width = VectorWidth(vector);
  while (s.channels % width) width /= 2;
  const int64_t vectors = s.channels / width, items = pixels * vectors;
  const int64_t before = (s.size - 1) / 2, behind = s.size / 2;
  KernelText k;
  k.name = "lrn";
  k.group[0] = kGroup;
  k.items[0] = RoundUp(items, kGroup);
  Writer w;
  w.Line("{}",
         Arguments().Add("const " + ElementName(type), "input").Add(ElementName(type), "output").Head(k));
  w.Line("const int item=get_global_id(0);\nif(item>={})return;", items);
  w.Line("const int c=item%{}*{};", vectors, width);
  w.Line("global const {}* xp=input+item*{};", ElementName(type), width);
  w.Line("{} sum=0;", FloatVector(width));
  w.Line("if(c>={}&&c<={}){{", before, s.channels - width - behind);
  w.Line("for(int j=-{};j<={};++j){{const {} x={};sum+=x*x;}}", before, behind, FloatVector(width),
         LoadText(type, width, "xp", "j"));
  w.Line("}}else{{");  // some windows go beyond the channels
  for (int lane = 0; lane < width; ++lane)
    w.Line("for(int j=max({0}-{1},-c);j<=min({0}+{2},{3}-c);++j){{const float x={4};{5}+=x*x;}}", lane,
           before, behind, s.channels - 1, LoadText(type, 1, "xp", "j"), LaneText("sum", width, lane));
  w.Line("}}");
  w.Line("const {0} base={1}+{2}*sum;\nconst {0} v={3}*{4};", FloatVector(width), FloatLiteral(s.bias),
         FloatLiteral(s.alpha / float(s.size)), LoadText(type, width, "xp", "0"), PowerText(s.beta, width));
  w.Line("{}}}", StoreText(type, width, "v", "output", fmt::format("item*{}", width)));
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
