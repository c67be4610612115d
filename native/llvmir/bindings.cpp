// Python face of the identity of LLVM modules. Every entry point says what it does with the GIL.
#include "common/bytes_python.h"
#include "common/outline_python.h"
#include "common/raise.h"
#include "forks/work.h"
#include "llvmir/identity.h"
#include "llvmir/module.h"
#include "llvmir/outline.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit::llvmir {
namespace {

std::shared_ptr<OwnModule> parse(const nb::bytes &source, const std::string &name) {
  llvm::StringRef text = view(source); // immutable, and held by the caller
  auto module = compilerWork([&] { return OwnModule::parse(text, name); });
  return unwrap(std::move(module));
}

nb::bytes fingerprintToPython(OwnModule &module, const std::string &policy,
                              const std::string &domain) {
  Policy parsed = unwrap(Policy::parse(policy));
  Outcome<Digest> digest = compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return fingerprint(module.get(), parsed, domain);
  });
  return toBytes(unwrap(std::move(digest)));
}

bool equivalentToPython(OwnModule &a, OwnModule &b, const std::string &policy) {
  Policy parsed = unwrap(Policy::parse(policy));
  Outcome<bool> same = compilerWork([&]() -> Outcome<bool> {
    if (&a == &b) {
      std::lock_guard<std::mutex> lock(a.mutex);
      return equivalent(a.get(), a.get(), parsed);
    }
    std::scoped_lock lock(a.mutex, b.mutex);
    return equivalent(a.get(), b.get(), parsed);
  });
  return unwrap(std::move(same));
}

nb::list outlineToPython(OwnModule &module, const std::string &policy) {
  Policy parsed = unwrap(Policy::parse(policy));
  auto records = compilerWork([&] {
    Outcome<std::vector<OutlineRecord>> found = std::vector<OutlineRecord>();
    std::lock_guard<std::mutex> lock(module.mutex);
    module.onItsStack([&] { found = outline(module.get(), parsed); }); // it prints
    return found;
  });
  return toPython(unwrap(std::move(records)));
}

nb::bytes bitcodeToPython(OwnModule &module) {
  std::string bitcode = compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return module.bitcode();
  });
  return toBytes(bitcode);
}

nb::object textToPython(OwnModule &module) {
  std::string text = compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return module.text();
  });
  return decoded(text);
}

} // namespace

void bind(nb::module_ &module) {
  nb::class_<OwnModule>(
      module, "Module",
      "An LLVM module in a context of its own. Any number of threads may use it; they take turns.")
      .def("fingerprint", &fingerprintToPython, "policy"_a, "domain"_a = "",
           nb::sig("def fingerprint(self, policy: str, domain: str = '') -> bytes"),
           "32 bytes, under the canonical text of a policy. Fingerprints of different domains "
           "differ. Releases the GIL.")
      .def("equivalent", &equivalentToPython, "other"_a, "policy"_a,
           "Whether both are the same program under a policy; trusts no hash. Releases the GIL.")
      .def("outline", &outlineToPython, "policy"_a,
           nb::sig("def outline(self, policy: str) -> list[tuple[int, str, str, str, str, bytes, "
                   "tuple[tuple[str, bytes, str, tuple[int, ...]], ...], "
                   "tuple[tuple[int, str], ...]]]"),
           "What counts under a policy, as plain tuples of ``Record`` and ``Field``. Releases the "
           "GIL while it reads the module.")
      .def("bitcode", &bitcodeToPython, nb::sig("def bitcode(self) -> bytes"),
           "The module as bitcode of this LLVM. Releases the GIL.")
      .def("__str__", &textToPython, nb::sig("def __str__(self) -> str"),
           "The module as LLVM prints it. Releases the GIL.");

  module.def("parse_module", &parse, "source"_a, "name"_a,
             nb::sig("def parse_module(source: bytes, name: str) -> Module"),
             "Parse and verify LLVM IR text or bitcode. Releases the GIL.");
}

} // namespace twinjit::llvmir
