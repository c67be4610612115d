// Names of the fields of nodes. Numbers are persisted in fingerprints and never reused.
#pragma once

#include "llvmir/sink.h"

namespace twinjit::llvmir::names {

// Of modules.
inline constexpr FieldName kTriple{1, "target triple"};
inline constexpr FieldName kDataLayout{2, "data layout"};
inline constexpr FieldName kModuleAsm{3, "module assembly"};
inline constexpr FieldName kSourceFile{4, "source file"};

// Of symbols.
inline constexpr FieldName kName{10, "name"};
inline constexpr FieldName kValueType{11, "type"};
inline constexpr FieldName kAddressSpace{12, "address space"};
inline constexpr FieldName kLinkage{13, "linkage"};
inline constexpr FieldName kVisibility{14, "visibility"};
inline constexpr FieldName kDllStorage{15, "DLL storage class"};
inline constexpr FieldName kThreadLocal{16, "thread-local model"};
inline constexpr FieldName kUnnamedAddress{17, "unnamed address"};
inline constexpr FieldName kDsoLocal{18, "DSO-local"};
inline constexpr FieldName kPartition{19, "partition"};
inline constexpr FieldName kSection{20, "section"};
inline constexpr FieldName kComdat{21, "comdat"};
inline constexpr FieldName kComdatKind{22, "comdat kind"};
inline constexpr FieldName kSymbolAlignment{23, "alignment"};
inline constexpr FieldName kSanitizer{24, "sanitizer"};
inline constexpr FieldName kConstant{25, "constant"};
inline constexpr FieldName kExternallyInitialized{26, "externally initialized"};
inline constexpr FieldName kCodeModel{27, "code model"};
inline constexpr FieldName kInitializer{28, "initializer"};
inline constexpr FieldName kLifted{29, "lifted initializer"};
inline constexpr FieldName kAliasee{30, "aliasee"};
inline constexpr FieldName kResolver{31, "resolver"};
inline constexpr FieldName kConvention{32, "calling convention"};
inline constexpr FieldName kCollector{33, "garbage collector"};
inline constexpr FieldName kPersonality{34, "personality"};
inline constexpr FieldName kPrefix{35, "prefix data"};
inline constexpr FieldName kPrologue{36, "prologue data"};
inline constexpr FieldName kDeclaration{37, "declaration"};

// Of symbols and instructions.
inline constexpr FieldName kAttributes{40, "attributes"};
inline constexpr FieldName kAttachment{41, "metadata"};
inline constexpr FieldName kResultAttributes{42, "result attributes"};
inline constexpr FieldName kArgumentAttributes{43, "argument attributes"};

// Of instructions.
inline constexpr FieldName kResultType{50, "result type"};
inline constexpr FieldName kOperand{51, "operand"};
inline constexpr FieldName kSuccessor{52, "successor"};
inline constexpr FieldName kFlags{53, "flags"};
inline constexpr FieldName kPredicate{54, "predicate"};
inline constexpr FieldName kElementType{55, "element type"};
inline constexpr FieldName kAlignment{56, "alignment"};
inline constexpr FieldName kVolatile{57, "volatile"};
inline constexpr FieldName kOrdering{58, "ordering"};
inline constexpr FieldName kFailureOrdering{59, "failure ordering"};
inline constexpr FieldName kScope{60, "synchronization scope"};
inline constexpr FieldName kWeak{61, "weak"};
inline constexpr FieldName kOperation{62, "operation"};
inline constexpr FieldName kInAlloca{63, "inalloca"};
inline constexpr FieldName kSwiftError{64, "swifterror"};
inline constexpr FieldName kIndices{65, "indices"};
inline constexpr FieldName kMask{66, "mask"};
inline constexpr FieldName kCleanup{67, "cleanup"};
inline constexpr FieldName kFilter{68, "filter"};
inline constexpr FieldName kIncomingBlock{69, "incoming block"};
inline constexpr FieldName kCase{70, "case"};
inline constexpr FieldName kCallee{71, "callee"};
inline constexpr FieldName kArgument{72, "argument"};
inline constexpr FieldName kCallType{73, "function type"};
inline constexpr FieldName kTail{74, "tail call"};
inline constexpr FieldName kBundle{75, "operand bundle"};
inline constexpr FieldName kLocation{76, "location"};

// Of debug records.
inline constexpr FieldName kVariable{90, "variable"};
inline constexpr FieldName kExpression{91, "expression"};
inline constexpr FieldName kValueLocation{92, "value"};
inline constexpr FieldName kAssignment{93, "assignment"};
inline constexpr FieldName kAddress{94, "address"};
inline constexpr FieldName kAddressExpression{95, "address expression"};
inline constexpr FieldName kDebugLabel{96, "label"};

// Of metadata.
inline constexpr FieldName kElement{100, "operand"};
inline constexpr FieldName kNode{101, "node"};

} // namespace twinjit::llvmir::names
