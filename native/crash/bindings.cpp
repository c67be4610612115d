// Python face of what is told of a crash; twinjit.workers uses it. Every entry point holds the GIL.
#include "common/bytes_python.h"
#include "common/deep_stack.h"
#include "crash/handlers.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit::crash {
namespace {

template <size_t N> nb::bytes textToPython(const char (&text)[N]) {
  return nb::bytes(text, strnlen(text, N));
}

nb::tuple pageToPython(const nb::bytes &data) {
  Page page = {};
  std::memcpy(&page, data.c_str(), std::min(data.size(), sizeof(Page)));
  // What a damaged worker wrote may be any bytes, of which a bool may not consist.
  auto isSet = [](const bool &flag) { return *reinterpret_cast<const char *>(&flag) != 0; };
  return nb::make_tuple(textToPython(page.activity.phase), textToPython(page.activity.pass),
                        page.signal, isSet(page.isStackOverflow), isSet(page.isOutOfMemory));
}

/// Not a tail call: each call needs a frame, in which the next one's result is used.
__attribute__((noinline)) uint64_t useStack(volatile uint64_t *above) {
  volatile uint64_t here[64];
  here[0] = *above + 1;
  return here[0] ? useStack(here) + here[0] : 0; // there is no stack for the 0
}

} // namespace

void bind(nb::module_ &module) {
  module.def(
      "install_crash_handlers",
      [](int fd) {
        Page *page = install(fd);
        if (!page) {
          PyErr_SetFromErrno(PyExc_OSError);
          throw nb::python_error();
        }
        return nb::capsule(&page->activity, "twinjit.activity");
      },
      "fd"_a, nb::sig("def install_crash_handlers(fd: int) -> object"),
      "Map the page of a descriptor, and have all that ends this process noted there; once in a "
      "process. Returns what ``_mlir.note_activity`` takes. Raises OSError.");
  module.def("read_crash_page", &pageToPython, "data"_a,
             nb::sig("def read_crash_page(data: bytes) -> tuple[bytes, bytes, int, bool, bool]"),
             "What is noted on a page: phase, pass, signal, whether a stack had no more room, "
             "whether memory had run out.");
  module.attr("CRASH_PAGE_BYTES") = sizeof(Page);
  module.def(
      "note_phase", [](const std::string &phase) { notePhase(phase); }, "phase"_a,
      "Note that a phase begins, where this is a worker.");
  module.def(
      "end_out_of_memory", [] { endOutOfMemory(); },
      nb::sig("def end_out_of_memory() -> typing.NoReturn"),
      "Note that memory has run out, and end the process at once.");
  module.def(
      "overflow_deep_stack",
      [](size_t bytes) {
        uint64_t bottom = 0;
        runWithStack(bytes, [&] { useStack(&bottom); });
      },
      "bytes"_a,
      "Use up the stack that LLVM's readers run on, to try what is told of it: no input is known "
      "that does.");
}

} // namespace twinjit::crash
