#include "ir/passes.h"

namespace twinjit {

void registerTwinjitPasses() {}

} // namespace twinjit
