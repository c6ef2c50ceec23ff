// mete::Error becomes the class of mete/errors.py for its code.
#include <exception>

#include "binding.h"
#include "mete/error.h"

namespace mete::python {

namespace nb = nanobind;

namespace {

void Translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    try {
      const nb::object of_code = nb::module_::import_("mete.errors").attr("class_of")(CodeName(error.code()));
      PyErr_SetString(of_code.ptr(), error.what());
    } catch (nb::python_error& failed) {
      failed.restore();
    }
  }
}

}  // namespace

void BindErrors(nb::module_&) { nb::register_exception_translator(Translate); }

}  // namespace mete::python
