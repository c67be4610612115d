// Outlines as Python has them. Holds the GIL.
#pragma once

#include "common/outline.h"

#include <nanobind/nanobind.h>

namespace twinjit {

inline nanobind::tuple toPython(const OutlineField &field) {
  nanobind::list references;
  for (uint64_t reference : field.references)
    references.append(reference);
  return nanobind::make_tuple(nanobind::str(field.name.data(), field.name.size()),
                              nanobind::bytes(field.digest.data(), field.digest.size()),
                              nanobind::str(field.text.data(), field.text.size()),
                              nanobind::tuple(references));
}

inline nanobind::tuple toPython(const OutlineRecord &record) {
  nanobind::list fields, defines;
  for (const OutlineField &field : record.fields)
    fields.append(toPython(field));
  for (const auto &[identity, name] : record.defines)
    defines.append(nanobind::make_tuple(identity, nanobind::str(name.data(), name.size())));
  nanobind::bytes digest = record.digest
                               ? nanobind::bytes(record.digest->data(), record.digest->size())
                               : nanobind::bytes("", 0);
  return nanobind::make_tuple(record.depth, nanobind::str(record.kind.data(), record.kind.size()),
                              nanobind::str(record.label.data(), record.label.size()),
                              nanobind::str(record.symbol.data(), record.symbol.size()),
                              nanobind::str(record.location.data(), record.location.size()), digest,
                              nanobind::tuple(fields), nanobind::tuple(defines));
}

} // namespace twinjit
