#include "processor/opencl/kernels/resize.h"

#include <bit>

#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr int64_t kGroup = 64;  // as in window.cc

}  // namespace

std::vector<int32_t> ResizeTable(const std::vector<ResizeSource>& sources) {
  std::vector<int32_t> table;
  for (const ResizeSource& s : sources)
    for (int32_t word : {int32_t(s.first), int32_t(s.second), std::bit_cast<int32_t>(s.first_weight),
                         std::bit_cast<int32_t>(s.second_weight)})
      table.push_back(word);
  return table;
}

KernelText ResizeKernel(const ResizeShape& s, DType type, int vector) {
  const int64_t rows = int64_t(s.rows.size()), columns = int64_t(s.columns.size());
  CheckElements("GPU resize",
                {s.images * s.in_height * s.in_width * s.pixel, s.images * rows * columns * s.pixel});
  int width = VectorWidth(vector);
  while (s.pixel % width) width /= 2;
  const int64_t vectors = s.pixel / width, items = s.images * rows * columns * vectors;
  KernelText k;
  k.name = "resize";
  k.group[0] = kGroup;
  k.items[0] = RoundUp(items, kGroup);
  Writer w;
  w.Line("{}", Arguments()
                   .Add("const " + ElementName(type), "input")
                   .Add("const int", "rows")
                   .Add("const int", "columns")
                   .Add(ElementName(type), "output")
                   .Head(k));
  w.Line("const int item=get_global_id(0);\nif(item>={})return;", items);
  w.Line("const int c=item%{}*{},x=item/{}%{},y=item/{}%{},n=item/{};", vectors, width, vectors, columns,
         vectors * columns, rows, vectors * columns * rows);
  w.Line("const int4 r=vload4(y,rows),s=vload4(x,columns);");
  const auto pixel = [&](const char* row, const char* column) {
    return LoadText(type, width, "input",
                    fmt::format("((n*{}+r.{})*{}+s.{})*{}+c", s.in_height, row, s.in_width, column, s.pixel));
  };
  if (s.nearest) {
    w.Line("const {} v={};", FloatVector(width), pixel("x", "x"));
  } else {
    w.Line("const float y0=as_float(r.z),y1=as_float(r.w),x0=as_float(s.z),x1=as_float(s.w);");
    w.Line("const {} v=y0*(x0*{}+x1*{})+y1*(x0*{}+x1*{});", FloatVector(width), pixel("x", "x"),
           pixel("x", "y"), pixel("y", "x"), pixel("y", "y"));
  }
  w.Line("{}}}", StoreText(type, width, "v", "output", fmt::format("item*{}", width)));
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
