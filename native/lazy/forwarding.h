// How a stub can pass a call on.
#pragma once

#include "llvm/IR/Function.h"

#include <string>

namespace twinjit::lazy {

/// Whether calls can be passed on in place, as `musttail`, taking no stack. Only where LLVM is
/// known to manage, on X86 and elsewhere: it ends the process where a result is given in memory
/// that it adds as a parameter. No call of such a function is ever made in place, so that nothing
/// is lost.
///
/// Upstream defect. Versions: LLVM 22.1.8. Trigger: `musttail` by a pointer under a calling
/// convention that keeps nearly all registers, or another system's. Symptom: crashes at run time.
/// Remove when: tests/lazy/test_conventions.py holds without.
bool passesOnInPlace(const llvm::Function &function);

/// Linkage of what passes on calls of a function, which no other object sees.
///
/// Upstream defect. Versions: LLVM 22.1.8. Trigger: a `musttail` call of a `tailcc` or
/// `swifttailcc` function that passes a constant on the stack. Symptom: it is not written there.
/// What is not local gets no constants in place of its parameters. Remove when: as above.
llvm::GlobalValue::LinkageTypes linkageOfStub(const llvm::Function &function);

/// Why a function can have no stub at all; empty where nothing is known against it.
std::string whyNoStub(const llvm::Function &function);

} // namespace twinjit::lazy
