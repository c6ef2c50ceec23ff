// mete::Error becomes the class of mete/errors.py for its code.
#include <exception>
#include <string_view>

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
      const std::string_view text = error.what();  // it may have the bytes of a path
      const auto message =
          nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "backslashreplace"));
      PyErr_SetObject(of_code.ptr(), message.ptr());
    } catch (nb::python_error& failed) {
      failed.restore();
    }
  }
}

}  // namespace

void BindErrors(nb::module_&) { nb::register_exception_translator(Translate); }

}  // namespace mete::python
