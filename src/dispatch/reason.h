// The way in which a function says that no fast kernel computes a node, and why.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace mete {

// An empty optional or a null pointer, whatever the function returns.
struct Nothing {
  template <class T>
  operator std::optional<T>() const {
    return std::nullopt;
  }
  template <class T>
  operator std::unique_ptr<T>() const {
    return nullptr;
  }
};

// Writes the reason to `why`: return No("not f32", why);
inline Nothing No(std::string reason, std::string* why) {
  *why = std::move(reason);
  return {};
}

}  // namespace mete
