#include <limits>

#include "base/error.h"
#include "base/problems.h"
#include "base/visit_type.h"
#include "serve/grpc_values/grpc_values.h"
#include "serve/protocol/binary_tensor.h"

namespace mete::serve {
namespace {

using inference::InferParameter;
using inference::InferTensorContents;
using inference::ModelInferRequest;
using Input = ModelInferRequest::InferInputTensor;
using Output = ModelInferRequest::InferRequestedOutputTensor;
using MessageParameters = google::protobuf::Map<std::string, InferParameter>;

Parameters ReadParameters(const MessageParameters& message) {
  Parameters parameters;
  for (const auto& [name, value] : message) switch (value.parameter_choice_case()) {
      case InferParameter::kBoolParam: parameters[name] = value.bool_param(); break;
      case InferParameter::kInt64Param: parameters[name] = value.int64_param(); break;
      case InferParameter::kStringParam: parameters[name] = value.string_param(); break;
      case InferParameter::kDoubleParam: parameters[name] = value.double_param(); break;
      case InferParameter::kUint64Param:  // as JSON's readers: a double where an int64_t has no room
        if (value.uint64_param() <= uint64_t{INT64_MAX}) parameters[name] = int64_t(value.uint64_param());
        else parameters[name] = double(value.uint64_param());
        break;
      case InferParameter::PARAMETER_CHOICE_NOT_SET: break;
    }
  return parameters;
}

void CheckElementsCome(const MessageParameters& parameters, const std::string& where) {
  if (parameters.contains("shared_memory_region")) RefuseSharedMemory(where);
}

template <class T>
std::span<const std::byte> BytesOf(const google::protobuf::RepeatedField<T>& field) {
  return std::as_bytes(std::span(field.data(), size_t(field.size())));
}

std::span<const std::byte> BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

std::span<const int64_t> DimsOf(const Input& input) {
  return {input.shape().data(), size_t(input.shape_size())};
}

void CheckCount(const std::string& where, const InputForm& form, int count) {
  if (count != form.elements)
    Invalid(where, "'contents' do not fit the shape; got {} elements for this datatype, expected {} for {}",
            count, form.elements, ToString(form.shape));
}

// Returns a tensor of 8 or 16 bits from elements that a message has in 32.
template <class T, class Wide>
Tensor Narrowed(const std::string& where, const InputForm& form,
                const google::protobuf::RepeatedField<Wide>& field) {
  Tensor tensor(form.type, form.shape);
  T* out = tensor.mutable_view().as<T>();
  for (int i = 0; i < field.size(); ++i) {
    using Limits = std::numeric_limits<T>;
    if (field[i] < Wide(Limits::min()) || field[i] > Wide(Limits::max()))
      Invalid(where, "element {} of 'contents' is no {}; got {}, expected {} to {}", i, DatatypeOf(form.type),
              field[i], Limits::min(), Limits::max());
    out[i] = T(field[i]);
  }
  return tensor;
}

// Reads the elements of the field that is for the datatype.
class Contents {
 public:
  Contents(const std::string& where, const InputForm& form, const InferTensorContents& contents,
           const std::shared_ptr<const void>& owner)
      : where_(where), form_(form), contents_(contents), owner_(owner) {}

  NamedTensor Read() const {
    switch (form_.type) {
      case DType::kUnknown: return Texts();
      case DType::kBool: return AsTheyLie(contents_.bool_contents());
      case DType::kI8: return Narrow<int8_t>(contents_.int_contents());
      case DType::kI16: return Narrow<int16_t>(contents_.int_contents());
      case DType::kI32: return AsTheyLie(contents_.int_contents());
      case DType::kI64: return AsTheyLie(contents_.int64_contents());
      case DType::kU8: return Narrow<uint8_t>(contents_.uint_contents());
      case DType::kU16: return Narrow<uint16_t>(contents_.uint_contents());
      case DType::kU32: return AsTheyLie(contents_.uint_contents());
      case DType::kU64: return AsTheyLie(contents_.uint64_contents());
      case DType::kF32: return AsTheyLie(contents_.fp32_contents());
      case DType::kF64: return AsTheyLie(contents_.fp64_contents());
      default: break;
    }
    Invalid(where_, "'contents' have no field for {}; try raw_input_contents", DatatypeOf(form_.type));
  }

 private:
  template <class T>
  NamedTensor AsTheyLie(const google::protobuf::RepeatedField<T>& field) const {
    CheckCount(where_, form_, field.size());
    return TensorOfBytes(where_, form_, BytesOf(field), owner_);
  }

  template <class T, class Wide>
  NamedTensor Narrow(const google::protobuf::RepeatedField<Wide>& field) const {
    CheckCount(where_, form_, field.size());
    NamedTensor made;
    made.shape = form_.shape;
    made.tensor = Narrowed<T>(where_, form_, field);
    return made;
  }

  NamedTensor Texts() const {
    CheckCount(where_, form_, contents_.bytes_contents_size());
    NamedTensor made;
    made.shape = form_.shape;
    made.texts.assign(contents_.bytes_contents().begin(), contents_.bytes_contents().end());
    return made;
  }

  const std::string& where_;
  const InputForm& form_;
  const InferTensorContents& contents_;
  const std::shared_ptr<const void>& owner_;
};

RequestedOutput ReadOutput(const Output& message, bool binary, TensorNames& names) {
  RequestedOutput output{message.name(), binary, 0};
  const std::string where = names.Add("output", message.name());
  CheckElementsCome(message.parameters(), where);
  const auto classes = message.parameters().find("classification");
  if (classes == message.parameters().end()) return output;
  const InferParameter& count = classes->second;
  if (count.parameter_choice_case() != InferParameter::kInt64Param || count.int64_param() < 1)
    Invalid(where, "'classification' must be an int64_param; got {}, expected 1 or more",
            count.int64_param());
  output.classes = count.int64_param();
  return output;
}

void CheckNumber(const char* what, int got, int most) {
  if (got > most)
    Fail(Code::kResourceExhausted, "request", "{} has too many items; got {}, expected {} at most", what, got,
         most);
}

}  // namespace

InferRequest RequestOf(const ModelInferRequest& message, const RequestBounds& bounds,
                       const std::shared_ptr<const void>& owner) {
  CheckNumber("'inputs'", message.inputs_size(), bounds.tensors);
  CheckNumber("'outputs'", message.outputs_size(), bounds.tensors);
  const bool raw = message.raw_input_contents_size() > 0;
  if (raw && message.raw_input_contents_size() != message.inputs_size())
    Invalid("request", "raw_input_contents are not those of the inputs; got {}, expected {}",
            message.raw_input_contents_size(), message.inputs_size());

  InferRequest request;
  request.id = message.id();
  request.parameters = ReadParameters(message.parameters());
  request.binary_outputs = raw || message.inputs().empty();
  Problems problems;
  TensorNames inputs, outputs;
  InputMemory memory(bounds);
  for (int i = 0; i < message.inputs_size(); ++i)
    problems.Try([&] {
      const Input& input = message.inputs(i);
      const std::string where = inputs.Add("input", input.name());
      CheckElementsCome(input.parameters(), where);
      const InputForm form = memory.Take(where, input.datatype(), DimsOf(input));
      if (raw && input.has_contents())
        Invalid(where, "its elements are there twice; got 'contents' beside raw ones");
      NamedTensor& made = request.inputs.emplace_back(
          raw ? TensorOfBytes(where, form, BytesOf(message.raw_input_contents(i)), owner)
              : Contents(where, form, input.contents(), owner).Read());
      made.name = input.name();
    });
  for (const Output& output : message.outputs())
    problems.Try([&] { request.outputs.push_back(ReadOutput(output, request.binary_outputs, outputs)); });
  problems.ThrowIfAny();
  return request;
}

void CheckLoad(const inference::RepositoryModelLoadRequest& message) {
  for (const auto& [name, value] : message.parameters()) CheckLoadParameter(name);
}

}  // namespace mete::serve
