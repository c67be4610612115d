// Python face of what programs are. Every entry point says what it does with the GIL.
#include "common/bytes_python.h"
#include "common/outline_python.h"
#include "ir/bindings.h"
#include "ir/canonical_form.h"
#include "ir/handed_python.h"
#include "ir/identity.h"
#include "ir/normalise.h"
#include "ir/outline.h"
#include "ir/upstream_equivalence.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

nb::bytes fingerprintToPython(const nb::object &program, const std::string &policyText,
                              const std::string &domain, const Stop *stop) {
  AnyProgram handed(program);
  Policy policy = unwrap(Policy::parse(policyText));
  return toBytes(unwrap(withoutGil(
      [&] { return fingerprint(handed.operation, policy, domain, orNever(stop)); }, handed)));
}

bool equivalentToPython(const nb::object &a, const nb::object &b, const std::string &policyText) {
  AnyProgram first(a), second(b);
  Policy policy = unwrap(Policy::parse(policyText));
  return unwrap(withoutGil([&] { return equivalent(first.operation, second.operation, policy); },
                           first, second));
}

nb::list constantsToPython(const nb::object &program, const std::string &policyText,
                           const Stop *stop) {
  AnyProgram handed(program);
  Policy policy = unwrap(Policy::parse(policyText));
  auto constants = unwrap(
      withoutGil([&] { return largeConstants(handed.operation, policy, orNever(stop)); }, handed));
  nb::list result;
  for (const auto &[type, bytes] : constants)
    result.append(nb::make_tuple(type, toBytes(bytes)));
  return result;
}

nb::list outlineToPython(const nb::object &program, const std::string &policyText) {
  AnyProgram handed(program);
  Policy policy = unwrap(Policy::parse(policyText));
  return toPython(unwrap(withoutGil([&] { return outline(handed.operation, policy); }, handed)));
}

} // namespace

void bindIdentity(nb::module_ &m) {
  m.def("fingerprint", &fingerprintToPython, "program"_a, "policy"_a, "domain"_a = "",
        "stop"_a = nb::none(),
        nb::sig("def fingerprint(program: object, policy: str, domain: str = \"\", stop: "
                "twinjit._native._llvm.Stop | None = None) -> bytes"),
        "Fingerprint (32 bytes) of a Program, or of a live module or operation, given its "
        "``_CAPIPtr``, under a policy in canonical text. Releases the GIL unless the operation's "
        "context is a live one with multithreading disabled.");

  m.def(
      "equivalent", &equivalentToPython, "a"_a, "b"_a, "policy"_a,
      nb::sig("def equivalent(a: object, b: object, policy: str) -> bool"),
      "Whether two programs, as ``fingerprint`` takes them, are the same under a policy. Releases "
      "the GIL as that does.");

  m.def("constants", &constantsToPython, "program"_a, "policy"_a, "stop"_a = nb::none(),
        nb::sig("def constants(program: object, policy: str, stop: twinjit._native._llvm.Stop | "
                "None = None) -> list[tuple[str, bytes]]"),
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

} // namespace twinjit
