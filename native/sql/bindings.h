/// Parts of the Python face.

#ifndef TWINJIT_SQL_BINDINGS_H
#define TWINJIT_SQL_BINDINGS_H

#include <nanobind/nanobind.h>

namespace twinjit::sql {

void bindTexts(nanobind::module_ &m);
void bindAggregation(nanobind::module_ &m);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_BINDINGS_H
