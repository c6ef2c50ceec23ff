#include <nanobind/nanobind.h>

#include "binding.h"
#include "mete/device.h"

NB_MODULE(_mete, module) {
  module.doc() = "The engine of Mete: use it through the package `mete`.";
  module.attr("__version__") = METE_VERSION;
  mete::python::BindErrors(module);
  mete::python::BindTraces(module);
  mete::python::BindModels(module);
  mete::python::BindPools(module);
  mete::python::BindSessions(module);
  mete::python::BindPictures(module);
}
