// Python face of the part that needs MLIR. Every entry point says what it does with the GIL.
#include "codegen/host.h"
#include "common/gil.h"
#include "common/raise.h"
#include "ir/foreign.h"
#include "ir/identity.h"
#include "ir/pipeline.h"
#include "ir/program.h"

#include "mlir-c/Bindings/Python/Interop.h"
#include "mlir/CAPI/IR.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

/// By reference: a copy would count references, which needs the GIL.
llvm::StringRef view(const nb::bytes &data) { return {data.c_str(), data.size()}; }

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

/// Have MLIR's own bindings, where they can be loaded, register upstream's passes.
///
/// Upstream defect. Versions: MLIR 22 with assertions. Trigger: registerAllPasses() called twice in
/// a process, by us and by the bindings' import, in either order. Symptom: "Pass pipeline …
/// registered multiple times" ends the process. Remove when: registering a pipeline twice is
/// harmless.
///
/// They cannot be loaded where another package's bindings carry libraries of the same SONAME
/// (IREE's libnanobind-mlir.so); nor can they be later, so that registerPasses() may do it for
/// good.
void registerUpstreamPasses() {
  try {
    nb::module_::import_("mlir._mlir_libs");
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError))
      throw;
  }
}

/// Before pipelines are read or run. Not at import: fingerprints need no passes, and whoever wants
/// no more may load other packages' bindings afterwards.
void loadPasses() {
  static bool areLoaded = false; // guarded by the GIL
  if (areLoaded)
    return;
  registerUpstreamPasses();
  registerPasses();
  areLoaded = true;
}

/// The operation behind a `_CAPIPtr` capsule of `mlir.ir` (a Module's or an Operation's).
mlir::Operation *fromCapsule(const nb::object &capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), MLIR_PYTHON_CAPSULE_MODULE))
    return unwrap(mlirModuleGetOperation(mlirPythonCapsuleToModule(capsule.ptr())));
  if (PyCapsule_IsValid(capsule.ptr(), MLIR_PYTHON_CAPSULE_OPERATION))
    return unwrap(mlirPythonCapsuleToOperation(capsule.ptr()));
  raise({Kind::Unsupported, "not a module or operation of the MLIR that twinjit is built on; hand "
                            "over its text, str(module), instead"});
}

/// Releases the GIL, unless the operation's context is in single-threaded mode: then only the GIL
/// keeps the bindings' other threads from creating attributes in it meanwhile.
class ReleaseFor {
public:
  explicit ReleaseFor(mlir::Operation *operation) {
    if (operation->getContext()->isMultithreadingEnabled())
      released.emplace();
  }

private:
  std::optional<WithoutGil> released;
};

nb::bytes toBytes(const Digest &digest) { return nb::bytes(digest.data(), digest.size()); }

nb::bytes fingerprintLive(const nb::object &capsule) {
  mlir::Operation *operation = fromCapsule(capsule);
  Outcome<Digest> digest = [&] {
    ReleaseFor released(operation);
    return fingerprint(operation);
  }();
  return toBytes(unwrap(std::move(digest)));
}

Program transfer(const nb::object &capsule) {
  mlir::Operation *operation = fromCapsule(capsule);
  Outcome<Program> program = [&] {
    ReleaseFor released(operation);
    return Program::transfer(operation);
  }();
  return unwrap(std::move(program));
}

Program parse(const nb::bytes &source, const std::string &name, bool allowUnregistered) {
  llvm::StringRef text = view(source); // immutable, and held by the caller
  Outcome<Program> program = [&] {
    WithoutGil released;
    return Program::parse(text, name, allowUnregistered);
  }();
  return unwrap(std::move(program));
}

Program parseForeignText(const nb::bytes &source, const std::string &name) {
  llvm::StringRef text = view(source);
  Outcome<Program> program = [&] {
    WithoutGil released;
    return parseForeign(text, name);
  }();
  return unwrap(std::move(program));
}

nb::tuple unknownToPython(const Program &program) {
  Unknown unknown = [&] {
    WithoutGil released;
    return findUnknown(program.module());
  }();
  auto list = [](const std::vector<std::string> &texts) {
    nb::list result;
    for (const std::string &text : texts)
      result.append(decoded(text));
    return result;
  };
  return nb::make_tuple(list(unknown.operations), list(unknown.dialects), list(unknown.properties),
                        list(unknown.references));
}

nb::dict toPython(const Value &value) {
  nb::dict result;
  result["kind"] = value.kind;
  result["dtype"] = value.dtype;
  result["shape"] = value.shape;
  result["strides"] = value.strides;
  result["offset"] = value.offset;
  result["text"] = value.text;
  result["read_only"] = value.readOnly;
  return result;
}

nb::dict toPython(const Signature &signature) {
  nb::dict result;
  nb::list arguments, results;
  for (const Value &value : signature.arguments)
    arguments.append(toPython(value));
  for (const Value &value : signature.results)
    results.append(toPython(value));
  result["name"] = signature.name;
  result["arguments"] = arguments;
  result["results"] = results;
  result["uncallable"] = signature.uncallable;
  return result;
}

nb::tuple identifyToPython(const std::string &text) {
  loadPasses();
  PipelineIdentity identity = unwrap(identifyPipeline(text));
  nb::dict libraries;
  for (const auto &[path, build] : identity.libraries)
    libraries[path.c_str()] = build;
  return nb::make_tuple(identity.canonical, identity.isAbbreviated, identity.fileReader, libraries);
}

nb::tuple lowerToPython(Program &program, const std::string &pipeline, bool trusted) {
  loadPasses();
  Outcome<Lowered> lowered = [&] {
    WithoutGil released;
    return lower(program, pipeline, trusted);
  }();
  Lowered result = unwrap(std::move(lowered));
  return nb::make_tuple(nb::bytes(result.bitcode.data(), result.bitcode.size()), result.passSeconds,
                        result.translateSeconds);
}

} // namespace
} // namespace twinjit

NB_MODULE(_mlir, m) {
  using namespace twinjit;
  checkBuild();

  m.def(
      "fingerprint", &fingerprintLive, "capsule"_a,
      nb::sig("def fingerprint(capsule: object) -> bytes"),
      "Fingerprint (32 bytes) of a live module or operation, given its ``_CAPIPtr``. Releases the "
      "GIL unless the operation's context has multithreading disabled.");

  m.def(
      "identify_pipeline", &identifyToPython, "text"_a,
      nb::sig("def identify_pipeline(text: str) -> tuple[str, bool, str, dict[str, str]]"),
      "Canonical text of a pass pipeline; whether it names registered pipelines, so that the text "
      "itself counts too; the pass in it that reads files, if any; and the build identities, by "
      "path, of the libraries its passes come from, other than MLIR's and ours. Holds the GIL.");

  nb::class_<Program>(m, "Program", "A program in a private context, used by one thread at a time.")
      .def(
          "fingerprint",
          [](Program &program) {
            Outcome<Digest> digest = [&] {
              WithoutGil released;
              return fingerprint(program.module());
            }();
            return toBytes(unwrap(std::move(digest)));
          },
          nb::sig("def fingerprint(self) -> bytes"), "32 bytes. Releases the GIL.")
      .def("dialects", &Program::dialects, "Namespaces of the dialects that occur, sorted.")
      .def("unknown", &unknownToPython,
           nb::sig("def unknown(self) -> tuple[list[str], list[str], list[str], list[str]]"),
           "What no dialect here knows: names of operations; namespaces of attributes and types; "
           "properties, as ``operation property``, that ``parse_foreign`` has kept; and those "
           "attributes and types that refer to something their text does not hold. Releases the "
           "GIL.")
      .def("uses_tensors", &Program::usesTensors, "Whether any value is a tensor.")
      .def(
          "signatures",
          [](Program &program) {
            nb::list result;
            for (const Signature &signature : unwrap(program.signatures()))
              result.append(toPython(signature));
            return result;
          },
          nb::sig("def signatures(self) -> list[dict[str, object]]"),
          "Parameters and results of the functions that callers may enter.")
      .def("lower", &lowerToPython, "pipeline"_a, "trusted"_a = false,
           nb::sig("def lower(self, pipeline: str, trusted: bool = False) -> "
                   "tuple[bytes, float, float]"),
           "Run a pass pipeline and translate to bitcode; consumes the program, and unless the "
           "pipeline is trusted to leave nothing behind, its context. Returns the bitcode and the "
           "seconds spent in passes and in translation. Releases the GIL.");

  m.def("parse", &parse, "source"_a, "name"_a, "allow_unregistered"_a = false,
        nb::sig("def parse(source: bytes, name: str, allow_unregistered: bool = False) -> Program"),
        "Parse and verify MLIR text or bytecode. Releases the GIL.");
  m.def("parse_foreign", &parseForeignText, "source"_a, "name"_a,
        nb::sig("def parse_foreign(source: bytes, name: str) -> Program"),
        "Parse and verify generic MLIR text that another build of MLIR printed, taking "
        "unregistered operations, and keeping properties that operations here do not have. "
        "Releases the GIL.");
  m.def("transfer", &transfer, "capsule"_a, nb::sig("def transfer(capsule: object) -> Program"),
        "Copy a live module or operation into a private context. Releases the GIL as "
        "``fingerprint`` does.");
}
