// Constructors of our passes. Each pass's file says what it does and why upstream's will not do.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace twinjit {

std::unique_ptr<mlir::Pass> createTensorAbiPass();
std::unique_ptr<mlir::Pass> createVectorisableLoopsPass();
std::unique_ptr<mlir::Pass> createCopiesToLoopsPass();
std::unique_ptr<mlir::Pass> createAssertionsPass();
std::unique_ptr<mlir::Pass> createBoolBuffersPass();

} // namespace twinjit
