// What LLVM reports, and the lines that it is about.
#pragma once

#include "common/outcome.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit {

/// Keeps what LLVM reports on a context instead of letting it print or exit.
class DiagnosticCollector : public llvm::DiagnosticHandler {
public:
  explicit DiagnosticCollector(std::vector<Diagnostic> &diagnostics) : diagnostics(diagnostics) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Remark)
      return true; // statistics of passes
    static constexpr const char *kNames[] = {"error", "warning", "remark", "note"};
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    diagnostics.push_back({kNames[info.getSeverity()], text});
    return true;
  }

private:
  std::vector<Diagnostic> &diagnostics;
};

/// A line of text and a caret below one of its columns, counted from 0; the part around it where
/// the line is long.
inline std::string excerpt(llvm::StringRef line, size_t column) {
  constexpr size_t kWidth = 100;
  line = line.rtrim('\r');
  column = std::min(column, line.size());
  size_t skipped = column > kWidth / 2 ? column - kWidth / 2 : 0;
  return (line.substr(skipped, kWidth) + "\n").str() + std::string(column - skipped, ' ') + "^";
}

} // namespace twinjit
