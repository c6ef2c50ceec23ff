// What the files of this folder add to the module `mete._mete`. Each is a thin face of public headers.
#pragma once

#include <nanobind/nanobind.h>

namespace mete::python {

void BindErrors(nanobind::module_& module);
void BindTraces(nanobind::module_& module);  // Trace, CancelToken, Plan
void BindModels(nanobind::module_& module);
void BindPools(nanobind::module_& module);
void BindSessions(nanobind::module_& module);
void BindPictures(nanobind::module_& module);

}  // namespace mete::python
