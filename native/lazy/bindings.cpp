// Python face of lazy functions. Every entry point says what it does with the GIL.
#include "common/bytes_python.h"
#include "common/raise.h"
#include "common/symbols.h"
#include "forks/work.h"
#include "lazy/resolver.h"
#include "lazy/split.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit::lazy {
namespace {

/// Cells, and the Python callable that they need.
class OwnCells {
public:
  explicit OwnCells(nb::object resolver)
      : resolver(std::move(resolver)), cells(this->resolver.ptr()) {}

  Cell &operator[](size_t index) {
    Cell *cell = cells.at(index);
    if (!cell)
      throw nb::index_error("there is no such cell");
    return *cell;
  }

  const nb::object resolver;
  Cells cells;
};

uintptr_t addressOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

const char *kindName(Link::Kind kind) {
  static constexpr const char *kNames[] = {"cell", "address", "data"};
  return kNames[static_cast<int>(kind)];
}

nb::tuple toPython(const Part &part) {
  nb::list links;
  for (const Link &each : part.links)
    links.append(nb::make_tuple(each.symbol, kindName(each.kind), each.name));
  return nb::make_tuple(toBytes(part.bitcode), links);
}

void bindCells(nb::module_ &m) {
  nb::class_<OwnCells>(m, "Cells",
                       "Through which compiled code calls functions that may not be compiled yet. "
                       "Holds the GIL.")
      .def(nb::init<nb::object>(), "resolver"_a,
           nb::sig("def __init__(self, resolver: collections.abc.Callable[[int], int]) -> None"),
           "With what is asked for the address of the function of a cell, by its index, when it is "
           "called and has none. What it raises is raised to the Python code that called, or noted "
           "where there is none. It must not refer to the cells.")
      .def("__len__", [](const OwnCells &self) { return self.cells.size(); })
      .def(
          "add", [](OwnCells &self) { return self.cells.add().index; },
          "Make a cell; return its index.")
      .def(
          "address", [](OwnCells &self, size_t index) { return addressOf(&self[index]); },
          "index"_a, "Address of a cell itself, which code is linked to.")
      .def(
          "target",
          [](OwnCells &self, size_t index) { return addressOf(self[index].target.load()); },
          "index"_a, "Address of a cell's function; 0 where it has none yet.")
      .def(
          "swap",
          [](OwnCells &self, size_t index, uintptr_t target) {
            return addressOf(self[index].target.exchange(reinterpret_cast<void *>(target)));
          },
          "index"_a, "target"_a,
          "Have callers go to another address from now on, or ask for one where it is 0; return "
          "that until now. Threads may be inside the old code for as long as they like.");
}

void bindSplit(nb::module_ &m) {
  const char *part = "tuple[bytes, list[tuple[str, str, str]]]";
  auto returning = [part](const std::string &head) { return head + " -> " + part; };
  static const std::string extract = returning("def extract(self, name: str, lazy: "
                                               "collections.abc.Sequence[str])"),
                           stub = returning("def public_stub(self, name: str)");
  nb::class_<Split>(
      m, "Split",
      "A module whose functions are compiled one by one. Its parts are bitcode, and "
      "links: the symbol, ``\"cell\"``, ``\"address\"`` or ``\"data\"``, and the name "
      "in the whole module. Any number of threads may use one; they take turns.")
      .def(
          "functions",
          [](Split &self) {
            nb::list found;
            for (const Split::Function &each : compilerWork([&] { return self.functions(); }))
              found.append(nb::make_tuple(each.name, each.type, each.isDefined, each.isPublic));
            return found;
          },
          nb::sig("def functions(self) -> list[tuple[str, str, bool, bool]]"),
          "Name, type with the calling convention, whether it is defined, and whether it is "
          "public, of each function. Releases the GIL.")
      .def(
          "outside",
          [](Split &self, const std::string &name) {
            return unwrap(compilerWork([&] { return self.outside(name); }));
          },
          "name"_a,
          "Functions that a function's part needs and the module does not define. Releases the "
          "GIL.")
      .def(
          "extract",
          [](Split &self, const std::string &name, const std::vector<std::string> &lazy) {
            return toPython(unwrap(compilerWork([&] { return self.extract(name, lazy); })));
          },
          "name"_a, "lazy"_a, nb::sig(extract.c_str()),
          "The part of a function, which it calls ``FUNCTION``. ``lazy``: which of those outside "
          "are lazy, too. Releases the GIL.")
      .def(
          "public_stub",
          [](Split &self, const std::string &name) {
            return toPython(unwrap(compilerWork([&] { return self.publicStub(name); })));
          },
          "name"_a, nb::sig(stub.c_str()),
          "The part that has a function's stub alone, called ``FUNCTION``. Releases the GIL.")
      .def(
          "data",
          [](Split &self, const std::vector<std::string> &lazy) {
            std::vector<std::string> names;
            nb::tuple part = toPython(unwrap(compilerWork([&] { return self.data(lazy, names); })));
            nb::dict symbols;
            for (size_t i = 0; i != names.size(); ++i)
              symbols[names[i].c_str()] = dataSymbol(i);
            return nb::make_tuple(part[0], part[1], symbols);
          },
          "lazy"_a,
          nb::sig("def data(self, lazy: collections.abc.Sequence[str]) -> tuple[bytes, "
                  "list[tuple[str, str, str]], dict[str, str]]"),
          "The part that has the variables, and the symbols of these by their names. Releases the "
          "GIL.");
  m.def(
      "split",
      [](const nb::bytes &source, const std::string &name) {
        llvm::StringRef text = view(source); // immutable, and held by the caller
        return unwrap(compilerWork([&] { return Split::parse(text, name); }));
      },
      "source"_a, "name"_a, nb::sig("def split(source: bytes, name: str) -> Split"),
      "Parse LLVM IR text or bitcode to be compiled function by function. Releases the GIL.");
}

} // namespace

void bind(nb::module_ &m) {
  setUpResolver();
  m.attr("FUNCTION") = kFunction;
  bindCells(m);
  bindSplit(m);
  m.def(
      "program_symbol", [](const std::string &name) { return programSymbol(name); }, "name"_a,
      "The symbol of what an MLIR program defines by a name, once lowered. Holds the GIL.");
  m.def(
      "take_native_error",
      [] {
        PyObject *taken = takeNoted();
        return taken ? nb::steal(taken) : nb::none();
      },
      nb::sig("def take_native_error() -> BaseException | None"),
      "The last error of a lazy function in this thread that no Python code could be told. Holds "
      "the GIL.");
}

} // namespace twinjit::lazy
