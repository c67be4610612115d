#include "call/function.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace twinjit::call {

void bind(nb::module_ &module) {
  Ref type = makeFunctionType();
  if (!type)
    throw nb::python_error();
  module.attr("Function") = nb::handle(type.get());
  // Functions in caches and globals that the interpreter does not clear keep their images: no leak
  // that a user's stderr should hear of.
  nb::set_leak_warnings(false);
}

} // namespace twinjit::call
