/// Texts for Arrow.

#include "sql/bindings.h"
#include "sql/runtime.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace nb = nanobind;
using namespace twinjit::sql;

namespace {

using Pairs = nb::ndarray<const int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Validity = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T> nb::object arrayOf(std::unique_ptr<T[]> values, size_t count) {
  T *data = values.release();
  nb::capsule owner(data, [](void *kept) noexcept { delete[] static_cast<T *>(kept); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {count}, owner));
}

nb::tuple texts(Pairs pairs, Validity validity) {
  size_t rows = pairs.shape(0);
  if (validity.shape(0) != rows)
    throw nb::value_error("there are more or fewer bytes of validity than texts");
  const auto *given = reinterpret_cast<const Text *>(pairs.data());
  auto offsets = std::make_unique<int32_t[]>(rows + 1);
  std::unique_ptr<uint8_t[]> data;
  int64_t end = 0;
  bool isTooLong = false;
  {
    nb::gil_scoped_release released;
    offsets[0] = 0;
    for (size_t row = 0; row < rows && !isTooLong; ++row) {
      end += validity.data()[row] ? given[row].length : 0;
      isTooLong = end > std::numeric_limits<int32_t>::max();
      offsets[row + 1] = static_cast<int32_t>(end);
    }
    if (!isTooLong) {
      data.reset(new uint8_t[end + 1]);
      for (size_t row = 0; row < rows; ++row)
        if (validity.data()[row] && given[row].length)
          std::memcpy(data.get() + offsets[row], given[row].data, given[row].length);
    }
  }
  if (isTooLong) {
    PyErr_SetString(PyExc_OverflowError, "the texts of a batch take 2 GiB or more");
    throw nb::python_error();
  }
  return nb::make_tuple(arrayOf(std::move(offsets), rows + 1), arrayOf(std::move(data), end));
}

} // namespace

void twinjit::sql::bindTexts(nb::module_ &m) {
  m.def("texts", &texts, nb::arg("pairs"), nb::arg("validity"),
        nb::sig("def texts(pairs: NDArray[numpy.int64], validity: NDArray[numpy.uint8]) -> "
                "tuple[NDArray[numpy.int32], NDArray[numpy.uint8]]"),
        "Copy texts into what an Arrow string array is made of: offsets, and bytes.\n\n"
        "`pairs` has the shape (rows, 2): addresses and lengths. Without the GIL.");
}
