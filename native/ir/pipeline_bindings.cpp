// Python face of pass pipelines. Every entry point says what it does with the GIL.
#include "forks/work.h"
#include "ir/bindings.h"
#include "ir/context_pool.h"
#include "ir/pipeline.h"

#include "llvm/Support/Path.h"

#include <link.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

constexpr llvm::StringLiteral kDeadlock = "_DeadlockError"; // of importlib, which hides it

/// Whether another package's bindings are loaded that share nanobind's domain with MLIR's own.
///
/// Upstream defect. Versions: MLIR 22's bindings beside those of IREE 3.13. Trigger: both keep the
/// default domain, "mlir". Symptom: whichever is imported second finds its types taken; with one
/// SONAME, libnanobind-mlir.so, the import fails, with two it ends the process. Remove when: IREE's
/// have a domain of their own.
bool holdsTheirTypes() {
  auto isOthers = [](dl_phdr_info *info, size_t, void *) -> int {
    llvm::StringRef path = info->dlpi_name;
    llvm::StringRef name = llvm::sys::path::filename(path);
    return (name == "libnanobind-mlir.so" || name == "libnanobind-abi3-mlir.so") &&
           !path.contains("/mlir/_mlir_libs/");
  };
  return dl_iterate_phdr(isOthers, nullptr) != 0;
}

/// Import MLIR's own bindings, whichever way other threads import them at this moment.
///
/// CPython locks a module before its package, while the bindings' package imports a module of its
/// own: of two threads that start with one each, CPython fails the one that closes the circle. We
/// start where programs start, with `mlir.ir` if another thread is at it; but else not with that,
/// which imports NumPy, whose threads a process that forks cannot have. If it is us who fail, the
/// other thread can now go on, and is waited for.
void importBindings() {
  constexpr int kMaxTries = 16; // each lets another thread go on
  for (int tries = 1;; ++tries) {
    try {
      nb::dict known = nb::module_::import_("sys").attr("modules");
      bool isBegun = known.contains("mlir.ir");
      nb::module_::import_(isBegun ? "mlir.ir" : "mlir._mlir_libs._mlir");
      nb::module_::import_("mlir._mlir_libs"); // ends after that module, and registers passes
      return;
    } catch (nb::python_error &error) {
      if (tries == kMaxTries || nb::cast<std::string>(error.type().attr("__name__")) != kDeadlock)
        throw;
    }
  }
}

/// Have MLIR's own bindings, where they can be loaded, register upstream's passes.
///
/// Upstream defect. Versions: MLIR 22 with assertions. Trigger: registerAllPasses() called twice in
/// a process, by us and by the bindings' import, in either order. Symptom: "Pass pipeline …
/// registered multiple times" ends the process. Remove when: registering a pipeline twice is
/// harmless.
///
/// They cannot be loaded where IREE's are (see holdsTheirTypes), nor can they be later, so that
/// registerPasses() may do it for good.
void registerUpstreamPasses() {
  if (holdsTheirTypes())
    return;
  try {
    importBindings();
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError))
      throw;
  }
}

nb::tuple identifyToPython(const std::string &text) {
  CompilerWork work(Work::Compile, Gil::Hold);
  loadPasses();
  PipelineIdentity identity =
      unwrap(withRoom(kStackForCompiling, [&] { return identifyPipeline(text); }));
  nb::dict libraries;
  for (const auto &[path, build] : identity.libraries)
    libraries[path.c_str()] = build;
  return nb::make_tuple(identity.canonical, identity.isAbbreviated, identity.fileReader, libraries);
}

} // namespace

void loadPasses() {
  static bool areLoaded = false; // guarded by the GIL
  if (areLoaded)
    return;
  registerUpstreamPasses();
  registerPasses();
  areLoaded = true;
}

void bindPipeline(nb::module_ &m) {
  m.def(
      "identify_pipeline", &identifyToPython, "text"_a,
      nb::sig("def identify_pipeline(text: str) -> tuple[str, bool, str, dict[str, str]]"),
      "Canonical text of a pass pipeline; whether it names registered pipelines, so that the text "
      "itself counts too; the pass in it that reads files, if any; and the build identities, by "
      "path, of the libraries its passes come from, other than MLIR's and ours. Holds the GIL.");
}

} // namespace twinjit
