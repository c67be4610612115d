// The exceptions of a call. Their classes are looked up in twinjit.errors when one is raised.
#pragma once

#include "call/signature.h"

#include <string>

namespace twinjit::call {

/// Take the exception that is set, as an instance with its traceback; null when none is.
Ref takeException();

/// Set an exception that was taken.
void restoreException(Ref exception);

/// Raise twinjit.errors.<className>(message), caused by the exception already set, if any.
void raiseError(const char *className, const std::string &message);

inline constexpr char kTypeError[] = "ArgumentTypeError";
inline constexpr char kValueError[] = "ArgumentValueError";

/// Raise "<function>: <argument 2> must be <type>, but <given>; <cure>", likewise caused. An
/// exception that is set and is not the argument's fault (MemoryError, KeyboardInterrupt) stays.
void raiseArgument(const char *className, const Plan &plan, unsigned parameter,
                   const std::string &given, const std::string &cure);

/// "an int", "a numpy.ndarray": the object's type, for "but ... was given".
std::string typeName(PyObject *object);

/// repr(object), shortened; the type's name where that fails. No exception may be set.
std::string shortRepr(PyObject *object);

} // namespace twinjit::call
