// Python face of programs in private contexts. Every entry point says what it does with the GIL.
#include "common/bytes_python.h"
#include "common/heap.h"
#include "ir/bindings.h"
#include "ir/declarations.h"
#include "ir/foreign.h"
#include "ir/handed_python.h"
#include "ir/normalise.h"
#include "ir/stored_program.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

nb::list normaliseToPython(Program &program, const std::string &policyText, const Stop *stop) {
  Policy policy = unwrap(Policy::parse(policyText));
  mlir::ModuleOp module = usable(program).module();
  auto lifted = compilerWork([&] { return normalise(module, policy, orNever(stop)); });
  nb::list result;
  for (const LiftedConstant &constant : unwrap(std::move(lifted)))
    result.append(nb::make_tuple(decoded(constant.name), constant.type, constant.size,
                                 constant.alignment, decoded(constant.place)));
  return result;
}

nb::bytes bytecodeToPython(Program &program, const std::string &policyText) {
  Policy policy = unwrap(Policy::parse(policyText));
  usable(program);
  auto bytecode = compilerWork([&] { return toBytecode(program, policy); });
  std::string bytes = unwrap(std::move(bytecode));
  return toBytes(bytes);
}

nb::bytes write(const nb::object &capsule) {
  AnyProgram handed(capsule);
  std::string bytecode =
      unwrap(withoutGil([&] { return Program::write(handed.operation); }, handed));
  return toBytes(bytecode);
}

Program readWritten(const nb::bytes &bytecode) {
  llvm::StringRef data = view(bytecode); // immutable, and held by the caller
  Outcome<Program> program = compilerWork([&] { return Program::readWritten(data); });
  return unwrap(std::move(program));
}

Program transfer(const nb::object &capsule, const Stop *stop) {
  AnyProgram handed(capsule);
  return unwrap(
      withoutGil([&] { return Program::transfer(handed.operation, orNever(stop)); }, handed));
}

Program parse(const nb::bytes &source, const std::string &name, bool allowUnregistered,
              const Stop *stop) {
  llvm::StringRef text = view(source); // immutable, and held by the caller
  Outcome<Program> program =
      compilerWork([&] { return Program::parse(text, name, allowUnregistered, orNever(stop)); });
  return unwrap(std::move(program));
}

Program parseForeignText(const nb::bytes &source, const std::string &name, const Stop *stop) {
  llvm::StringRef text = view(source);
  Outcome<Program> program = compilerWork([&] { return parseForeign(text, name, orNever(stop)); });
  return unwrap(std::move(program));
}

nb::tuple unknownToPython(Program &program) {
  mlir::ModuleOp module = usable(program).module();
  Unknown unknown = compilerWork([&] { return findUnknown(module); });
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

nb::tuple lowerToPython(Program &program, const std::string &pipeline, bool trusted,
                        const Stop *stop) {
  loadPasses();
  usable(program);
  Outcome<Lowered> lowered = compilerWork([&] {
    Outcome<Lowered> outcome = lower(program, pipeline, trusted, orNever(stop));
    program.spend();
    giveBackFreed();
    return outcome;
  });
  Lowered result = unwrap(std::move(lowered));
  return nb::make_tuple(toBytes(result.bitcode), result.passSeconds, result.translateSeconds);
}

void bindReading(nb::module_ &m) {
  m.def("parse", &parse, "source"_a, "name"_a, "allow_unregistered"_a = false,
        "stop"_a = nb::none(),
        nb::sig("def parse(source: bytes, name: str, allow_unregistered: bool = False, stop: "
                "twinjit._native._llvm.Stop | None = None) -> Program"),
        "Parse and verify MLIR text or bytecode. Releases the GIL.");
  m.def("parse_foreign", &parseForeignText, "source"_a, "name"_a, "stop"_a = nb::none(),
        nb::sig("def parse_foreign(source: bytes, name: str, stop: twinjit._native._llvm.Stop | "
                "None = None) -> Program"),
        "Parse and verify generic MLIR text that another build of MLIR printed, taking "
        "unregistered operations, and keeping properties that operations here do not have. "
        "Releases the GIL.");
  m.def("transfer", &transfer, "capsule"_a, "stop"_a = nb::none(),
        nb::sig("def transfer(capsule: object, stop: twinjit._native._llvm.Stop | None = None) -> "
                "Program"),
        "Copy a live module or operation into a private context. Releases the GIL as "
        "``fingerprint`` does.");
  m.def("write", &write, "capsule"_a, nb::sig("def write(capsule: object) -> bytes"),
        "Write a live module or operation as bytecode for ``read_written``, with all locations. "
        "Releases the GIL as ``fingerprint`` does.");
  m.def("read_written", &readWritten, "bytecode"_a,
        nb::sig("def read_written(bytecode: bytes) -> Program"),
        "Read, in this process or another, what ``write`` wrote. Releases the GIL.");
}

} // namespace

void bindProgram(nb::module_ &m) {
  bindReading(m);
  nb::class_<Program>(m, "Program", "A program in a private context, used by one thread at a time.")
      .def("dialects", onUsable<&Program::dialects>(),
           "Namespaces of the dialects that occur, sorted.")
      .def("unknown", &unknownToPython,
           nb::sig("def unknown(self) -> tuple[list[str], list[str], list[str], list[str]]"),
           "What no dialect here knows: names of operations; namespaces of attributes and types; "
           "properties, as ``operation property``, that ``parse_foreign`` has kept; and those "
           "attributes and types that refer to something their text does not hold. Releases the "
           "GIL.")
      .def("uses_tensors", onUsable<&Program::usesTensors>(), "Whether any value is a tensor.")
      .def(
          "signatures",
          [](Program &program) {
            nb::list result;
            Program &checked = usable(program);
            for (const Signature &signature :
                 unwrap(compilerWork([&] { return checked.signatures(); })))
              result.append(toPython(signature));
            return result;
          },
          nb::sig("def signatures(self) -> list[dict[str, object]]"),
          "Parameters and results of the functions that callers may enter.")
      .def(
          "declarations",
          [](Program &program) {
            mlir::ModuleOp module = usable(program).module();
            return compilerWork([&] { return declaredFunctions(module); });
          },
          "Symbols of the functions that the program calls and leaves to others to define. "
          "Releases "
          "the GIL.")
      .def("normalise", &normaliseToPython, "policy"_a, "stop"_a = nb::none(),
           nb::sig("def normalise(self, policy: str, stop: twinjit._native._llvm.Stop | None = "
                   "None) -> list[tuple[str, str, int, int, str]]"),
           "Bring the program to the form that it shares with all that are the same under a "
           "policy. Returns the large constants that became external variables, in canonical "
           "order: the variable's name, the elements' type, size and alignment in bytes, and the "
           "function they are in. Releases the GIL.")
      .def("bytecode", &bytecodeToPython, "policy"_a,
           nb::sig("def bytecode(self, policy: str) -> bytes"),
           "The program as bytecode. It loses the locations that do not count under a policy. "
           "Releases the GIL.")
      .def("lower", &lowerToPython, "pipeline"_a, "trusted"_a, "stop"_a = nb::none(),
           nb::sig("def lower(self, pipeline: str, trusted: bool, stop: twinjit._native._llvm.Stop "
                   "| None = None) "
                   "-> tuple[bytes, float, float]"),
           "Run a pass pipeline and translate to bitcode; consumes the program, and unless the "
           "pipeline is trusted to leave nothing behind, its context. Returns the bitcode and the "
           "seconds spent in passes and in translation. Releases the GIL.");
}

} // namespace twinjit
