#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace twinjit::call {
void bind(nb::module_ &) {}
} // namespace twinjit::call
