// What compiled code calls in place of a function that may not be compiled yet.
#pragma once

#include "llvm/IR/Module.h"

namespace twinjit::lazy {

/// Make `stub`, a declaration, call the function that the cell `cell` leads to, and have that
/// compiled where it leads nowhere yet:
///
///     target = atomic load of the cell
///     if target: musttail call target(arguments)
///     else:      musttail call cold(arguments)
///     cold:      target = resolve(the cell)
///                if target: musttail call target(arguments)
///                else:      return zero
///
/// In IR, so that the code generator keeps all arguments where they are, whatever registers and
/// stack they take, and both paths have the calling convention of the function. Where `musttail`
/// is none of what LLVM can do (forwarding.h), they are calls. `caller` says for which CPU the code
/// is, or null for the module's. There must be no whyNoStub().
///
/// Zero is what a caller gets to which no error can be raised (resolver.h): null and 0, and a
/// struct of them in memory that the caller gives for the result. Attributes that rule them out are
/// dropped from the stub; see also dropPromises().
void fillStub(llvm::Function &stub, llvm::GlobalVariable &cell, const llvm::Function *caller);

/// Drop, from calls of `stub`, what the function promises of its results and its end: a stub that
/// fails does not keep it.
void dropPromises(llvm::Function &stub);

} // namespace twinjit::lazy
