#include "import/tflite/tflite.h"

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "import/tflite/builder.h"

namespace mete {
namespace tflite_import {
namespace {

// Operators that are known by a name.
struct Custom {
  const char* name;
  Row row;
};
constexpr Custom kCustom[] = {
    {"Convolution2DTransposeBias", {tflite::BuiltinOperator::CUSTOM, 3, 3, 1, ConvertTransposeConvBias}},
    {"TFLite_Detection_PostProcess", {tflite::BuiltinOperator::CUSTOM, 3, 3, 4, ConvertDetections}},
};

const Row* Find(const OperatorInfo& source) {
  if (source.code == tflite::BuiltinOperator::CUSTOM) {
    for (const Custom& custom : kCustom)
      if (source.kind == custom.name) return &custom.row;
    return nullptr;
  }
  for (auto family :
       {ProductRows(), ImageRows(), ElementwiseRows(), ReduceRows(), MoveRows(), MakeRows(), IndexRows(),
        SliceRows(), SequenceRows(), SpectrumRows(), DetectionRows(), ControlRows()})
    for (const Row& row : family)
      if (row.code == source.code) return &row;
  return nullptr;
}

void CheckCounts(const Row& row, const Op& op) {
  if (op.inputs() < row.least_inputs || (row.most_inputs >= 0 && op.inputs() > row.most_inputs))
    op.Bad("{} has the wrong number of inputs; got {}, expected {} to {}", op.kind(), op.inputs(),
           row.least_inputs, row.most_inputs < 0 ? "any" : std::to_string(row.most_inputs));
  if (row.most_outputs >= 0 && op.outputs() > row.most_outputs)
    op.Bad("{} has too many outputs; got {}, expected at most {}", op.kind(), op.outputs(), row.most_outputs);
}

bool AnyFailed(const Builder& builder, const std::vector<int>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [&](int t) { return t >= 0 && builder.HasFailed(t); });
}

void Convert(Builder& builder, const OperatorInfo& source) {
  const std::string& name = builder.info(source.outputs[0]).name;
  try {
    const Row* row = Find(source);
    if (!row) throw Error(Code::kUnimplemented, "Mete does not have it");
    if (!AnyFailed(builder, source.inputs)) {
      Op op(builder, source, row->onnx);
      CheckCounts(*row, op);
      if (!FoldInts(op)) row->convert(op);
      return;
    }
  } catch (const Error& e) {
    if (e.code() == Code::kUnimplemented)
      builder.problems().Unsupported("operator " + source.kind, e.what(), name);
    else builder.problems().Bad(e);
  }
  for (int tensor : source.outputs) builder.Fail(tensor);
}

}  // namespace

void ConvertAll(Builder& builder) {
  for (const OperatorInfo& source : builder.file().operators) Convert(builder, source);
}

}  // namespace tflite_import

Imported ImportTflite(const std::string& path, const ImportOptions& options) {
  const auto file = MappedFile::Open(path);
  return ImportTflite(file->bytes(), file, std::filesystem::path(path).filename().string(), options);
}

Imported ImportTflite(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                      const std::string& name, const ImportOptions& options) {
  using namespace tflite_import;
  if (bytes.empty())
    Fail(Code::kDataLoss, name,
         "the file is empty; expected a TensorFlow Lite model; try to make or download it again");
  ImportProblems problems(name);
  const File file = ReadFile(bytes, std::move(owner), problems, options.max_value_bytes);
  problems.Throw();  // numbers of tensors that are wrong would only cause more problems
  Builder builder(file, options, problems);
  builder.AddInputs();
  ConvertAll(builder);
  return builder.Finish();
}

}  // namespace mete
