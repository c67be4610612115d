// Python face of the part that needs MLIR. Every entry point says what it does with the GIL.
#include "codegen/host.h"
#include "common/bytes_python.h"
#include "common/outline_python.h"
#include "common/raise.h"
#include "forks/work.h"
#include "ir/canonical_form.h"
#include "ir/foreign.h"
#include "ir/identity.h"
#include "ir/normalise.h"
#include "ir/outline.h"
#include "ir/pipeline.h"
#include "ir/program.h"
#include "ir/stored_program.h"
#include "ir/upstream_equivalence.h"

#include "mlir-c/Bindings/Python/Interop.h"
#include "mlir/CAPI/IR.h"

#include "llvm/Support/Path.h"

#include <link.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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

/// A program in any form: a Program, or the capsule of a live one.
struct AnyProgram {
  explicit AnyProgram(const nb::object &program)
      : isPrivate(nb::isinstance<Program>(program)),
        operation(isPrivate ? nb::cast<Program &>(program).module().getOperation()
                            : fromCapsule(program)) {}

  /// Whether nobody else uses its context. Of a live one in single-threaded mode, only the GIL
  /// keeps the bindings' other threads from creating attributes in it meanwhile.
  bool needsNoGil() const {
    return isPrivate || operation->getContext()->isMultithreadingEnabled();
  }

  bool isPrivate;
  mlir::Operation *operation;
};

/// Calls `work` without the GIL if none of the programs needs it.
template <typename Function, typename... Programs>
auto withoutGil(Function &&work, const Programs &...programs) {
  return compilerWork(work, Work::Compile,
                      (programs.needsNoGil() && ...) ? Gil::Release : Gil::Hold);
}

nb::bytes fingerprintToPython(const nb::object &program, const std::string &policyText,
                              const std::string &domain) {
  AnyProgram handed(program);
  Policy policy = unwrap(Policy::parse(policyText));
  return toBytes(
      unwrap(withoutGil([&] { return fingerprint(handed.operation, policy, domain); }, handed)));
}

bool equivalentToPython(const nb::object &a, const nb::object &b, const std::string &policyText) {
  AnyProgram first(a), second(b);
  Policy policy = unwrap(Policy::parse(policyText));
  return unwrap(withoutGil([&] { return equivalent(first.operation, second.operation, policy); },
                           first, second));
}

nb::list constantsToPython(const nb::object &program, const std::string &policyText) {
  AnyProgram handed(program);
  Policy policy = unwrap(Policy::parse(policyText));
  auto constants =
      unwrap(withoutGil([&] { return largeConstants(handed.operation, policy); }, handed));
  nb::list result;
  for (const auto &[type, bytes] : constants)
    result.append(nb::make_tuple(type, toBytes(bytes)));
  return result;
}

nb::list normaliseToPython(Program &program, const std::string &policyText) {
  Policy policy = unwrap(Policy::parse(policyText));
  auto lifted = compilerWork([&] { return normalise(program.module(), policy); });
  nb::list result;
  for (const LiftedConstant &constant : unwrap(std::move(lifted)))
    result.append(nb::make_tuple(decoded(constant.name), constant.type, constant.size,
                                 constant.alignment, decoded(constant.place)));
  return result;
}

nb::bytes bytecodeToPython(Program &program, const std::string &policyText) {
  Policy policy = unwrap(Policy::parse(policyText));
  auto bytecode = compilerWork([&] { return toBytecode(program, policy); });
  std::string bytes = unwrap(std::move(bytecode));
  return toBytes(bytes);
}

nb::list outlineToPython(const nb::object &program, const std::string &policyText) {
  AnyProgram handed(program);
  Policy policy = unwrap(Policy::parse(policyText));
  return toPython(unwrap(withoutGil([&] { return outline(handed.operation, policy); }, handed)));
}

Program transfer(const nb::object &capsule) {
  AnyProgram handed(capsule);
  return unwrap(withoutGil([&] { return Program::transfer(handed.operation); }, handed));
}

Program parse(const nb::bytes &source, const std::string &name, bool allowUnregistered) {
  llvm::StringRef text = view(source); // immutable, and held by the caller
  Outcome<Program> program =
      compilerWork([&] { return Program::parse(text, name, allowUnregistered); });
  return unwrap(std::move(program));
}

Program parseForeignText(const nb::bytes &source, const std::string &name) {
  llvm::StringRef text = view(source);
  Outcome<Program> program = compilerWork([&] { return parseForeign(text, name); });
  return unwrap(std::move(program));
}

nb::tuple unknownToPython(const Program &program) {
  Unknown unknown = compilerWork([&] { return findUnknown(program.module()); });
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
  CompilerWork work(Work::Compile, Gil::Hold);
  loadPasses();
  PipelineIdentity identity =
      unwrap(withRoom(kStackForCompiling, [&] { return identifyPipeline(text); }));
  nb::dict libraries;
  for (const auto &[path, build] : identity.libraries)
    libraries[path.c_str()] = build;
  return nb::make_tuple(identity.canonical, identity.isAbbreviated, identity.fileReader, libraries);
}

nb::tuple lowerToPython(Program &program, const std::string &pipeline, bool trusted,
                        const Stop &stop) {
  loadPasses();
  Outcome<Lowered> lowered = compilerWork([&] {
    auto outcome = lower(program, pipeline, trusted, stop);
    program.spend(); // here, without the GIL
    return outcome;
  });
  Lowered result = unwrap(std::move(lowered));
  return nb::make_tuple(toBytes(result.bitcode), result.passSeconds, result.translateSeconds);
}

void bindIdentity(nb::module_ &m) {
  m.def("fingerprint", &fingerprintToPython, "program"_a, "policy"_a, "domain"_a = "",
        nb::sig("def fingerprint(program: object, policy: str, domain: str = \"\") -> bytes"),
        "Fingerprint (32 bytes) of a Program, or of a live module or operation, given its "
        "``_CAPIPtr``, under a policy in canonical text. Releases the GIL unless the operation's "
        "context is a live one with multithreading disabled.");

  m.def(
      "equivalent", &equivalentToPython, "a"_a, "b"_a, "policy"_a,
      nb::sig("def equivalent(a: object, b: object, policy: str) -> bool"),
      "Whether two programs, as ``fingerprint`` takes them, are the same under a policy. Releases "
      "the GIL as that does.");

  m.def("constants", &constantsToPython, "program"_a, "policy"_a,
        nb::sig("def constants(program: object, policy: str) -> list[tuple[str, bytes]]"),
        "Types and contents of the large constants that do not count under a policy, in canonical "
        "order, of a program as ``fingerprint`` takes it. Releases the GIL as that does.");
  m.def("outline", &outlineToPython, "program"_a, "policy"_a,
        nb::sig("def outline(program: object, policy: str) -> list[tuple[int, str, str, str, str, "
                "bytes, tuple[tuple[str, bytes, str, tuple[int, ...]], ...], "
                "tuple[tuple[int, str], ...]]]"),
        "What counts in a program under a policy, as plain tuples of ``Record`` and ``Field``. "
        "Releases the GIL as ``fingerprint`` does while it reads the program.");

  m.def(
      "upstream_hash",
      [](const nb::object &program) { return upstreamHash(AnyProgram(program).operation); },
      "program"_a, nb::sig("def upstream_hash(program: object) -> int"),
      "MLIR's own hash of each operation, combined, to measure against. Holds the GIL.");

  m.def(
      "upstream_equivalent",
      [](const nb::object &a, const nb::object &b) {
        return upstreamEquivalent(AnyProgram(a).operation, AnyProgram(b).operation);
      },
      "a"_a, "b"_a, nb::sig("def upstream_equivalent(a: object, b: object) -> bool"),
      "MLIR's own comparison of two operations of one context, to test against. Holds the GIL.");
}

void bindReading(nb::module_ &m) {
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

void bindProgram(nb::module_ &m) {
  nb::class_<Program>(m, "Program", "A program in a private context, used by one thread at a time.")
      .def(
          "dialects",
          [](Program &program) { return compilerWork([&] { return program.dialects(); }); },
          "Namespaces of the dialects that occur, sorted. Releases the GIL.")
      .def("unknown", &unknownToPython,
           nb::sig("def unknown(self) -> tuple[list[str], list[str], list[str], list[str]]"),
           "What no dialect here knows: names of operations; namespaces of attributes and types; "
           "properties, as ``operation property``, that ``parse_foreign`` has kept; and those "
           "attributes and types that refer to something their text does not hold. Releases the "
           "GIL.")
      .def(
          "uses_tensors",
          [](Program &program) { return compilerWork([&] { return program.usesTensors(); }); },
          "Whether any value is a tensor. Releases the GIL.")
      .def(
          "signatures",
          [](Program &program) {
            nb::list result;
            for (const Signature &signature :
                 unwrap(compilerWork([&] { return program.signatures(); })))
              result.append(toPython(signature));
            return result;
          },
          nb::sig("def signatures(self) -> list[dict[str, object]]"),
          "Parameters and results of the functions that callers may enter. Releases the GIL while "
          "it reads the program.")
      .def("normalise", &normaliseToPython, "policy"_a,
           nb::sig("def normalise(self, policy: str) -> list[tuple[str, str, int, int, str]]"),
           "Bring the program to the form that it shares with all that are the same under a "
           "policy. Returns the large constants that became external variables, in canonical "
           "order: the variable's name, the elements' type, size and alignment in bytes, and the "
           "function they are in. Releases the GIL.")
      .def("bytecode", &bytecodeToPython, "policy"_a,
           nb::sig("def bytecode(self, policy: str) -> bytes"),
           "The program as bytecode. It loses the locations that do not count under a policy. "
           "Releases the GIL.")
      .def(
          "lower", &lowerToPython, "pipeline"_a, "trusted"_a, "stop"_a,
          nb::sig("def lower(self, pipeline: str, trusted: bool, stop: twinjit._native._llvm.Stop) "
                  "-> tuple[bytes, float, float]"),
          "Run a pass pipeline and translate to bitcode; consumes the program, and unless the "
          "pipeline is trusted to leave nothing behind, its context. Returns the bitcode and the "
          "seconds spent in passes and in translation. Releases the GIL.");
}

void bindPipeline(nb::module_ &m) {
  m.def(
      "identify_pipeline", &identifyToPython, "text"_a,
      nb::sig("def identify_pipeline(text: str) -> tuple[str, bool, str, dict[str, str]]"),
      "Canonical text of a pass pipeline; whether it names registered pipelines, so that the text "
      "itself counts too; the pass in it that reads files, if any; and the build identities, by "
      "path, of the libraries its passes come from, other than MLIR's and ours. Holds the GIL.");
}

} // namespace
} // namespace twinjit

NB_MODULE(_mlir, m) {
  using namespace twinjit;
  checkBuild();
  useSharedForkGate();
  bindIdentity(m);
  bindPipeline(m);
  bindProgram(m);
  bindReading(m);
}
