/// The Python face of aggregation and joins.

#include "sql/aggregator.h"
#include "sql/bindings.h"
#include "sql/join_table.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>
#include <tuple>

namespace nb = nanobind;
using namespace twinjit::sql;

namespace {

using Words = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Spec = std::tuple<std::string, std::string, bool>;

std::optional<Kind> checkedKind(const std::string &name) {
  std::optional<Kind> kind = kindOf(name);
  if (!kind)
    throw std::invalid_argument("there is no kind " + name);
  return kind;
}

std::vector<Kind> kindsOf(const std::vector<std::string> &names) {
  std::vector<Kind> kinds;
  for (const std::string &name : names)
    kinds.push_back(*checkedKind(name));
  return kinds;
}

void makeAggregator(Aggregator *self, const std::vector<std::string> &keys,
                    const std::vector<Spec> &aggregates) {
  std::vector<AggregateSpec> specs;
  for (const auto &[function, kind, isDistinct] : aggregates)
    specs.push_back({function, kind.empty() ? std::nullopt : checkedKind(kind), isDistinct});
  new (self) Aggregator(kindsOf(keys), std::move(specs));
}

size_t columnsOf(const Aggregator &aggregator) {
  size_t columns = aggregator.keys().size();
  for (size_t index = 0; index < aggregator.aggregates(); ++index)
    columns += aggregator.hasArgument(index);
  return columns;
}

void checkWords(const Words &words, size_t columns) {
  if (words.shape(0) < 2 * columns)
    throw std::invalid_argument("there are fewer addresses than columns have");
}

void update(Aggregator &self, Words words, int64_t rows) {
  checkWords(words, columnsOf(self));
  nb::gil_scoped_release released;
  self.update(words.data(), rows);
}

int64_t run(Aggregator &self, uintptr_t kernel, Words inputs, Words slots, Words outputs,
            int64_t begin, int64_t end, int64_t step, Arena &arena, Words stop) {
  checkWords(outputs, columnsOf(self));
  if (step <= 0 || stop.shape(0) == 0)
    throw std::invalid_argument("give a step of one row or more, and a word to stop by");
  Aggregator::Call call{reinterpret_cast<Aggregator::Kernel>(kernel),
                        inputs.data(),
                        slots.data(),
                        outputs.data(),
                        &arena,
                        stop.data()};
  nb::gil_scoped_release released;
  return self.run(call, begin, end, step);
}

template <typename T> nb::object copied(const char *values, size_t rows, size_t words) {
  size_t count = rows * words;
  auto *copy = new T[count];
  nb::capsule owner(copy, [](void *kept) noexcept { delete[] static_cast<T *>(kept); });
  if (count)
    std::memcpy(copy, values, count * sizeof(T));
  if (words == 1)
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy, {rows}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(copy, {rows, words}, owner));
}

nb::tuple columnOf(Kind kind, Column column, size_t rows) {
  nb::object values;
  switch (kind) {
  case Kind::Bool:
    values = copied<uint8_t>(column.values, rows, 1);
    break;
  case Kind::Int2:
    values = copied<int16_t>(column.values, rows, 1);
    break;
  case Kind::Int4:
    values = copied<int32_t>(column.values, rows, 1);
    break;
  case Kind::Int8:
    values = copied<int64_t>(column.values, rows, 1);
    break;
  case Kind::Float4:
    values = copied<float>(column.values, rows, 1);
    break;
  case Kind::Float8:
    values = copied<double>(column.values, rows, 1);
    break;
  case Kind::Numeric:
  case Kind::Text:
    values = copied<int64_t>(column.values, rows, 2);
    break;
  }
  const auto *validity = reinterpret_cast<const char *>(column.validity);
  return nb::make_tuple(values, copied<uint8_t>(validity, rows, 1));
}

nb::tuple keyOf(const Aggregator &self, size_t index) {
  if (index >= self.keys().size())
    throw nb::index_error("there is no such key");
  return columnOf(self.keys()[index], self.key(index), self.groups());
}

nb::list statesOf(const Aggregator &self, size_t index) {
  if (index >= self.aggregates())
    throw nb::index_error("there is no such aggregate");
  const States &states = self.states(index);
  std::vector<Column> columns = states.columns();
  std::vector<Kind> kinds = states.kinds();
  nb::list found;
  for (size_t place = 0; place < columns.size(); ++place)
    found.append(columnOf(kinds[place], columns[place], self.groups()));
  return found;
}

nb::bytes save(const Aggregator &self) {
  std::string bytes = self.save();
  return nb::bytes(bytes.data(), bytes.size());
}

void bindAggregator(nb::module_ &m) {
  nb::class_<Aggregator>(
      m, "Aggregator",
      "Aggregates dense columns; for one thread at a time.\n\n"
      "`keys` are kinds; `aggregates` functions, kinds of arguments (empty for count(*)), and\n"
      "whether only the first of equal values counts. ValueError for what there is not.")
      .def("__init__", &makeAggregator, nb::arg("keys"), nb::arg("aggregates"))
      .def("update", &update, nb::arg("words"), nb::arg("rows"),
           nb::sig("def update(self, words: NDArray[numpy.int64], rows: int) -> None"),
           "Take rows in, without the GIL.\n\n"
           "`words` are the addresses of values and of validity, of the keys, then of arguments.")
      .def("run", &run, nb::arg("kernel"), nb::arg("inputs"), nb::arg("slots"), nb::arg("outputs"),
           nb::arg("begin"), nb::arg("end"), nb::arg("step"), nb::arg("arena"), nb::arg("stop"),
           nb::sig("def run(self, kernel: int, inputs: NDArray[numpy.int64], "
                   "slots: NDArray[numpy.int64], outputs: NDArray[numpy.int64], begin: int, "
                   "end: int, step: int, arena: Arena, stop: NDArray[numpy.int64]) -> int"),
           "Take in what a kernel writes, `step` rows at a time, without the GIL.\n\n"
           "Gives the first row that was not taken in: the kernel failed, an aggregate did, or\n"
           "`stop[0]` is not 0.")
      .def(
          "merge",
          [](Aggregator &self, const Aggregator &other) {
            nb::gil_scoped_release released;
            self.merge(other);
          },
          nb::arg("other"), "Take the groups of another aggregator of the same in, in order.")
      .def("save", &save, "Give it as bytes, for another process.")
      .def_static(
          "load", [](nb::bytes data) { return Aggregator::load(data.c_str(), data.size()); },
          nb::arg("data"), "Read what `save` gave; ValueError for anything else.")
      .def("key", &keyOf, nb::arg("index"),
           nb::sig("def key(self, index: int) -> tuple[NDArray[Any], NDArray[numpy.uint8]]"),
           "Values and validity of a key, for all groups; texts live as long as this does.")
      .def("states", &statesOf, nb::arg("index"),
           nb::sig("def states(self, index: int) -> "
                   "list[tuple[NDArray[Any], NDArray[numpy.uint8]]]"),
           "Values and validity of what an aggregate's states consist of: of the result, or, for\n"
           "avg, of the sum and the count.")
      .def_prop_ro("groups", &Aggregator::groups, "How many groups there are.")
      .def_prop_ro(
          "failure", [](const Aggregator &self) { return static_cast<int>(self.failure()); },
          "The code of the failure of an aggregate; 0 for none.")
      .def_prop_ro("memory", &Aggregator::bytes, "Bytes that it holds.");
}

void bindJoinTable(nb::module_ &m) {
  nb::class_<JoinTable>(m, "JoinTable",
                        "Rows by their keys, of which kinds are given; for one thread at a time.")
      .def(
          "__init__",
          [](JoinTable *self, const std::vector<std::string> &kinds) {
            new (self) JoinTable(kindsOf(kinds));
          },
          nb::arg("kinds"))
      .def(
          "build",
          [](JoinTable &self, Words words, int64_t rows) {
            checkWords(words, self.kinds().size());
            nb::gil_scoped_release released;
            self.build(words.data(), rows);
          },
          nb::arg("words"), nb::arg("rows"),
          nb::sig("def build(self, words: NDArray[numpy.int64], rows: int) -> None"),
          "Add rows, which are numbered on.")
      .def(
          "probe",
          [](JoinTable &self, Words words, int64_t rows) {
            checkWords(words, self.kinds().size());
            JoinTable::Pairs pairs;
            {
              nb::gil_scoped_release released;
              pairs = self.probe(words.data(), rows);
            }
            auto array = [](const std::vector<int64_t> &numbers) {
              const auto *raw = reinterpret_cast<const char *>(numbers.data());
              return copied<int64_t>(raw, numbers.size(), 1);
            };
            return nb::make_tuple(array(pairs.probed), array(pairs.built));
          },
          nb::arg("words"), nb::arg("rows"),
          nb::sig("def probe(self, words: NDArray[numpy.int64], rows: int) -> "
                  "tuple[NDArray[numpy.int64], NDArray[numpy.int64]]"),
          "Give the numbers of rows looked up, and of rows with equal keys, as two arrays.")
      .def_prop_ro("memory", &JoinTable::bytes, "Bytes that it holds.");
}

} // namespace

void twinjit::sql::bindAggregation(nb::module_ &m) {
  bindAggregator(m);
  bindJoinTable(m);
}
