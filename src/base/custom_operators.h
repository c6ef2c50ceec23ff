// The operators that the program has registered (mete/custom_operator.h).
#pragma once

#include <string_view>

#include "base/attributes.h"
#include "mete/custom_operator.h"

namespace mete {

// All nodes of registered operators have this operator in a Graph. Their own name is an attribute, and those
// of the file have names with a prefix, so that no pass takes one for its own.
inline constexpr const char* kCustomOperator = "mete.Custom";
inline constexpr const char* kCustomName = "mete_operator";  // "my.company.Twice"
inline constexpr const char* kCustomPrefix = "custom.";

// Returns the operator; null if none is registered. The pointer stays valid.
const CustomOperator* FindCustom(std::string_view domain, std::string_view name);

// Returns the operator of a node of kCustomOperator. Error UNIMPLEMENTED if it is not registered here, as in
// a process that was sent the node.
const CustomOperator& CustomOf(const Attributes& attributes);

// The attributes of a node of kCustomOperator, by the names that they have in the file.
class CustomAttributes final : public OperatorAttributes {
 public:
  explicit CustomAttributes(const Attributes& all) : all_(all) {}

  bool Has(std::string_view name) const override { return Find(name) != nullptr; }
  int64_t Int(std::string_view name, int64_t fallback) const override;
  float Float(std::string_view name, float fallback) const override;
  std::string_view String(std::string_view name, std::string_view fallback) const override;
  std::span<const int64_t> Ints(std::string_view name) const override;
  std::span<const float> Floats(std::string_view name) const override;
  std::span<const std::string> Strings(std::string_view name) const override;
  const Tensor* TensorOf(std::string_view name) const override;

 private:
  const Attribute* Find(std::string_view name) const;
  template <class T>
  const T* Get(std::string_view name, const char* type) const;

  const Attributes& all_;
};

// Throws the current exception of a function of the operator as an Error. Call it within a catch block.
[[noreturn]] void RethrowOfCustom(const CustomOperator& custom);

}  // namespace mete
