#include "processor/opencl/kernels/gather.h"

#include "base/error.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr int64_t kGroup = 64;  // as in window.cc

// Elements are moved as they are, as whole numbers of their size.
std::string BitsName(DType type) {
  switch (SizeOf(type)) {
    case 1: return "uchar";
    case 2: return "ushort";
    case 4: return "uint";
    default: return "ulong";
  }
}

}  // namespace

KernelText GatherKernel(const GatherSpec& s, int vector) {
  const int64_t count = s.outer * s.indices * s.inner;
  CheckElements("GPU gather", {s.outer * s.axis * s.inner, count, s.indices});
  if (s.index != DType::kI64 && s.index != DType::kI32)
    Invalid("GPU gather", "the indices have another type; got {}, expected i32 or i64", Name(s.index));
  int width = VectorWidth(vector);
  while (s.inner % width) width /= 2;
  const int64_t vectors = s.inner / width, items = count / width;
  const std::string n = width == 1 ? "" : std::to_string(width);
  KernelText k;
  k.name = "gather";
  k.group[0] = kGroup;
  k.items[0] = RoundUp(items, kGroup);
  Writer w;
  const std::string bits = BitsName(s.type);
  w.Line("{}", Arguments()
                   .Add("const " + bits, "input")
                   .Add(s.index == DType::kI64 ? "const long" : "const int", "indices")
                   .Add(bits, "output")
                   .Head(k));
  w.Line("const int item=get_global_id(0);\nif(item>={})return;", items);
  w.Line("const int c=item%{}*{},i=item/{}%{},outer=item/{};", vectors, width, vectors, s.indices,
         vectors * s.indices);
  w.Line("const long index=indices[i];\nconst int at=clamp(index<0?index+{0}:index,0L,{0}L-1);", s.axis);
  const std::string from = fmt::format("input+(outer*{}+at)*{}+c", s.axis, s.inner);
  if (width == 1) w.Line("output[item]=*({});}}", from);
  else w.Line("vstore{0}(vload{0}(0,{1}),item,output);}}", n, from);
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
