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
    nb::module_::import_("mlir._mlir_libs");
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
