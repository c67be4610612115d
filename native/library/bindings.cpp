// Python face of libraries. Every entry point says what it does with the GIL.
#include "common/bytes_python.h"
#include "common/raise.h"
#include "forks/work.h"
#include "library/comparison.h"
#include "library/library.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit::library {
namespace {

using Names = std::vector<std::string>;
using PolicyFields = std::tuple<double, double, double>;

/// Made once it has its index: of a summary, or of the symbols of all modules.
void open(Library *self, BitcodeFiles &files, const std::optional<nb::bytes> &summary,
          const std::optional<PolicyFields> &policy, size_t contextBytes) {
  std::optional<ImportPolicy> limits;
  if (policy)
    limits = {std::get<0>(*policy), std::get<1>(*policy), std::get<2>(*policy)};
  auto index = summary ? NameIndex(view(*summary).str(), files.size())
                       : unwrap(compilerWork([&] { return NameIndex::scan(files); }));
  new (self) Library(std::move(files), std::move(index), limits, contextBytes);
}

/// LLVM's names are any bytes.
nb::list namesToPython(const Names &names) {
  nb::list result;
  for (const std::string &name : names)
    result.append(decoded(name));
  return result;
}

nb::list explainToPython(Library &library, const Names &names) {
  auto decisions = unwrap(compilerWork([&] { return library.explain(names); }));
  nb::list result;
  for (const Decision &each : decisions) {
    const Facts *facts = each.facts;
    result.append(nb::make_tuple(decoded(each.name), each.parent,
                                 facts ? decoded(facts->file) : nb::none(), each.limit, each.cost,
                                 facts ? facts->instructions : 0, facts ? facts->constantBytes : 0,
                                 facts ? facts->locals : 0, decoded(each.obstacle)));
  }
  return result;
}

nb::object digestToPython(Library &library, const Names &names) {
  auto digest = unwrap(compilerWork([&] { return library.digest(names); }));
  return digest ? nb::object(toBytes(*digest)) : nb::none();
}

nb::tuple importToPython(Library &library, const nb::bytes &bitcode, const Names &names,
                         const std::string &triple, const Names &before) {
  llvm::StringRef program = view(bitcode); // immutable, and held by the caller
  auto imported =
      unwrap(compilerWork([&] { return library.importInto(program, names, triple, before); }));
  return nb::make_tuple(toBytes(imported.bitcode), namesToPython(imported.functions),
                        namesToPython(imported.variables));
}

nb::tuple compareToPython(Comparison &comparison, const std::string &way, const std::string &name) {
  auto sample = unwrap(compilerWork([&] {
    return comparison.import(way == "ours"     ? Comparison::Way::Ours
                             : way == "reload" ? Comparison::Way::Reload
                                               : Comparison::Way::Clone,
                             name);
  }));
  return nb::make_tuple(sample.seconds, decoded(sample.text));
}

void bindFiles(nb::module_ &module) {
  nb::class_<BitcodeFiles>(module, "BitcodeFiles",
                           "Files of bitcode to open a library of. Used by one thread at a time.")
      .def(nb::init<>())
      .def(
          "add",
          [](BitcodeFiles &files, const std::string &name, const nb::bytes &data) {
            unwrap(files.add(name, std::string(data.c_str(), data.size())));
          },
          "name"_a, "data"_a, nb::sig("def add(self, name: str, data: bytes) -> None"),
          "Copy the bytes of a file. Holds the GIL.")
      .def(
          "identity", [](const BitcodeFiles &files) { return toBytes(files.identity()); },
          nb::sig("def identity(self) -> bytes"), "Digest of all bytes, in order. Holds the GIL.");
  module.def(
      "summarised_modules",
      [](const nb::bytes &index) {
        llvm::StringRef bytes = view(index);
        return unwrap(compilerWork([&] { return summarisedModules(bytes); }));
      },
      "index"_a, nb::sig("def summarised_modules(index: bytes) -> list[str]"),
      "Paths of the modules that a ThinLTO summary index is about, sorted. Releases the GIL.");
}

} // namespace

void bind(nb::module_ &module) {
  bindFiles(module);
  nb::class_<Library>(module, "Library",
                      "Bitcode whose functions can become part of programs. Any number of threads "
                      "may use one. All release the GIL.")
      .def("__init__", &open, "files"_a, "summary"_a.none(), "policy"_a.none(), "context_bytes"_a,
           nb::sig("def __init__(self, files: BitcodeFiles, summary: bytes | None, policy: "
                   "tuple[float, float, float] | None, context_bytes: int) -> None"),
           "Take files, leaving none there. `policy` has the most instructions, the decay, and the "
           "bytes of constants that cost as much as an instruction; None to copy all that is "
           "reachable.")
      .def(
          "functions",
          [](const Library &library) {
            return unwrap(compilerWork([&] { return definedFunctions(library.bitcode()); }));
          },
          nb::sig("def functions(self) -> list[str]"),
          "The functions that are defined for others, sorted.")
      .def("explain", &explainToPython, "names"_a,
           nb::sig("def explain(self, names: list[str]) -> list[tuple[str, int, str | None, float, "
                   "float, int, int, int, str]]"),
           "Decisions, nearest first: name; number of the caller's, or -1; file, None where there "
           "is none; limit and cost in instructions; instructions; bytes of constants; number of "
           "functions and constants that come along; why it is not imported, or empty.")
      .def("digest", &digestToPython, "names"_a,
           nb::sig("def digest(self, names: list[str]) -> bytes | None"),
           "Digest of all that can be imported for these names; None where none is defined.")
      .def(
          "externals",
          [](Library &library, const Names &names) {
            return unwrap(compilerWork([&] { return library.externals(names); }));
          },
          "names"_a, nb::sig("def externals(self, names: list[str]) -> list[str]"),
          "What programs declare that import these names, and the library does not define.")
      .def("import_into", &importToPython, "bitcode"_a, "names"_a, "triple"_a, "imported"_a,
           nb::sig("def import_into(self, bitcode: bytes, names: list[str], triple: str, imported: "
                   "list[str]) -> tuple[bytes, list[str], list[str]]"),
           "Import functions into a program that has got what `imported` names of other "
           "libraries; return its bitcode, and which functions and variables were imported.")
      .def(
          "open_all",
          [](Library &library) { return unwrap(compilerWork([&] { return library.openAll(); })); },
          "Read the symbols of all modules, to measure that; return how many there are.")
      .def(
          "module_digests",
          [](Library &library) {
            nb::list result;
            for (const auto &[name, digest] :
                 unwrap(compilerWork([&] { return library.moduleDigests(); })))
              result.append(nb::make_tuple(decoded(name), toBytes(digest)));
            return result;
          },
          nb::sig("def module_digests(self) -> list[tuple[str, bytes]]"),
          "The library's modules as they are in all contexts that nobody uses now, read in full: "
          "names, and digests of what LLVM prints, to see that they do not change.");
  nb::class_<Comparison>(module, "ImportComparison",
                         "Ways to have a library's function in a program, to measure. Used by one "
                         "thread at a time.")
      .def(nb::init<const Library &>(), "library"_a, nb::keep_alive<1, 2>())
      .def("sample", &compareToPython, "way"_a, "name"_a,
           nb::sig("def sample(self, way: str, name: str) -> tuple[float, str]"),
           "Import a function into an empty program in the way ``ours``, ``reload`` or ``clone``; "
           "return the seconds, and the program as text. Releases the GIL.");
}

} // namespace twinjit::library
