// Functions and objects of Python in the hands of the library, whose threads do not have the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <utility>

namespace mete::python {

// Returns a function that any thread may call. What `tell` raises is reported as unraisable, because the
// library's threads have no caller that could get it; nothing is told once the interpreter ends.
template <class... Arguments>
std::function<void(Arguments...)> ForAnyThread(std::function<void(Arguments...)> tell) {
  return [tell = std::move(tell)](Arguments... arguments) {
    const nanobind::detail::cleanup_guard with_gil;
    if (!with_gil) return;
    try {
      tell(arguments...);
    } catch (nanobind::python_error& error) {
      error.discard_as_unraisable("a function that Mete tells something");
    }
  };
}

// Returns an owner of `object` that any thread may drop. It is left alone once the interpreter ends.
template <class Object>
std::shared_ptr<const void> OwnerOf(Object object) {
  return std::shared_ptr<const void>(new Object(std::move(object)), [](Object* held) {
    if (const nanobind::detail::cleanup_guard with_gil; with_gil) delete held;
  });
}

template <class Function>
auto WithoutGil(Function function) {
  const nanobind::gil_scoped_release released;
  return function();
}

}  // namespace mete::python
