// Python face of the part that needs libLLVM alone. Every entry point says what it does with the
// GIL.
#include "codegen/emit.h"
#include "codegen/host.h"
#include "codegen/image.h"
#include "codegen/machine.h"
#include "codegen/pages.h"
#include "common/bytes_python.h"
#include "common/heap.h"
#include "common/raise.h"
#include "common/symbols.h"
#include "forks/work.h"

#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <memory>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

/// Refuse to run on another LLVM than the one compiled against: its C++ ABI holds for one build.
void checkBuild() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  std::string found =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  std::string path = libraryOf(reinterpret_cast<const void *>(&LLVMGetVersion));
  std::string identity = unwrap(libraryIdentity(path));
  std::string built = TWINJIT_LLVM_BUILD;
  if (found == LLVM_VERSION_STRING && (built.empty() || identity == built))
    return;
  std::string message = "twinjit was built against LLVM " LLVM_VERSION_STRING " (build " + built +
                        "), but " + path + " is " + found + " (build " + identity +
                        "); install the version that twinjit requires, or rebuild twinjit";
  PyErr_SetString(PyExc_ImportError, message.c_str());
  throw nb::python_error();
}

void bindStop(nb::module_ &m) {
  nb::class_<Stop>(m, "Stop",
                   "A wish that work end early. Any thread may ask for it. Holds the GIL.")
      .def(nb::init<double>(), "deadline"_a = Stop::kNever,
           nb::sig("def __init__(self, deadline: float = float('inf')) -> None"),
           "With the time of ``time.monotonic()`` at which it comes true by itself.")
      .def("cancel", &Stop::cancel, "Ask for it.")
      .def_prop_ro("is_requested", &Stop::isRequested, "Whether work is to end.")
      .def_prop_ro(
          "seconds_left",
          [](const Stop &stop) -> std::optional<double> {
            double seconds = stop.secondsLeft();
            return seconds == Stop::kNever ? std::nullopt : std::optional<double>(seconds);
          },
          "Seconds until the deadline, not less than 0; None without one.")
      .def(
          "check",
          [](const Stop &stop) {
            if (stop.isRequested())
              raise(stop.failure());
          },
          "Raise CompilationCancelledError or CompilationTimeoutError where work is to end.");
}

/// Of memory that LLVM takes on its way, for each byte of bitcode.
constexpr size_t kFreedPerByte = 32;

nb::tuple emitToPython(const nb::bytes &bitcode, std::vector<std::string> entries,
                       const std::string &triple, const std::string &cpu,
                       const std::string &features, unsigned optLevel, const Stop *stop) {
  EmitOptions options{{triple, cpu, features}, optLevel, std::move(entries)};
  llvm::StringRef module = view(bitcode); // immutable, and held by the caller
  Outcome<Emitted> emitted = compilerWork([&] {
    Outcome<Emitted> outcome = emit(module, options, orNever(stop));
    noteFreed(module.size() * kFreedPerByte);
    giveBackFreed();
    return outcome;
  });
  Emitted result = unwrap(std::move(emitted));
  nb::dict slots;
  for (const Entry &entry : result.entries)
    slots[entry.name.c_str()] = nb::make_tuple(entry.arguments, entry.results);
  return nb::make_tuple(toBytes(result.object), slots, result.optimiseSeconds,
                        result.codegenSeconds);
}

/// The bytes of an object that exports a buffer, for as long as this lives. Needs the GIL.
class BufferView {
public:
  explicit BufferView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) != 0)
      throw nb::python_error();
  }
  ~BufferView() { PyBuffer_Release(&buffer); }
  BufferView(const BufferView &) = delete;
  BufferView &operator=(const BufferView &) = delete;

  llvm::StringRef bytes() const {
    return {static_cast<const char *>(buffer.buf), static_cast<size_t>(buffer.len)};
  }

private:
  Py_buffer buffer;
};

std::shared_ptr<Image> loadFromPython(nb::handle object, const std::vector<std::string> &entries,
                                      const nb::sequence &constants, const nb::bytes &digest,
                                      const nb::dict &given,
                                      const std::vector<std::string> &exports,
                                      const nb::tuple & /*owners*/) {
  LinkOptions options;
  for (const std::string &entry : entries)
    options.entries.push_back(callSymbol(entry));
  for (const std::string &name : exports)
    options.exports.push_back(programSymbol(name));
  llvm::StringMap<void *> addresses;
  for (auto [name, address] : given)
    addresses[nb::cast<std::string>(name)] = reinterpret_cast<void *>(nb::cast<uintptr_t>(address));
  options.given = &addresses;
  options.digest = view(digest);
  BufferView code(object);
  std::vector<std::unique_ptr<BufferView>> contents;
  std::vector<Constant> named;
  for (nb::handle constant : constants) {
    contents.push_back(std::make_unique<BufferView>(constant[1]));
    named.push_back({nb::cast<std::string>(constant[0]), contents.back()->bytes(),
                     nb::cast<uint64_t>(constant[2])});
  }
  options.constants = named;
  auto image = compilerWork([&] { return load(code.bytes(), options); }, Work::Link);
  return unwrap(std::move(image));
}

nb::tuple codeMemoryToPython() {
  PagesInUse use = pagesInUse();
  nb::list arenas;
  for (const PageRange &each : use.arenas) {
    auto begin = reinterpret_cast<uintptr_t>(each.begin);
    arenas.append(nb::make_tuple(begin, begin + each.size));
  }
  return nb::make_tuple(use.bytes, use.owners, use.holes, arenas);
}

} // namespace
} // namespace twinjit

namespace twinjit::call {
void bind(nb::module_ &module); // native/call/bindings.cpp
}
namespace twinjit::llvmir {
void bind(nb::module_ &module); // native/llvmir/bindings.cpp
}
namespace twinjit::lazy {
void bind(nb::module_ &module); // native/lazy/bindings.cpp
}
namespace twinjit::forks {
void bind(nb::module_ &module); // native/forks/bindings.cpp
}
namespace twinjit::library {
void bind(nb::module_ &module); // native/library/bindings.cpp
}
namespace twinjit::crash {
void bind(nb::module_ &module); // native/crash/bindings.cpp
}
namespace twinjit::objects {
void bind(nb::module_ &module); // native/objects/bindings.cpp
}

NB_MODULE(_llvm, m) {
  using namespace twinjit;
  checkBuild();
  bindStop(m);
  m.attr("LLVM_VERSION") = LLVM_VERSION_STRING;

  m.def(
      "host_target",
      [] {
        Target host = hostTarget();
        return nb::make_tuple(host.triple, host.cpu, host.features);
      },
      nb::sig("def host_target() -> tuple[str, str, str]"),
      "Triple, CPU and features (``+a,+b,-c,…``: what it has, what it lacks) of this process. "
      "Holds "
      "the GIL.");

  m.def(
      "toolchain",
      [] {
        nb::list libraries;
        for (const Library &library : unwrap(toolchain()))
          libraries.append(nb::make_tuple(library.name, library.path, library.identity));
        return libraries;
      },
      nb::sig("def toolchain() -> list[tuple[str, str, str]]"),
      "Name, path and build identity of each library that makes code. Reads files; holds the GIL.");

  m.def("plain_triple", &plainTriple,
        "The triple of all machines of this architecture, system and ABI. Holds the GIL.");

  m.def(
      "instruction_sets",
      [](const std::string &triple, const std::string &cpu, const std::string &features) {
        CompilerWork work(Work::Compile, Gil::Hold);
        return instructionSets(*unwrap(findBackend({triple, cpu, features})).subtarget);
      },
      "triple"_a, "cpu"_a, "features"_a,
      "The instruction sets that code for a target may use, sorted, without tuning flags. Holds "
      "the "
      "GIL.");

  m.def("why_not_here", &whyNotHere, "triple"_a, "instruction_sets"_a,
        "Why code of a triple that uses these instruction sets cannot run in this process; empty "
        "where it can. Holds the GIL.");

  m.def(
      "emit", &emitToPython, "bitcode"_a, "entries"_a, "triple"_a, "cpu"_a, "features"_a,
      "opt_level"_a, "stop"_a = nb::none(),
      nb::sig("def emit(bitcode: bytes, entries: collections.abc.Sequence[str], triple: str, cpu: "
              "str, features: str, opt_level: int, stop: Stop | None = None) -> tuple[bytes, "
              "dict[str, tuple[int, int]], float, float]"),
      "Optimise bitcode and generate an object file. Returns the object, the slots of each entry's "
      "arguments and results, and the seconds spent optimising and generating. Releases the GIL.");

  nb::class_<Image>(m, "Image",
                    "Object code linked into this process; unmapped with its last reference.")
      .def_prop_ro("size", &Image::size, "Mapped memory in bytes.")
      .def_prop_ro(
          "perf_trouble", [](const Image &image) { return decoded(image.perfTrouble()); },
          nb::sig("def perf_trouble(self) -> str"),
          "What went wrong when perf was told of the code; empty for nothing.")
      .def_prop_ro("can_fail", &Image::canFail,
                   "Whether the code can stop a call, by a failed assertion or allocation.")
      .def(
          "contains",
          [](const Image &image, uintptr_t address) {
            return image.contains(reinterpret_cast<const void *>(address));
          },
          "address"_a, "Whether an address lies in this image.")
      .def(
          "address",
          [](const Image &image, const std::string &entry) {
            return reinterpret_cast<uintptr_t>(image.address(callSymbol(entry)));
          },
          "entry"_a, "Address of an entry's ``void(uint64_t *slots)`` function; 0 when unknown.")
      .def(
          "exported",
          [](const Image &image, const std::string &name) {
            return reinterpret_cast<uintptr_t>(image.address(programSymbol(name)));
          },
          "name"_a,
          "Address of what the program defines by a name, as its own code has it; 0 where "
          "``load`` was not told to find it, or there is none.");

  m.def("load", &loadFromPython, "object"_a, "entries"_a, "constants"_a = nb::tuple(),
        "digest"_a = nb::bytes("", 0), "given"_a = nb::dict(), "exports"_a = nb::list(),
        "owners"_a = nb::tuple(), nb::keep_alive<0, 7>(),
        nb::sig("def load(object: bytes | memoryview, entries: collections.abc.Sequence[str], "
                "constants: collections.abc.Sequence[tuple[str, bytes, int]] = (), digest: bytes = "
                "b\"\", given: dict[str, int] = {}, exports: collections.abc.Sequence[str] = (), "
                "owners: tuple[object, ...] = ()) -> Image"),
        "Link an object file into the process, and to copies of constants that it refers to: the "
        "symbol of each, its content, and its alignment, a power of 2 up to 4096. Profiles name "
        "functions NAME@DIGITS, by the beginning of the digest, where there is one. ``given`` has "
        "addresses of symbols, which come before all others; ``exports`` what the program defines "
        "and the image is to find; ``owners`` live as long as the image. Releases the GIL.");

  m.def(
      "malloc_address",
      [] { return reinterpret_cast<uintptr_t>(static_cast<void *(*)(size_t)>(&std::malloc)); },
      "Address of the C library's ``malloc``. Holds the GIL.");

  m.def(
      "tell_profilers",
      [](bool perfMap, bool jitDump, bool gdb, const nb::bytes &jitDumpBase) {
        tellProfilers({perfMap, jitDump, gdb},
                      std::string(jitDumpBase.c_str(), jitDumpBase.size()));
      },
      "perf_map"_a, "jit_dump"_a, "gdb"_a, "jit_dump_base"_a,
      "Tell perf (by /tmp/perf-PID.map, by a file below a directory) or gdb of all code that is "
      "loaded from now on. Holds the GIL.");

  m.def("code_memory", &codeMemoryToPython,
        nb::sig("def code_memory() -> tuple[int, int, int, list[tuple[int, int]]]"),
        "Of all images and constants of the process: bytes of pages, how many have some, holes "
        "between them; and first and last address of each range where they may be. Holds the GIL.");

  forks::bind(m);
  crash::bind(m);
  objects::bind(m);
  call::bind(m);
  llvmir::bind(m);
  lazy::bind(m);
  library::bind(m);
}
