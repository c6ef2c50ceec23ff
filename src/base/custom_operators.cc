#include "base/custom_operators.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/problems.h"

namespace mete {
namespace {

std::string FullName(std::string_view domain, std::string_view name) {
  return std::string(domain) + "." + std::string(name);
}

struct Registered {
  std::mutex mutex;
  std::map<std::string, CustomOperator, std::less<>> operators;  // by full name; none is ever removed
  std::set<void*> libraries;                                     // that were loaded
};

Registered& All() {
  static Registered* const all = new Registered;  // sessions may run until the process ends
  return *all;
}

void Check(const CustomOperator& custom) {
  const std::string where = FullName(custom.domain, custom.name);
  const bool ours =
      custom.domain == "ai.onnx" || custom.domain == "mete" || custom.domain.starts_with("mete.");
  if (custom.domain.empty() || ours)
    Invalid(where,
            "an operator cannot have this domain; got '{}', expected one of your own, such as "
            "my.company",
            custom.domain);
  if (custom.name.empty() || custom.name.find('.') != custom.name.npos)
    Invalid(where,
            "cannot be the name of an operator; got '{}', expected letters without a dot, such as Twice",
            custom.name);
  if (!custom.shapes || !custom.kernel)
    Invalid(where, "the operator has no {}; expected a function", custom.shapes ? "kernel" : "shapes");
  if (All().operators.contains(where))
    Fail(Code::kFailedPrecondition, where,
         "the operator is registered already; got another one, expected one of each name; try another "
         "domain or name");
}

// Keeps the operators of a library until it is known whether all of them are good.
class PendingOperators final : public OperatorRegistry {
 public:
  explicit PendingOperators(const std::string& path) : path_(path) {}
  void AddOf(int version, CustomOperator&& custom) override {
    if (version != kOperatorsVersion)
      Fail(Code::kFailedPrecondition, path_,
           "the library was built for other headers; got version {}, expected {}; try to build it again",
           version, kOperatorsVersion);
    pending_.push_back(std::move(custom));
  }
  std::vector<CustomOperator>& all() { return pending_; }

 private:
  const std::string& path_;
  std::vector<CustomOperator> pending_;
};

// Rethrows the exception that is handled. One of another library becomes an Error, whose message begins with
// `what`.
[[noreturn]] void RethrowAsError(const std::string& where, const char* what) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    Fail(Code::kInternal, where, "{}: {}", what, Printable(e.what()));
  } catch (...) {
    Fail(Code::kInternal, where, "{} with an exception that is no std::exception", what);
  }
}

void Register(const std::string& path, void* function, OperatorRegistry& to) {
  try {
    reinterpret_cast<void (*)(OperatorRegistry&)>(function)(to);
  } catch (...) {
    RethrowAsError(path, "the library's registration of its operators failed");
  }
}

void AddAll(std::vector<CustomOperator>& operators) {
  Problems problems;
  std::set<std::string> names;
  for (const CustomOperator& custom : operators)
    problems.Try([&] {
      Check(custom);
      if (!names.insert(FullName(custom.domain, custom.name)).second)
        Invalid(FullName(custom.domain, custom.name),
                "the library adds the operator twice; got a second one, expected one of each name");
    });
  problems.ThrowIfAny();
  for (CustomOperator& custom : operators) {
    std::string name = FullName(custom.domain, custom.name);
    All().operators.emplace(std::move(name), std::move(custom));
  }
}

}  // namespace

void RegisterOperator(CustomOperator custom) {
  const std::lock_guard lock(All().mutex);
  Check(custom);
  std::string name = FullName(custom.domain, custom.name);
  All().operators.emplace(std::move(name), std::move(custom));
}

void LoadOperators(const std::string& path) {
  // A path without a slash would be looked for in the folders of the system.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) Fail(Code::kNotFound, path, "the library of operators cannot be loaded: {}", dlerror());
  {
    const std::lock_guard lock(All().mutex);
    if (All().libraries.contains(library)) return;
  }
  void* const symbol = dlsym(library, "mete_register_operators");
  if (!symbol)
    Invalid(path,
            "the library has no operators; expected the function mete_register_operators; try "
            "mete/custom_operator.h");
  // The library's code runs without the lock, as it may register operators itself.
  PendingOperators pending(path);
  Register(path, symbol, pending);
  if (pending.all().empty()) Invalid(path, "the library adds no operators; got none, expected one or more");
  const std::lock_guard lock(All().mutex);
  if (All().libraries.contains(library)) return;  // another thread was sooner
  AddAll(pending.all());
  All().libraries.insert(library);
}

const CustomOperator* FindCustom(std::string_view domain, std::string_view name) {
  const std::lock_guard lock(All().mutex);
  const auto at = All().operators.find(FullName(domain, name));
  return at == All().operators.end() ? nullptr : &at->second;
}

const CustomOperator& CustomOf(const Attributes& attributes) {
  const std::string_view name = attributes.String(kCustomName, "");
  const std::lock_guard lock(All().mutex);
  const auto at = All().operators.find(name);
  if (at == All().operators.end())
    Fail(Code::kUnimplemented, std::string(name),
         "the operator is not registered in this process; try the "
         "process that has loaded the model");
  return at->second;
}

void RethrowOfCustom(const CustomOperator& custom) {
  RethrowAsError(FullName(custom.domain, custom.name), "the operator failed");
}

const Attribute* CustomAttributes::Find(std::string_view name) const {
  const std::string_view prefix = kCustomPrefix;
  for (const Attributes::Item& item : all_)
    if (item.first.starts_with(prefix) && std::string_view(item.first).substr(prefix.size()) == name)
      return &item.second;
  return nullptr;
}

template <class T>
const T* CustomAttributes::Get(std::string_view name, const char* type) const {
  const Attribute* const found = Find(name);
  if (!found) return nullptr;
  const T* const value = std::get_if<T>(found);
  if (!value)
    Invalid(std::string(name), "the attribute has another type; got {}, expected {}", ToString(*found), type);
  return value;
}

int64_t CustomAttributes::Int(std::string_view name, int64_t fallback) const {
  const auto* value = Get<int64_t>(name, "an integer");
  return value ? *value : fallback;
}
float CustomAttributes::Float(std::string_view name, float fallback) const {
  const auto* value = Get<float>(name, "a number");
  return value ? *value : fallback;
}
std::string_view CustomAttributes::String(std::string_view name, std::string_view fallback) const {
  const auto* value = Get<std::string>(name, "a text");
  return value ? std::string_view(*value) : fallback;
}
std::span<const int64_t> CustomAttributes::Ints(std::string_view name) const {
  const auto* value = Get<mete::Ints>(name, "integers");
  return value ? std::span<const int64_t>(*value) : std::span<const int64_t>();
}
std::span<const float> CustomAttributes::Floats(std::string_view name) const {
  const auto* value = Get<mete::Floats>(name, "numbers");
  return value ? std::span<const float>(*value) : std::span<const float>();
}
std::span<const std::string> CustomAttributes::Strings(std::string_view name) const {
  const auto* value = Get<mete::Strings>(name, "texts");
  return value ? std::span<const std::string>(*value) : std::span<const std::string>();
}
const Tensor* CustomAttributes::TensorOf(std::string_view name) const {
  return Get<Tensor>(name, "a tensor");
}

}  // namespace mete
