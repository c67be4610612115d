#include "ir/passes.h"
#include "ir/passes/all.h"

#include "mlir/Pass/PassRegistry.h"

namespace twinjit {

void registerTwinjitPasses() {
  for (auto create : {createTensorAbiPass, createVectorisableLoopsPass, createCopiesToLoopsPass,
                      createAssertionsPass, createBoolBuffersPass})
    mlir::registerPass([create] { return create(); });
}

} // namespace twinjit
