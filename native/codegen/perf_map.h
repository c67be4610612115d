// /tmp/perf-PID.map: where perf looks for the names of functions in memory that no file backs.
#pragma once

#include "codegen/observed_code.h"
#include "common/private_file.h"

#include <string>

namespace twinjit {

// One line for each function, appended, as other compilers in the process do to the same file:
//   ADDRESS SIZE NAME \n      in hexadecimal digits; the name is the rest of the line
// The format has no word for code that was unloaded. perf reads the file after the process has
// ended, so nobody removes it.

/// Not safe for threads by itself.
class PerfMap {
public:
  bool isOpen() const { return file.isOpen(); }

  /// Open the file of this process. Says what is wrong, if anything is: a file there must be this
  /// user's, and no link. What a process of the same number has left behind is cleared away.
  std::string open();

  /// Says what is wrong, if anything is.
  std::string add(const std::vector<ObservedFunction> &functions, llvm::StringRef suffix);

  void close() { file.close(); }

private:
  PrivateFile file;
};

} // namespace twinjit
