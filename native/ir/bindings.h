// What the files that bind parts of this folder give each other. Needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

namespace twinjit {

void bindIdentity(nanobind::module_ &m);
void bindLive(nanobind::module_ &m);
void bindPipeline(nanobind::module_ &m);
void bindPool(nanobind::module_ &m);
void bindProgram(nanobind::module_ &m);

/// Once, when the module is made; see diagnostics.h.
void shareHandlers();

/// Before pipelines are read or run. Not at import: fingerprints need no passes, and whoever wants
/// no more may load other packages' bindings afterwards.
void loadPasses();

} // namespace twinjit
