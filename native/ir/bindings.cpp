// Python module of the part that needs MLIR: refuses another MLIR, and binds what this folder has.
#include "ir/bindings.h"
#include "codegen/host.h"
#include "common/activity.h"
#include "common/raise.h"
#include "forks/work.h"

#include "mlir-c/IR.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

/// Refuse libraries other than those whose builds are in the cache's keys: files may have been
/// replaced since twinjit was imported, or the loader may have found others than were looked at.
void checkKeys(const std::string &mlir) {
  nb::object known = nb::module_::import_("twinjit.toolchain").attr("TOOLCHAIN");
  std::string own = libraryOf(reinterpret_cast<const void *>(&checkKeys));
  for (nb::handle entry : known) {
    std::string name = nb::cast<std::string>(entry[0]);
    if (name != "libMLIR" && name != "_mlir")
      continue;
    std::string path = name == "libMLIR" ? mlir : own;
    if (unwrap(libraryIdentity(path)) == nb::cast<std::string>(entry[1]))
      continue;
    std::string message = path + " is not the build that twinjit found when it was imported; it "
                                 "was replaced meanwhile: restart the process";
    PyErr_SetString(PyExc_ImportError, message.c_str());
    throw nb::python_error();
  }
}

/// Refuse an MLIR other than the one compiled against.
void checkBuild() {
  std::string path = libraryOf(reinterpret_cast<const void *>(&mlirContextDestroy));
  checkKeys(path);
  std::string identity = unwrap(libraryIdentity(path));
  std::string built = TWINJIT_MLIR_BUILD;
  if (built.empty() || identity == built)
    return;
  std::string message = "twinjit was built against MLIR build " + built + ", but " + path +
                        " is build " + identity +
                        "; install the version that twinjit requires, or rebuild twinjit";
  PyErr_SetString(PyExc_ImportError, message.c_str());
  throw nb::python_error();
}

} // namespace
} // namespace twinjit

NB_MODULE(_mlir, m) {
  using namespace twinjit;
  checkBuild();
  useSharedForkGate();
  shareHandlers();
  m.def(
      "note_activity",
      [](const nb::capsule &page) {
        activity = static_cast<Activity *>(page.data("twinjit.activity"));
      },
      "page"_a, nb::sig("def note_activity(page: object) -> None"),
      "Note phases and passes on the page of a worker, given what "
      "``_llvm.install_crash_handlers`` returned. Holds the GIL.");
  bindIdentity(m);
  bindLive(m);
  bindPipeline(m);
  bindPool(m);
  bindProgram(m);
}
