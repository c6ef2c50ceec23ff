// Structs of Mete as dicts of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <utility>

namespace mete::python {

inline nanobind::dict DictOf(std::initializer_list<std::pair<const char*, nanobind::object>> items) {
  nanobind::dict dict;
  for (const auto& [key, value] : items) dict[key] = value;
  return dict;
}

}  // namespace mete::python
