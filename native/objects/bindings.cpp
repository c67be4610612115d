// Python face of the comparison of objects. Every entry point says what it does with the GIL.
#include "common/raise.h"
#include "common/symbols.h"
#include "forks/work.h"
#include "objects/difference.h"
#include "objects/disassembly.h"

#include "llvm/Support/MemoryBuffer.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit::objects {
namespace {

/// A copy at an address that LLVM's reader of ELF files takes.
std::unique_ptr<llvm::MemoryBuffer> aligned(nb::handle bytes) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(bytes.ptr(), &buffer, PyBUF_SIMPLE) != 0)
    throw nb::python_error();
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(
      {static_cast<const char *>(buffer.buf), static_cast<size_t>(buffer.len)});
  PyBuffer_Release(&buffer);
  return copy;
}

nb::object compareObjects(nb::handle a, nb::handle b) {
  auto mine = aligned(a), other = aligned(b);
  auto found = unwrap(compilerWork([&] { return compare(mine->getBuffer(), other->getBuffer()); }));
  if (!found)
    return nb::none();
  return nb::make_tuple(found->aspect, decoded(found->section), decoded(found->function),
                        found->offset);
}

nb::list disassembleObject(nb::handle object, const std::string &triple, const std::string &cpu,
                           const std::string &features, const std::string &section,
                           const std::string &function, uint64_t offset, unsigned lines) {
  auto copy = aligned(object);
  Passage passage{section, function, offset, lines};
  auto found = unwrap(compilerWork(
      [&] { return disassemble(copy->getBuffer(), {triple, cpu, features}, passage); }));
  nb::list texts; // names in damaged objects are any bytes
  for (const std::string &line : found)
    texts.append(decoded(line));
  return texts;
}

} // namespace

void bind(nb::module_ &m) {
  m.def(
      "program_name", [](const std::string &symbol) { return decoded(programName(symbol).str()); },
      "symbol"_a, nb::sig("def program_name(symbol: str) -> str"),
      "What a program calls the function of a symbol in its object. Holds the GIL.");
  m.def("compare_objects", &compareObjects, "a"_a, "b"_a,
        nb::sig("def compare_objects(a: bytes | memoryview, b: bytes | memoryview) -> tuple[str, "
                "str, str, int] | None"),
        "Where two object files differ first, code and data before all else: 'machine', "
        "'sections', 'content', 'relocations', 'symbols' or 'layout'; the section and the symbol "
        "of the function, or empty; and the offset in the section. None where all bytes are "
        "equal. Releases the GIL.");
  m.def("disassemble", &disassembleObject, "object"_a, "triple"_a, "cpu"_a, "features"_a,
        "section"_a, "function"_a, "offset"_a, "lines"_a,
        nb::sig("def disassemble(object: bytes | memoryview, triple: str, cpu: str, features: str, "
                "section: str, function: str, offset: int, lines: int) -> list[str]"),
        "At most so many lines around an offset in a section: instructions of the function of a "
        "symbol, or bytes where there is none such. Releases the GIL.");
}

} // namespace twinjit::objects
