// Outlines as Python has them. Holds the GIL.
#pragma once

#include "common/outline.h"
#include "common/raise.h"

#include <nanobind/nanobind.h>

namespace twinjit {

inline nanobind::tuple toPython(const OutlineField &field) {
  nanobind::list references;
  for (uint64_t reference : field.references)
    references.append(reference);
  return nanobind::make_tuple(decoded(field.name),
                              nanobind::bytes(field.digest.data(), field.digest.size()),
                              decoded(field.text), nanobind::tuple(references));
}

inline nanobind::tuple toPython(const OutlineRecord &record) {
  nanobind::list fields, defines;
  for (const OutlineField &field : record.fields)
    fields.append(toPython(field));
  for (const auto &[identity, name] : record.defines)
    defines.append(nanobind::make_tuple(identity, decoded(name)));
  nanobind::bytes digest = record.digest
                               ? nanobind::bytes(record.digest->data(), record.digest->size())
                               : nanobind::bytes("", 0);
  return nanobind::make_tuple(record.depth, nanobind::str(record.kind.data(), record.kind.size()),
                              decoded(record.label), decoded(record.symbol),
                              decoded(record.location), digest, nanobind::tuple(fields),
                              nanobind::tuple(defines));
}

inline nanobind::list toPython(const std::vector<OutlineRecord> &records) {
  nanobind::list result;
  for (const OutlineRecord &record : records)
    result.append(toPython(record));
  return result;
}

} // namespace twinjit
