#include "base/attributes.h"

#include <algorithm>

#include "base/error.h"

namespace mete {
namespace {

template <class T>
const T* Get(const Attributes& attributes, std::string_view name, const char* kind) {
  const Attribute* a = attributes.Find(name);
  if (!a) return nullptr;
  const T* value = std::get_if<T>(a);
  if (!value)
    Invalid(std::string(name), "attribute has the wrong type; got {}, expected {}", ToString(*a), kind);
  return value;
}

template <class T>
const T& ListOrEmpty(const T* list) {
  static const T empty;
  return list ? *list : empty;
}

}  // namespace

const Attribute* Attributes::Find(std::string_view name) const {
  for (const Item& item : items_)
    if (item.first == name) return &item.second;
  return nullptr;
}

int64_t Attributes::Int(std::string_view name, int64_t fallback) const {
  const int64_t* v = Get<int64_t>(*this, name, "an integer");
  return v ? *v : fallback;
}

float Attributes::Float(std::string_view name, float fallback) const {
  const float* v = Get<float>(*this, name, "a float");
  return v ? *v : fallback;
}

std::string_view Attributes::String(std::string_view name, std::string_view fallback) const {
  const std::string* v = Get<std::string>(*this, name, "a string");
  return v ? std::string_view(*v) : fallback;
}

const Ints& Attributes::IntList(std::string_view name) const {
  return ListOrEmpty(Get<Ints>(*this, name, "a list of integers"));
}
const Floats& Attributes::FloatList(std::string_view name) const {
  return ListOrEmpty(Get<Floats>(*this, name, "a list of floats"));
}
const Strings& Attributes::StringList(std::string_view name) const {
  return ListOrEmpty(Get<Strings>(*this, name, "a list of strings"));
}
const Tensor* Attributes::TensorOf(std::string_view name) const {
  return Get<Tensor>(*this, name, "a tensor");
}
GraphPtr Attributes::GraphOf(std::string_view name) const {
  const GraphPtr* graph = Get<GraphPtr>(*this, name, "a graph");
  return graph ? *graph : nullptr;
}

void Attributes::Set(std::string_view name, Attribute value) {
  auto at = std::lower_bound(items_.begin(), items_.end(), name,
                             [](const Item& item, std::string_view n) { return item.first < n; });
  if (at != items_.end() && at->first == name) at->second = std::move(value);
  else items_.insert(at, {std::string(name), std::move(value)});
}

void Attributes::Erase(std::string_view name) {
  std::erase_if(items_, [&](const Item& item) { return item.first == name; });
}

std::string ToString(const Attribute& value) {
  struct Printer {
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(float v) const { return fmt::format("{:g}", v); }
    std::string operator()(const std::string& v) const { return "\"" + v + "\""; }
    std::string operator()(const Ints& v) const { return fmt::format("[{}]", fmt::join(v, ",")); }
    std::string operator()(const Floats& v) const { return fmt::format("[{}]", fmt::join(v, ",")); }
    std::string operator()(const Strings& v) const { return fmt::format("[{}]", fmt::join(v, ",")); }
    std::string operator()(const Tensor& v) const {
      return fmt::format("tensor {} {}", Name(v.type()), ToString(v.shape()));
    }
    std::string operator()(const GraphPtr&) const { return "graph"; }
  };
  return std::visit(Printer{}, value);
}

}  // namespace mete
