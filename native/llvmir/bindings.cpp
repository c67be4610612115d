// Python face of the identity of LLVM modules. Every entry point says what it does with the GIL.
#include "common/bytes_python.h"
#include "common/outline_python.h"
#include "common/raise.h"
#include "forks/work.h"
#include "llvmir/identity.h"
#include "llvmir/module.h"
#include "llvmir/normalise.h"
#include "llvmir/outline.h"
#include "llvmir/signatures.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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

nb::list constantsToPython(OwnModule &module, const std::string &policy) {
  Policy parsed = unwrap(Policy::parse(policy));
  auto found = compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return largeConstants(module.get(), parsed);
  });
  nb::list result;
  for (const LargeConstant &constant : unwrap(std::move(found)))
    result.append(nb::make_tuple(constant.type, toBytes(constant.data)));
  return result;
}

nb::list normaliseToPython(OwnModule &module, const std::string &policy) {
  Policy parsed = unwrap(Policy::parse(policy));
  auto lifted = compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return normalise(module.change(), parsed);
  });
  nb::list result;
  for (const LiftedConstant &constant : unwrap(std::move(lifted)))
    result.append(nb::make_tuple(constant.name, constant.type, constant.size, constant.alignment));
  return result;
}

nb::list toPython(const std::vector<PlainValue> &values) {
  nb::list result;
  for (const PlainValue &value : values) {
    nb::dict described;
    described["kind"] = value.kind;
    described["dtype"] = value.dtype;
    described["text"] = decoded(value.text);
    described["shape"] = nb::list();
    described["strides"] = nb::none();
    described["offset"] = nb::none();
    described["read_only"] = false;
    result.append(described);
  }
  return result;
}

nb::list signaturesToPython(OwnModule &module) {
  std::vector<PlainSignature> signatures = compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return signaturesOf(module.get());
  });
  nb::list result;
  for (const PlainSignature &signature : signatures) {
    nb::dict described;
    described["name"] = decoded(signature.name);
    described["arguments"] = toPython(signature.arguments);
    described["results"] = toPython(signature.results);
    described["uncallable"] = decoded(signature.uncallable);
    described["convention"] = signature.convention;
    result.append(described);
  }
  return result;
}

std::vector<std::string> declarationsOf(OwnModule &module) {
  return compilerWork([&] {
    std::lock_guard<std::mutex> lock(module.mutex);
    return declarations(module.get());
  });
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
      .def("constants", &constantsToPython, "policy"_a,
           nb::sig("def constants(self, policy: str) -> list[tuple[str, bytes]]"),
           "Type and bytes of the large constants that a policy takes for parameters, in canonical "
           "order. Releases the GIL.")
      .def("normalise", &normaliseToPython, "policy"_a,
           nb::sig("def normalise(self, policy: str) -> list[tuple[str, str, int, int]]"),
           "Bring the module to the form that it shares with all that are the same under a policy, "
           "to be compiled. Returns the large constants that became external variables, in "
           "canonical order: name, type, size and alignment in bytes. Releases the GIL.")
      .def("signatures", &signaturesToPython,
           nb::sig("def signatures(self) -> list[dict[str, object]]"),
           "Parameters and results of the functions that a normalised module defines for others. "
           "Releases the GIL.")
      .def("declarations", &declarationsOf,
           "Names of the functions and variables that the module uses and leaves to others to "
           "define, as far as they are UTF-8. Releases the GIL.")
      .def("bitcode", &bitcodeToPython, nb::sig("def bitcode(self) -> bytes"),
           "The module as bitcode of this LLVM. Releases the GIL.")
      .def("__str__", &textToPython, nb::sig("def __str__(self) -> str"),
           "The module as LLVM prints it. Releases the GIL.");

  module.def("parse_module", &parse, "source"_a, "name"_a,
             nb::sig("def parse_module(source: bytes, name: str) -> Module"),
             "Parse and verify LLVM IR text or bitcode. Releases the GIL.");
}

} // namespace twinjit::llvmir
