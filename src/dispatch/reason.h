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

// Why a node whose kernels read images with their channels last does not: by the rank of its first input.
inline const char* WhyNotNhwc(int rank) {
  return rank == 5 ? "a volume that no pass has written as slices" : "not in NHWC";
}

}  // namespace mete
