// Kernels of operators that pick elements by index or by condition.
#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"

namespace mete {
namespace {

void RunGather(RefArgs& args) {
  const ConstView &data = args.in[0], &indices = args.in[1];
  const AxisSplit split(data.shape, WrapAxis(args.attributes.Int("axis", 0), data.shape.rank()));
  const IndexReader index(indices);
  const int64_t count = indices.elements(), bytes = split.inner * int64_t(SizeOf(data.type));
  const auto* from = data.as<std::byte>();
  auto* to = args.out[0].as<std::byte>();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = CheckIndex("Gather", index[i], split.length);
    if (bytes == 0) continue;
    for (int64_t o = 0; o < split.outer; ++o)
      CopyBytes(to + (o * count + i) * bytes, from + (o * split.length + at) * bytes, size_t(bytes));
  }
}

void RunGatherElements(RefArgs& args) {
  const ConstView &data = args.in[0], &indices = args.in[1];
  const int axis = WrapAxis(args.attributes.Int("axis", 0), data.shape.rank());
  Steps steps = RowMajorSteps(data.shape);
  const int64_t axis_step = steps[size_t(axis)], dim = data.shape[axis];
  steps[size_t(axis)] = 0;
  const IndexReader index(indices);
  VisitSize(data.type, [&]<class T>() {
    ForEach<2>(indices.shape, {steps, RowMajorSteps(indices.shape)}, [&](const std::array<int64_t, 2>& at) {
      args.out[0].as<T>()[at[1]] =
          data.as<T>()[at[0] + CheckIndex("GatherElements", index[at[1]], dim) * axis_step];
    });
  });
}

void RunGatherND(RefArgs& args) {
  const ConstView &data = args.in[0], &indices = args.in[1];
  const int batch_dims = int(args.attributes.Int("batch_dims", 0)), length = int(indices.shape.back());
  const int64_t batches = indices.shape.Elements(0, batch_dims),
                tuples = indices.shape.Elements(batch_dims, indices.shape.rank() - 1);
  const int64_t per_batch = data.shape.Elements(batch_dims, data.shape.rank());
  const int64_t inner = data.shape.Elements(batch_dims + length, data.shape.rank()),
                bytes = inner * int64_t(SizeOf(data.type));
  const Steps steps = RowMajorSteps(data.shape);
  const IndexReader index(indices);
  auto* to = args.out[0].as<std::byte>();
  for (int64_t i = 0, n = batches * tuples; i < n; ++i) {
    int64_t from = i / tuples * per_batch;
    for (int k = 0; k < length; ++k)
      from += CheckIndex("GatherND", index[i * length + k], data.shape[batch_dims + k]) *
              steps[size_t(batch_dims + k)];
    if (bytes > 0)
      CopyBytes(to + i * bytes, data.as<std::byte>() + from * int64_t(SizeOf(data.type)), size_t(bytes));
  }
}

void RunCompress(RefArgs& args) {
  const ConstView &data = args.in[0], &condition = args.in[1];
  const bool flat = !args.attributes.Has("axis");
  const int axis = flat ? 0 : WrapAxis(args.attributes.Int("axis", 0), data.shape.rank());
  const AxisSplit split = flat ? AxisSplit({data.elements()}, 0) : AxisSplit(data.shape, axis);
  const uint8_t* keep = condition.as<uint8_t>();
  int64_t kept = 0;
  for (int64_t i = 0, n = condition.elements(); i < n; ++i) {
    if (!keep[i]) continue;
    CheckIndex("Compress", i, split.length);
    ++kept;
  }
  Shape shape = flat ? Shape{kept} : data.shape;
  shape[axis] = kept;
  args.allocate(0, data.type, shape);
  if (!args.wants(0)) return;
  const int64_t bytes = split.inner * int64_t(SizeOf(data.type));
  if (bytes == 0 || kept == 0 || split.outer == 0) return;
  auto* to = args.out[0].as<std::byte>();
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0, n = condition.elements(); i < n; ++i) {
      if (!keep[i]) continue;
      CopyBytes(to, data.as<std::byte>() + (o * split.length + i) * bytes, size_t(bytes));
      to += bytes;
    }
}

constexpr RefEntry kIndexKernels[] = {
    {"Col2Im", RunCol2Im},
    {"Compress", RunCompress},
    {"Gather", RunGather},
    {"GatherElements", RunGatherElements},
    {"GatherND", RunGatherND},
    {"NonMaxSuppression", RunNonMaxSuppression},
    {"ScatterElements", RunScatterElements},
    {"ScatterND", RunScatterND},
    {"TensorScatter", RunTensorScatter},
    {"TfIdfVectorizer", RunTfIdfVectorizer},
    {"Unique", RunUnique},
    {"mete.DetectionOutput", RunDetectionOutput},
    {"mete.LabelEncoder", RunLabelEncoder},
    {"mete.TreeEnsemble", RunTreeEnsemble},
};

}  // namespace

std::span<const RefEntry> IndexReferences() { return kIndexKernels; }

}  // namespace mete
