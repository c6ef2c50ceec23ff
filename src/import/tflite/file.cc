#include "import/tflite/file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/file_kind.h"
#include "base/tensor_source.h"
#include "graph/node_names.h"
#include "import/tflite/sparse.h"

namespace mete::tflite_import {
namespace {

// Models nest 4 tables deep and have some tables for each operator and tensor.
constexpr flatbuffers::uoffset_t kMostNesting = 16, kMostTables = 1'000'000;

bool IsQuantizedType(DType type) { return type == DType::kU8 || type == DType::kI8 || type == DType::kI16; }

std::pair<int64_t, int64_t> RangeOf(DType type) {
  if (type == DType::kU8) return {0, 255};
  if (type == DType::kI8) return {-128, 127};
  return {-32768, 32767};
}

// Reads a number of 8 bytes from a list, which the verifier aligns to 4 alone.
int64_t At(const flatbuffers::Vector<int64_t>& list, size_t i) {
  int64_t number;
  std::memcpy(&number, list.Data() + i * sizeof(number), sizeof(number));
  return flatbuffers::EndianScalar(number);
}

template <class Vector>
size_t SizeOf(const Vector* vector) {
  return vector ? vector->size() : 0;
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, ImportProblems& problems,
         int64_t max_value_bytes)
      : bytes_(bytes),
        owner_(std::move(owner)),
        problems_(problems),
        max_value_bytes_(max_value_bytes),
        budget_(bytes.size()) {}

  File Read() {
    VerifyBytes();
    if (model_->version() != 3)
      Fail(Code::kUnimplemented, where(), "the format's version is {}; expected 3", model_->version());
    if (SizeOf(model_->subgraphs()) == 0)
      Fail(Code::kDataLoss, where(), "the model has no subgraph; it may be truncated");
    ReadGraph(*model_->subgraphs()->Get(0), "the model");
    File network = std::exchange(file_, {});
    network.description = model_->description() ? Text(model_->description()) : "";
    network.others.resize(model_->subgraphs()->size() - 1);
    ReadReached(network);
    return network;
  }

 private:
  const std::string& where() const { return problems_.model(); }

  // Reads the subgraphs that operators run. Others belong to other signatures of the model.
  void ReadReached(File& network) {
    std::vector<bool> reached(network.others.size() + 1);
    std::vector<int> next = RunBy(network);
    while (!next.empty()) {
      const int number = next.back();
      next.pop_back();
      if (number < 1 || size_t(number) >= reached.size() || reached[size_t(number)]) continue;
      reached[size_t(number)] = true;
      ReadGraph(*model_->subgraphs()->Get(unsigned(number)), fmt::format("subgraph {}", number));
      const std::vector<int> more = RunBy(file_);
      next.insert(next.end(), more.begin(), more.end());
      network.others[size_t(number) - 1] = std::exchange(file_, {});
    }
  }

  // Returns the numbers of the subgraphs that operators of a graph run.
  static std::vector<int> RunBy(const File& graph) {
    std::vector<int> numbers;
    for (const OperatorInfo& op : graph.operators) {
      if (const auto* o = op.source->builtin_options_as_IfOptions())
        numbers.insert(numbers.end(), {o->then_subgraph_index(), o->else_subgraph_index()});
      if (const auto* o = op.source->builtin_options_as_WhileOptions())
        numbers.insert(numbers.end(), {o->cond_subgraph_index(), o->body_subgraph_index()});
    }
    return numbers;
  }

  void ReadGraph(const tflite::SubGraph& graph, const std::string& what) {
    file_.name = graph.name() ? Text(graph.name()) : "";
    ReadTensors(graph);
    file_.inputs = Numbers(graph.inputs(), what + "'s inputs", 0);
    file_.outputs = Numbers(graph.outputs(), what + "'s outputs", 0);
    for (size_t i = 0; i < SizeOf(graph.operators()); ++i)
      ReadOperator(*graph.operators()->Get(unsigned(i)), i);
  }

  void VerifyBytes() {
    if (bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
      Fail(Code::kUnimplemented, where(), "the file is too large; got {} bytes, expected less than 2 GiB",
           bytes_.size());
    const auto* data = reinterpret_cast<const uint8_t*>(bytes_.data());
    constexpr size_t kHeader = 8;  // an offset and the identifier
    if (bytes_.size() < kHeader || !tflite::ModelBufferHasIdentifier(data)) {
      const FileKind* kind = KindOfFile(bytes_);
      Fail(Code::kDataLoss, where(), "this is no TensorFlow Lite model; got {}, expected a .tflite; try {}",
           kind ? kind->name : "other bytes", kind ? kind->instead_of_model : "to make or download it again");
    }
    flatbuffers::Verifier verifier(data, bytes_.size(), kMostNesting, kMostTables);
    if (!tflite::VerifyModelBuffer(verifier))
      Fail(Code::kDataLoss, where(),
           "the file is truncated or damaged; expected a whole .tflite; try to make or download it again");
    model_ = tflite::GetModel(data);
  }

  // Counts bytes that are copied out of the file. Parts of a file may overlap, so that a small one could ask
  // for copies without end.
  void Spend(size_t bytes) {
    if (bytes > budget_)
      Fail(Code::kInvalidArgument, where(),
           "parts of the file lie on top of each other; try to make it again");
    budget_ -= bytes;
  }

  std::string Text(const flatbuffers::String* text) {
    Spend(text->size());
    return Printable(text->str());
  }

  // Returns a list of numbers of tensors that are from `least` on.
  std::vector<int> Numbers(const flatbuffers::Vector<int32_t>* list, const std::string& what, int least) {
    std::vector<int> numbers;
    if (!list) return numbers;
    Spend(list->size() * sizeof(int32_t));
    for (int32_t number : *list) {
      if (number >= least && number < int64_t(file_.tensors.size())) numbers.push_back(number);
      else
        problems_.Bad(what, "there is no tensor {}; expected {} to {}", number, least,
                      int64_t(file_.tensors.size()) - 1);
    }
    return numbers;
  }

  void ReadTensors(const tflite::SubGraph& graph) {
    const size_t count = SizeOf(graph.tensors());
    Spend(count * sizeof(flatbuffers::uoffset_t));
    NodeNames names;
    for (size_t i = 0; i < count; ++i) {
      const tflite::Tensor& source = *graph.tensors()->Get(unsigned(i));
      TensorInfo& info = file_.tensors.emplace_back();
      info.name = names.Unique(SizeOf(source.name()) ? Text(source.name()) : "tensor");
      try {
        ReadTensor(source, info);
      } catch (const Error& e) {
        problems_.Bad(e);
      }
    }
  }

  void ReadTensor(const tflite::Tensor& source, TensorInfo& info) {
    info.type = DTypeOf(source.type());
    if (info.type == DType::kUnknown)
      info.unsupported = fmt::format("its type is {}", tflite::EnumNameTensorType(source.type()));
    info.complex = source.type() == tflite::TensorType::COMPLEX64;
    if (source.is_variable()) info.unsupported = "it is a variable, which keeps its value from run to run";
    if (!ReadShape(source, info)) return;
    ReadScales(source, info);
    if (info.unsupported.empty()) ReadData(source, info);
  }

  bool ReadShape(const tflite::Tensor& source, TensorInfo& info) {
    const auto* dims = source.shape();
    if (SizeOf(dims) > size_t(Shape::kMaxRank)) {
      info.unsupported = fmt::format("it has {} dimensions", dims->size());
      return false;
    }
    for (size_t i = 0; i < SizeOf(dims); ++i) info.shape.push_back(dims->Get(unsigned(i)));
    const DType type = info.type == DType::kUnknown ? DType::kU8 : info.type;
    if (CheckedElements(info.shape, type, max_value_bytes_) < 0)
      Invalid(info.name,
              "the tensor has impossible dimensions; got {}, expected none negative and at most {} bytes",
              ToString(info.shape), max_value_bytes_);
    return true;
  }

  void ReadScales(const tflite::Tensor& source, TensorInfo& info) {
    const auto* of = source.quantization();
    if (!of || !IsQuantizedType(info.type)) return;
    if (of->other_kind() != 0) info.unsupported = "its quantization is not by scales";
    const size_t count = SizeOf(of->scale()), zeros = SizeOf(of->zero_point());
    if (count == 0) return;
    Spend(count * sizeof(float));
    Scales& scales = info.scales.emplace();
    scales.scale.assign(of->scale()->begin(), of->scale()->end());
    scales.zero.assign(count, 0);
    scales.axis = count == 1 ? 0 : of->quantized_dimension();
    if (count > 1 &&
        (scales.axis < 0 || scales.axis >= info.shape.rank() || info.shape[scales.axis] != int64_t(count)))
      Invalid(info.name, "the tensor's scales do not fit its shape; got {} along axis {} of {}", count,
              scales.axis, ToString(info.shape));
    if (zeros > 1 && zeros != count)
      Invalid(info.name, "the tensor has {} scales and {} zero points", count, zeros);
    const auto [least, most] = RangeOf(info.type);
    for (size_t i = 0; i < count; ++i) {
      if (zeros > 0) scales.zero[i] = At(*of->zero_point(), zeros == 1 ? 0 : i);
      if (!(scales.scale[i] > 0) || !std::isfinite(scales.scale[i]))
        Invalid(info.name, "a scale must be a positive number; got {}", scales.scale[i]);
      if (scales.zero[i] < least || scales.zero[i] > most)
        Invalid(info.name, "a zero point is out of range; got {}, expected {} to {}", scales.zero[i], least,
                most);
    }
  }

  // Returns the bytes of a tensor's data; none: it is computed.
  std::span<const std::byte> BytesOf(const tflite::Tensor& source, const std::string& name) const {
    if (source.buffer() == 0 && SizeOf(model_->buffers()) == 0) return {};
    if (source.buffer() >= SizeOf(model_->buffers()))
      Invalid(name, "there is no buffer {}; got {} buffers", source.buffer(), SizeOf(model_->buffers()));
    const tflite::Buffer& buffer = *model_->buffers()->Get(source.buffer());
    if (buffer.offset() > 1) {
      if (buffer.offset() > bytes_.size() || buffer.size() > bytes_.size() - buffer.offset())
        Invalid(name, "its data lies outside of the file; got {} bytes from {} on, expected at most {}",
                buffer.size(), buffer.offset(), bytes_.size());
      return bytes_.subspan(size_t(buffer.offset()), size_t(buffer.size()));
    }
    if (SizeOf(buffer.data()) == 0) return {};
    return std::as_bytes(std::span(buffer.data()->data(), buffer.data()->size()));
  }

  void ReadData(const tflite::Tensor& source, TensorInfo& info) {
    const std::span<const std::byte> data = BytesOf(source, info.name);
    const bool halves = source.type() == tflite::TensorType::INT4;
    if (data.empty()) {
      if (halves) info.unsupported = "its type is INT4, and it is no constant";
      return;
    }
    if (source.sparsity() && halves) info.unsupported = "it is sparse, and its type is INT4";
    if (source.sparsity()) return ReadSparse(source, data, info);
    const size_t elements = size_t(info.shape.Elements()),
                 expected = halves ? (elements + 1) / 2 : elements * mete::SizeOf(info.type);
    if (data.size() != expected)
      Invalid(info.name, "the tensor's data does not fit its shape; got {} bytes, expected {} ({} {})",
              data.size(), expected, Name(info.type), ToString(info.shape));
    info.constant = halves ? FromHalves(data, info.shape) : TensorAt(data, info.type, info.shape);
  }

  // A sparse tensor may have more zeros than the file has bytes, but not without end: 64 times as many is a
  // guess, above what pruned networks have.
  void ReadSparse(const tflite::Tensor& source, std::span<const std::byte> data, TensorInfo& info) {
    if (!info.unsupported.empty()) return;
    constexpr size_t kMostZeros = 64;
    const size_t cost = size_t(info.shape.Elements()) * mete::SizeOf(info.type) / kMostZeros + data.size();
    if (cost > budget_)
      Invalid(info.name, "sparse tensors have more than {} times as many zeros as the file has bytes; got {}",
              kMostZeros, ToString(info.shape));
    Spend(cost);
    info.constant = DenseOf(*source.sparsity(), data, info.type, info.shape, info.name);
  }

  // The first of two elements is in the lower half of their byte.
  Tensor FromHalves(std::span<const std::byte> data, const Shape& shape) {
    Spend(data.size());
    Tensor bytes(DType::kI8, shape);
    int8_t* to = bytes.mutable_view().as<int8_t>();
    for (int64_t i = 0; i < bytes.elements(); ++i) {
      const auto both = static_cast<uint8_t>(data[size_t(i / 2)]);
      to[i] = static_cast<int8_t>(static_cast<int8_t>(i % 2 == 0 ? both << 4 : both) >> 4);
    }
    return bytes;
  }

  // Writers align data to 16 bytes, but nothing in the format makes sure of it.
  Tensor TensorAt(std::span<const std::byte> data, DType type, const Shape& shape) {
    if (reinterpret_cast<uintptr_t>(data.data()) % mete::SizeOf(type) == 0)
      return Tensor(type, shape, data.data(), owner_);
    if (data.size() >= kLeastSource) return UnalignedTensor(type, shape, data, owner_);
    Spend(data.size());
    Tensor copy(type, shape);
    std::copy(data.begin(), data.end(), static_cast<std::byte*>(copy.mutable_view().data));
    return copy;
  }

  void ReadOperator(const tflite::Operator& source, size_t number) {
    OperatorInfo info;
    info.source = &source;
    const std::string where = fmt::format("operator {}", number);
    if (source.opcode_index() >= SizeOf(model_->operator_codes()))
      return problems_.Bad(where, "there is no operator code {}; got {} codes", source.opcode_index(),
                           SizeOf(model_->operator_codes()));
    const tflite::OperatorCode& code = *model_->operator_codes()->Get(source.opcode_index());
    info.code = std::max(code.builtin_code(), tflite::BuiltinOperator(code.builtin_byte()));
    info.kind = KindOf(info.code, code);
    info.inputs = Numbers(source.inputs(), where, -1);
    info.outputs = Numbers(source.outputs(), where, 0);
    if (source.custom_options())
      info.custom_options = {source.custom_options()->data(), source.custom_options()->size()};
    if (info.outputs.empty()) return problems_.Bad(where, "{} has no output", info.kind);
    file_.operators.push_back(std::move(info));
  }

  const std::span<const std::byte> bytes_;
  const std::shared_ptr<const void> owner_;
  ImportProblems& problems_;
  const int64_t max_value_bytes_;
  size_t budget_;
  const tflite::Model* model_ = nullptr;
  File file_;
};

}  // namespace

File ReadFile(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, ImportProblems& problems,
              int64_t max_value_bytes) {
  return Reader(bytes, std::move(owner), problems, max_value_bytes).Read();
}

}  // namespace mete::tflite_import
