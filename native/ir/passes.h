// The passes of our own that named pipelines use beside upstream's.
#pragma once

namespace twinjit {

/// Make them known to the pass-pipeline parser. Called once, by registerPasses().
void registerTwinjitPasses();

} // namespace twinjit
