// Named attributes of a node: plain values, few per node. A lookup by name allocates no memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mete/tensor.h"

namespace mete {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
// The body of a control flow operator (graph/bodies.h), which copies of a node share.
struct Graph;
using GraphPtr = std::shared_ptr<const Graph>;
using Attribute = std::variant<int64_t, float, std::string, Ints, Floats, Strings, Tensor, GraphPtr>;

class Attributes {
 public:
  using Item = std::pair<std::string, Attribute>;

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const Attribute* Find(std::string_view name) const;

  // Each getter returns the fallback if the attribute is absent, and throws INVALID_ARGUMENT if the attribute
  // has another type.
  int64_t Int(std::string_view name, int64_t fallback) const;
  float Float(std::string_view name, float fallback) const;
  std::string_view String(std::string_view name, std::string_view fallback) const;
  const Ints& IntList(std::string_view name) const;        // empty if absent
  const Floats& FloatList(std::string_view name) const;    // empty if absent
  const Strings& StringList(std::string_view name) const;  // empty if absent
  const Tensor* TensorOf(std::string_view name) const;     // null if absent
  GraphPtr GraphOf(std::string_view name) const;           // null if absent

  void Set(std::string_view name, Attribute value);  // replaces an attribute of the same name
  void Erase(std::string_view name);

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }

 private:
  std::vector<Item> items_;  // sorted by name, so that text forms and comparisons are stable
};

std::string ToString(const Attribute& value);

}  // namespace mete
