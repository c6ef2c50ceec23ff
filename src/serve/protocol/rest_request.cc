#include "serve/protocol/rest_request.h"

#include "base/error.h"
#include "base/json.h"
#include "base/problems.h"
#include "serve/protocol/binary_tensor.h"
#include "serve/protocol/data_lists.h"
#include "serve/protocol/json_elements.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

Json Parse(std::string_view text) {
  try {
    return ParseJson(text, "request");
  } catch (const Json::exception& e) {
    // "parse error at line 1, column 7: syntax error while ...": the lists are cut out, and places are
    // others.
    const std::string reason = ReasonOf(e);
    const size_t place = reason.find(": ");
    Invalid("request", "the body is no JSON; {}",
            Printable(place == reason.npos ? reason : reason.substr(place + 2)));
  }
}

// Returns the value of a key; null: there is none, or it is JSON's null, as which some clients write what
// they leave out.
const Json* Find(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

const Json& Needed(const Json& object, const std::string& where, const char* key) {
  const Json* found = Find(object, key);
  if (!found) Invalid(where, "'{}' is missing", key);
  return *found;
}

const std::string& Text(const Json& j, const std::string& where, const char* what) {
  if (!j.is_string()) Invalid(where, "'{}' must be a string; got a {}", what, j.type_name());
  return j.get_ref<const std::string&>();
}

bool Truth(const Json& j, const std::string& where, const char* what) {
  if (!j.is_boolean()) Invalid(where, "'{}' must be true or false; got a {}", what, j.type_name());
  return j.get<bool>();
}

Parameter ReadParameter(const Json& j, const std::string& name) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_number_float() || (j.is_number_unsigned() && j.get<uint64_t>() > uint64_t{INT64_MAX}))
    return j.get<double>();
  if (j.is_number_integer()) return j.get<int64_t>();
  Invalid("request", "parameter '{}' must be a string, a number, true or false; got a {}", Shown(name),
          j.type_name());
}

// Reads the inputs one after the other, because the elements in bytes follow each other in their order.
class Inputs {
 public:
  Inputs(const RequestBounds& bounds, const std::vector<std::string_view>& lists,
         std::span<const std::byte> bytes, bool has_bytes, const std::shared_ptr<const void>& owner)
      : memory_(bounds), lists_(lists), bytes_(bytes), has_bytes_(has_bytes), owner_(owner) {}

  NamedTensor Read(const Json& j, size_t index) {
    const std::string number = "input " + std::to_string(index);
    Object(j, number, "an input");
    const std::string& name = Text(Needed(j, number, "name"), number, "name");
    const Json* parameters = Find(j, "parameters");
    if (parameters) Object(*parameters, number, "'parameters'");
    const auto bytes = parameters ? TakeBytes(*parameters, "input '" + Shown(name) + "'") : std::nullopt;
    const std::string where = names_.Add("input", name);
    const std::string& datatype = Text(Needed(j, where, "datatype"), where, "datatype");
    const InputForm form = memory_.Take(where, datatype, ReadDims(j, where).dims());
    const Json* data = Find(j, "data");
    if (bytes && data) Invalid(where, "its elements are there twice; got 'data' beside 'binary_data_size'");
    if (!bytes && !data) Invalid(where, "its elements are missing; expected 'data' or 'binary_data_size'");
    NamedTensor made =
        bytes ? TensorOfBytes(where, form, *bytes, owner_) : TensorOfList(where, form, ListOf(*data, where));
    made.name = name;
    return made;
  }

  void CheckAllTaken() const {
    if (!bytes_.empty())
      Invalid("request", "elements in bytes belong to no input; got {} bytes behind those of the last input",
              bytes_.size());
  }

 private:
  // Takes the next elements in bytes, if the parameters say that the input has some. This comes before all
  // else that may be wrong with an input, so that the next one finds its own.
  std::optional<std::span<const std::byte>> TakeBytes(const Json& parameters, const std::string& where) {
    if (Find(parameters, "shared_memory_region")) RefuseSharedMemory(where);
    const Json* size = Find(parameters, "binary_data_size");
    if (!size) return std::nullopt;
    const auto count = size_t(WholeNumber(*size, where, "'binary_data_size'", 0));
    if (!has_bytes_)
      Invalid(where, "'binary_data_size' needs the header Inference-Header-Content-Length, which is missing");
    if (count > bytes_.size())
      Invalid(where, "its bytes are not all in the body; got {}, expected {}", bytes_.size(), count);
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  static Shape ReadDims(const Json& j, const std::string& where) {
    const Json& list = List(Needed(j, where, "shape"), where, "'shape'");
    if (list.size() > size_t(Shape::kMaxRank))
      Invalid(where, "the shape has too many dimensions; got {}, expected at most {}", list.size(),
              Shape::kMaxRank);
    Shape dims;
    for (const Json& dim : list) dims.push_back(WholeNumber(dim, where, "a dimension"));
    return dims;
  }

  // Returns the list that was cut out. Its number is taken for what it is alone where a list was cut out, but
  // any list that follows a key "data" was.
  std::string_view ListOf(const Json& data, const std::string& where) const {
    List(data, where, "'data'");
    if (data.size() != 1 || !data[0].is_number_unsigned() || data[0].get<size_t>() >= lists_.size())
      Invalid(where, "'data' is no list of elements");
    return lists_[data[0].get<size_t>()];
  }

  InputMemory memory_;
  TensorNames names_;
  const std::vector<std::string_view>& lists_;
  std::span<const std::byte> bytes_;  // that no input has taken yet
  const bool has_bytes_;
  const std::shared_ptr<const void>& owner_;
};

RequestedOutput ReadOutput(const Json& j, size_t index, bool binary, TensorNames& names) {
  const std::string number = "output " + std::to_string(index);
  Object(j, number, "an output");
  RequestedOutput output;
  output.binary = binary;
  output.name = Text(Needed(j, number, "name"), number, "name");
  const std::string where = names.Add("output", output.name);
  const Json* parameters = Find(j, "parameters");
  if (!parameters) return output;
  Object(*parameters, where, "'parameters'");
  if (Find(*parameters, "shared_memory_region")) RefuseSharedMemory(where);
  if (const Json* asked = Find(*parameters, "binary_data"))
    output.binary = Truth(*asked, where, "binary_data");
  if (const Json* classes = Find(*parameters, "classification"))
    output.classes = WholeNumber(*classes, where, "'classification'", 1);
  return output;
}

// Calls `read` for each item of an optional list, and adds what is wrong with it to the problems.
template <class Read>
void ReadList(const Json* list, const char* key, int most, Problems& problems, Read&& read) {
  if (!list) return;
  List(*list, "request", key);
  if (list->size() > size_t(most))
    Fail(Code::kResourceExhausted, "request", "{} has too many items; got {}, expected {} at most", key,
         list->size(), most);
  for (size_t i = 0; i < list->size(); ++i) problems.Try([&] { read((*list)[i], i); });
}

void ReadParameters(const Json* parameters, InferRequest& request) {
  if (!parameters) return;
  for (const auto& [name, value] : Object(*parameters, "request", "'parameters'").items()) {
    if (name == "binary_data_output") request.binary_outputs = Truth(value, "request", name.c_str());
    else if (!value.is_null()) request.parameters[name] = ReadParameter(value, name);
  }
}

Json ParseOptional(std::string_view body) {
  if (body.empty()) return Json::object();
  Json j = Parse(CutDataLists(body, {}).text);
  Object(j, "request", "the body");
  return j;
}

}  // namespace

InferRequest ParseInfer(std::span<const std::byte> body, std::optional<size_t> json_bytes,
                        const RequestBounds& bounds, const std::shared_ptr<const void>& owner) {
  if (json_bytes.value_or(0) > body.size())
    Invalid("request", "the body is shorter than Inference-Header-Content-Length; got {} bytes, expected {}",
            body.size(), *json_bytes);
  const size_t size = json_bytes.value_or(body.size());
  const CutJson cut = CutDataLists({reinterpret_cast<const char*>(body.data()), size}, bounds);
  const Json head = Parse(cut.text);
  Object(head, "request", "the body");

  InferRequest request;
  Problems problems;
  problems.Try([&] {
    if (const Json* id = Find(head, "id")) request.id = Text(*id, "request", "id");
  });
  problems.Try([&] { ReadParameters(Find(head, "parameters"), request); });
  Inputs inputs(bounds, cut.lists, body.subspan(size), json_bytes.has_value(), owner);
  problems.Try([&] {
    ReadList(&Needed(head, "request", "inputs"), "'inputs'", bounds.tensors, problems,
             [&](const Json& j, size_t i) { request.inputs.push_back(inputs.Read(j, i)); });
  });
  TensorNames names;
  problems.Try([&] {
    ReadList(Find(head, "outputs"), "'outputs'", bounds.tensors, problems, [&](const Json& j, size_t i) {
      request.outputs.push_back(ReadOutput(j, i, request.binary_outputs, names));
    });
  });
  if (!problems.any()) problems.Try([&] { inputs.CheckAllTaken(); });
  problems.ThrowIfAny();
  return request;
}

bool ParseIndex(std::string_view body) {
  const Json j = ParseOptional(body);
  const Json* ready = Find(j, "ready");
  return ready && Truth(*ready, "request", "ready");
}

void CheckLoad(std::string_view body) {
  const Json j = ParseOptional(body);
  const Json* parameters = Find(j, "parameters");
  if (!parameters) return;
  for (const auto& [name, value] : Object(*parameters, "request", "'parameters'").items())
    CheckLoadParameter(name);
}

}  // namespace mete::serve
