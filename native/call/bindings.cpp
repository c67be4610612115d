#include "call/function.h"
#include "call/signature.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

namespace nb = nanobind;

namespace twinjit::call {

void bind(nb::module_ &module) {
  Ref type = makeFunctionType();
  if (!type)
    throw nb::python_error();
  module.attr("Function") = nb::handle(type.get());
  module.def(
      "check_convention",
      [](const std::string &name, const nb::sequence &arguments, const nb::sequence &results,
         const nb::tuple &slots) {
        try {
          readSignature(name, arguments, results, slots);
        } catch (const std::invalid_argument &mismatch) {
          return std::string(mismatch.what());
        }
        return std::string();
      },
      nb::arg("name"), nb::arg("arguments"), nb::arg("results"), nb::arg("slots"),
      nb::sig("def check_convention(name: str, arguments: collections.abc.Sequence[object], "
              "results: collections.abc.Sequence[object], slots: tuple[int, int] | None) -> str"),
      "Why ``Function`` would refuse a description (its parameters are the same); empty where it "
      "would not. Holds the GIL.");
  // Functions in caches and globals that the interpreter does not clear keep their images: no leak
  // that a user's stderr should hear of.
  nb::set_leak_warnings(false);
}

} // namespace twinjit::call
