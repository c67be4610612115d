#include "call/function.h"

#include "call/call.h"
#include "call/errors.h"
#include "codegen/image.h"
#include "codegen/runtime.h"
#include "common/gil.h"
#include "common/symbols.h"

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <structmember.h>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace twinjit::call {
namespace {

/// Code that a function had before. Calls may still be in it, and what it returned refer to it.
struct FormerCode {
  std::unique_ptr<const Plan> plan;
  Ref image;
};

/// What only a function has whose calls are counted or whose code was replaced.
struct Replacing {
  Py_ssize_t callsLeft = 0;
  Ref onReached; // called before the last of these calls
  std::vector<FormerCode> former;
};

// Guarded by the GIL, but for what `plan` points to.
struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *weakReferences;
  PyObject *image; // keeps the code mapped
  PyObject *keeps; // what the code refers to beside, or null
  const Plan *plan;
  Replacing *replacing; // null where there is none of it
};

FunctionObject &functionOf(PyObject *self) { return *reinterpret_cast<FunctionObject *>(self); }

const Plan &planOf(PyObject *self) { return *functionOf(self).plan; }

/// How a call ended that did not return.
struct Ending {
  const char *message = nullptr; // in the program's memory
  PyObject *exception = nullptr; // owned, of a lazy function that could not be compiled
};

/// Call code that may stop itself.
Ending callGuarded(void (*entry)(uint64_t *), uint64_t *slots) {
  FailureFrame frame;
  if (setjmp(frame.jump) == 0)
    entry(slots);
  return {frame.message, static_cast<PyObject *>(frame.exception)};
}

/// The only place where the GIL is not held.
Ending run(const Plan &plan, uint64_t *slots) {
  WithoutGil released;
  if (plan.canFail)
    return callGuarded(plan.entry, slots);
  plan.entry(slots);
  return {};
}

/// Find `out` among the keywords, whose values follow the `count` positional arguments. False, with
/// an exception set, for any other keyword.
bool findOut(const Plan &plan, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords,
             PyObject *&out) {
  for (Py_ssize_t i = 0; i != PyTuple_GET_SIZE(keywords); ++i) {
    PyObject *keyword = PyTuple_GET_ITEM(keywords, i);
    if (PyUnicode_CompareWithASCIIString(keyword, "out") != 0) {
      raiseError(kTypeError, plan.name + ": unknown keyword " + shortRepr(keyword) +
                                 "; arguments are positional, and the only keyword is out (" +
                                 plan.text + ")");
      return false;
    }
    out = arguments[count + i];
  }
  return true;
}

Ref refuseCount(const Plan &plan, Py_ssize_t given) {
  raiseError(kTypeError, plan.name + ": " + std::to_string(plan.argumentCount) +
                             (plan.argumentCount == 1 ? " argument is" : " arguments are") +
                             " expected, but " + std::to_string(given) +
                             (given == 1 ? " was" : " were") + " given (" + plan.text + ")");
  return Ref();
}

Ref invoke(const Plan &plan, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  PyObject *out = nullptr;
  if (keywords && !findOut(plan, arguments, count, keywords, out))
    return Ref();
  if (count != static_cast<Py_ssize_t>(plan.argumentCount))
    return refuseCount(plan, count);
  Call call(plan, arguments);
  if (!call.bind(out))
    return Ref();
  Ending ending = run(plan, call.data());
  if (ending.exception) {
    restoreException(Ref(ending.exception));
    return Ref();
  }
  if (ending.message) {
    raiseError("ExecutionError", plan.name + ": " + ending.message);
    return Ref();
  }
  return call.takeResults();
}

PyObject *vectorcall(PyObject *self, PyObject *const *arguments, size_t flaggedCount,
                     PyObject *keywords) {
  // Other threads may drop their references while the code runs.
  Ref alive = Ref::borrow(self);
  try {
    return invoke(planOf(self), arguments, PyVectorcall_NARGS(flaggedCount), keywords).release();
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  }
}

/// As vectorcall(), for a function whose calls are counted.
PyObject *countedVectorcall(PyObject *self, PyObject *const *arguments, size_t flaggedCount,
                            PyObject *keywords) {
  Ref alive = Ref::borrow(self);
  FunctionObject &function = functionOf(self);
  if (--function.replacing->callsLeft == 0) {
    function.vectorcall = vectorcall;
    Ref callback = std::move(function.replacing->onReached);
    if (!Ref(PyObject_CallNoArgs(callback.get()))) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) // an interrupt, which is no fault of anyone's
        return nullptr;
      PyErr_WriteUnraisable(self); // no fault of this call's
    }
  }
  return vectorcall(self, arguments, flaggedCount, keywords);
}

/// Have `plan` lead into an image.
void enter(Plan &plan, nb::handle image) {
  plan.image = nb::inst_ptr<Image>(image);
  plan.canFail = plan.image->canFail();
  void *address = plan.image->address(callSymbol(plan.entryName));
  if (!address)
    throw std::invalid_argument("the image has no entry of that name");
  plan.entry = reinterpret_cast<void (*)(uint64_t *)>(address);
}

Plan makePlan(nb::handle image, const std::string &entry, const std::string &name,
              nb::handle arguments, nb::handle results, nb::handle slots) {
  Plan plan = readSignature(name, arguments, results, slots);
  plan.entryName = entry;
  enter(plan, image);
  return plan;
}

PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static const char *names[] = {"image", "name",  "arguments", "results",
                                "slots", "keeps", "entry",     nullptr};
  PyObject *image, *parameters, *results, *slots, *keeps = nullptr;
  const char *name, *entry = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OsOOO|Oz:Function",
                                   const_cast<char **>(names), &image, &name, &parameters, &results,
                                   &slots, &keeps, &entry))
    return nullptr;
  if (!nb::isinstance<Image>(image))
    return PyErr_Format(PyExc_TypeError, "image must be an Image, not %s", Py_TYPE(image)->tp_name);
  Ref self(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  auto *function = reinterpret_cast<FunctionObject *>(self.get());
  std::string problem;
  try {
    function->plan =
        new Plan(makePlan(image, entry ? entry : name, name, parameters, results, slots));
    function->image = Py_NewRef(image);
    function->keeps = Py_XNewRef(keeps);
    function->vectorcall = vectorcall;
    return self.release();
  } catch (nb::python_error &error) {
    problem = "its description is malformed";
    error.restore(); // becomes the cause
  } catch (const std::exception &error) {
    problem = error.what();
  }
  raiseError("ArtifactError",
             "the function '" + std::string(name) + "' cannot be called: " + problem);
  return nullptr;
}

/// Whatever refers back to the function does so through Python's objects, which can let go of it;
/// until the function itself is gone it needs what it has.
int traverse(PyObject *self, visitproc visit, void *arg) {
  const FunctionObject &function = functionOf(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(function.image);
  Py_VISIT(function.keeps);
  if (!function.replacing)
    return 0;
  Py_VISIT(function.replacing->onReached.get());
  for (const FormerCode &each : function.replacing->former)
    Py_VISIT(each.image.get());
  return 0;
}

void destroy(PyObject *self) {
  PyObject_GC_UnTrack(self);
  auto *function = reinterpret_cast<FunctionObject *>(self);
  PyTypeObject *type = Py_TYPE(self);
  if (function->weakReferences)
    PyObject_ClearWeakRefs(self);
  delete function->plan;
  delete function->replacing;
  Py_XDECREF(function->image);
  Py_XDECREF(function->keeps);
  type->tp_free(self);
  Py_DECREF(type);
}

Replacing &replacingOf(FunctionObject &function) {
  if (!function.replacing)
    function.replacing = new Replacing();
  return *function.replacing;
}

PyObject *countCalls(PyObject *self, PyObject *arguments) {
  Py_ssize_t calls;
  PyObject *callback;
  if (!PyArg_ParseTuple(arguments, "nO:count_calls", &calls, &callback))
    return nullptr;
  if (calls < 1)
    return PyErr_Format(PyExc_ValueError, "calls must be 1 or more, not %zd", calls);
  FunctionObject &function = functionOf(self);
  Replacing &replacing = replacingOf(function);
  replacing.callsLeft = calls;
  Ref former = std::exchange(replacing.onReached, Ref::borrow(callback)); // may run code as it goes
  function.vectorcall = countedVectorcall;
  Py_RETURN_NONE;
}

PyObject *replaceCode(PyObject *self, PyObject *image) {
  if (!nb::isinstance<Image>(image))
    return PyErr_Format(PyExc_TypeError, "image must be an Image, not %s", Py_TYPE(image)->tp_name);
  FunctionObject &function = functionOf(self);
  auto plan = std::make_unique<Plan>(*function.plan);
  try {
    enter(*plan, image);
  } catch (const std::invalid_argument &error) {
    raiseError("ArtifactError",
               "the function '" + plan->name + "' cannot have other code: " + error.what());
    return nullptr;
  }
  FormerCode former{std::unique_ptr<const Plan>(std::exchange(function.plan, plan.release())),
                    Ref(std::exchange(function.image, Py_NewRef(image)))};
  replacingOf(function).former.push_back(std::move(former));
  Py_RETURN_NONE;
}

PyObject *represent(PyObject *self) {
  return PyUnicode_FromFormat("<twinjit function %s>", planOf(self).text.c_str());
}

PyObject *getName(PyObject *self, void *) {
  return PyUnicode_FromString(planOf(self).name.c_str());
}

PyObject *getSignature(PyObject *self, void *) {
  return PyUnicode_FromString(planOf(self).text.c_str());
}

PyObject *getAddress(PyObject *self, void *) {
  return PyLong_FromVoidPtr(reinterpret_cast<void *>(planOf(self).entry));
}

PyGetSetDef kAttributes[] = {
    {"__name__", getName, nullptr, "The function's name in the program.", nullptr},
    {"signature", getSignature, nullptr, "Name, arguments and results, in MLIR's types.", nullptr},
    {"address", getAddress, nullptr, "Address of its ``void(uint64_t *slots)`` entry.", nullptr},
    {},
};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakReferences), READONLY, nullptr},
    {},
};

PyMethodDef kMethods[] = {
    {"count_calls", countCalls, METH_VARARGS,
     "count_calls($self, calls, callback, /)\n--\n\n"
     "Call back, once and without arguments, before the last of so many calls from now on. What "
     "the callback raises is unraisable, but for what is no Exception, which the call raises."},
    {"replace_code", replaceCode, METH_O,
     "replace_code($self, image, /)\n--\n\n"
     "Have later calls run the entry of another image, whose code takes and gives the same. The "
     "former code lives as long as the function. Raises ArtifactError where there is none."},
    {},
};

constexpr char kDoc[] = R"(Function(image, name, arguments, results, slots, keeps=None, entry=None)
--

A compiled function, callable from any thread: ``f(*args, out=None)``.

Parameters
----------
image
    The ``Image`` that has the code; kept alive.
name
    An entry given to ``load``, or what to call it in messages.
arguments, results
    Sequences of mappings with the keys that ``Program.signatures()`` gives: ``kind``, ``dtype``,
    ``shape``, ``strides``, ``offset``, ``text``, ``read_only``.
slots
    What ``emit`` returned for the entry: the slots that its arguments and results take.
keeps
    Kept alive as well: what the image is linked to.
entry
    The entry given to ``load``, where that is not ``name``.

Raises
------
ArtifactError
    The description is malformed, or not that of the code.

A tensor result whose shape is static is an out-parameter, which the code takes as a row-major
memref after its arguments, unless ``slots`` says that it is returned like every other result.)";

} // namespace

Ref makeFunctionType() {
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void *>(create)},
      {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void *>(represent)},
      {Py_tp_getset, kAttributes},
      {Py_tp_methods, kMethods},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char *>(kDoc)},
      {0, nullptr},
  };
  PyType_Spec spec = {"twinjit._native._llvm.Function", sizeof(FunctionObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_IMMUTABLETYPE,
                      slots};
  return Ref(PyType_FromSpec(&spec));
}

} // namespace twinjit::call
