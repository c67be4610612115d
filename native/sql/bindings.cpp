/// The Python face of SQL's runtime.

#include "sql/bindings.h"
#include "sql/apply.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace twinjit::sql;

namespace {

const Registry &registry() {
  static const Registry made = [] {
    Registry functions;
    registerIntegers(functions);
    registerFloats(functions);
    registerNumerics(functions);
    registerText(functions);
    registerTextConversions(functions);
    registerDates(functions);
    return functions;
  }();
  return made;
}

nb::dict symbols() {
  nb::dict found;
  for (const auto &[name, function] : registry().all())
    found[nb::str(("twinjit_sql_" + name).c_str())] = reinterpret_cast<uintptr_t>(function.address);
  return found;
}

using Array = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Given = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse(const std::string &name, const std::string &what) {
  throw nb::value_error((name + ": " + what).c_str());
}

template <typename Some> bool isOf(const Some &array, nb::dlpack::dtype_code code, int bits) {
  return array.dtype().code == static_cast<uint8_t>(code) && array.dtype().bits == bits;
}

/// Whether an array has the values of a form, and as many as there are rows.
template <typename Some> bool fits(const Some &array, Form form, size_t rows) {
  using Code = nb::dlpack::dtype_code;
  bool isWide = form == Form::Text || form == Form::Numeric;
  bool isShaped = isWide ? array.ndim() == 2 && array.shape(1) == 2 : array.ndim() == 1;
  if (!isShaped || array.shape(0) != rows)
    return false;
  switch (form) {
  case Form::Byte:
    return isOf(array, Code::UInt, 8);
  case Form::Int2:
    return isOf(array, Code::Int, 16);
  case Form::Int4:
    return isOf(array, Code::Int, 32);
  case Form::Float4:
    return isOf(array, Code::Float, 32);
  case Form::Float8:
    return isOf(array, Code::Float, 64);
  default:
    return isOf(array, Code::Int, 64);
  }
}

/// Takes an array as it is: of any other, nanobind would make a copy, in which results were lost.
template <typename Some>
Some arrayOf(const std::string &name, const std::string &what, nb::handle given) {
  Some array;
  if (!nb::try_cast(given, array, false))
    refuse(name, "give a contiguous array for " + what +
                     (std::is_same_v<Some, Array> ? ", writable" : ""));
  return array;
}

[[noreturn]] void refuseKind(const std::string &name, const std::string &what) {
  refuse(name, what + ": another dtype or shape than its rows have");
}

int64_t bytesOf(Form form) {
  switch (form) {
  case Form::Byte:
    return 1;
  case Form::Int2:
    return 2;
  case Form::Int4:
  case Form::Float4:
    return 4;
  case Form::Int8:
  case Form::Float8:
    return 8;
  default:
    return 16;
  }
}

/// The arguments of a call, kept here, and whole numbers that are the same for all rows.
class Arguments {
public:
  Arguments(const std::string &name, const Function &function, nb::tuple given, size_t rows) {
    if (given.size() != function.arguments.size())
      refuse(name, "takes " + std::to_string(function.arguments.size()) + " arguments, not " +
                       std::to_string(given.size()));
    numbers.reserve(given.size());
    for (size_t index = 0; index < given.size(); ++index)
      vectors.push_back(vectorOf(name, function.arguments[index], given[index], rows));
  }

  const Vector *data() const { return vectors.data(); }

private:
  Vector vectorOf(const std::string &name, Form form, nb::handle given, size_t rows) {
    std::string place = "argument " + std::to_string(vectors.size());
    if (nb::isinstance<nb::int_>(given) && form == Form::Int4)
      return numberOf(name, place, given);
    arrays.push_back(arrayOf<Given>(name, place, given));
    const Given &array = arrays.back();
    bool isBytes = form == Form::Int4 && fits(array, Form::Byte, rows);
    if (!isBytes && !fits(array, form, rows))
      refuseKind(name, place);
    int64_t stride = isBytes ? 1 : bytesOf(form);
    return {static_cast<const char *>(array.data()), stride, isBytes};
  }

  Vector numberOf(const std::string &name, const std::string &place, nb::handle given) {
    int32_t number;
    if (!nb::try_cast(given, number))
      refuse(name, place + " does not fit into 32 bits");
    numbers.push_back(number);
    return {reinterpret_cast<const char *>(&numbers.back()), 0, false};
  }

  std::vector<int32_t> numbers;
  std::vector<Given> arrays;
  std::vector<Vector> vectors;
};

void apply(const std::string &name, nb::sequence given, nb::handle givenActive,
           nb::handle givenResult, nb::handle givenFailures, Arena &arena) {
  auto found = registry().all().find(name);
  if (found == registry().all().end())
    refuse(name, "there is no such function");
  const Function &function = found->second;
  auto active = arrayOf<Given>(name, "the active rows", givenActive);
  auto failures = arrayOf<Array>(name, "the failures", givenFailures);
  auto result = arrayOf<Array>(name, "the result", givenResult);
  size_t rows = active.ndim() == 1 ? active.shape(0) : 0;
  if (!fits(active, Form::Byte, rows))
    refuseKind(name, "the active rows");
  if (!fits(failures, Form::Byte, rows))
    refuseKind(name, "the failures");
  if (!fits(result, function.result, rows))
    refuseKind(name, "the result");
  Arguments arguments(name, function, nb::tuple(given), rows);
  Rows about{static_cast<int64_t>(rows), static_cast<const uint8_t *>(active.data()),
             static_cast<uint8_t *>(failures.data()), &arena};
  nb::gil_scoped_release released;
  function.loop(arguments.data(), about, static_cast<char *>(result.data()));
}

} // namespace

NB_MODULE(_sql, m) {
  m.doc() = "SQL's runtime: what kernels call, and what the interpreter applies to vectors";
  nb::class_<Arena>(m, "Arena", "Memory for what expressions make; for one thread at a time.")
      .def(nb::init<>())
      .def_prop_ro(
          "address", [](Arena &arena) { return reinterpret_cast<uintptr_t>(&arena); },
          "What kernels are given.")
      .def_prop_ro("memory", &Arena::bytes, "Bytes that it holds.")
      .def("reset", &Arena::reset, "Take all memory back.");
  m.def("symbols", &symbols, nb::sig("def symbols() -> dict[str, int]"),
        "Addresses of the functions, by the names that kernels declare.");
  m.def("apply", &apply, nb::arg("name"), nb::arg("arguments"), nb::arg("active"),
        nb::arg("result"), nb::arg("failures"), nb::arg("arena"),
        nb::sig("def apply(name: str, arguments: Sequence[NDArray[Any] | int], "
                "active: NDArray[numpy.uint8], result: NDArray[Any], "
                "failures: NDArray[numpy.uint8], arena: Arena) -> None"),
        "Call a function for each row that is active and has not failed, without the GIL.\n\n"
        "Results are written where it does not fail, and codes of failures where it does.");
  bindTexts(m);
  bindAggregation(m);
}
