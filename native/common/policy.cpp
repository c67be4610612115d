#include "common/policy.h"

#include "llvm/Support/JSON.h"

namespace twinjit {
namespace {

/// Reads the settings of one object, and notes which is missing or has another word.
class Settings {
public:
  explicit Settings(const llvm::json::Object &object) : object(object) {}

  /// Whether `name` is `on`, where it must be that or `off`.
  bool isOn(llvm::StringRef name, llvm::StringRef off, llvm::StringRef on) {
    std::optional<llvm::StringRef> word = object.getString(name);
    if (!word || (*word != off && *word != on))
      wrong = name.str();
    return word == on;
  }

  void readDiscardable(Policy &policy) {
    const llvm::json::Array *names = object.getArray("discardable");
    if (!names) {
      policy.ignoreAllDiscardable = isOn("discardable", "keep", "ignore");
      return;
    }
    for (const llvm::json::Value &name : *names) {
      if (std::optional<llvm::StringRef> text = name.getAsString())
        policy.ignoredDiscardable.insert(*text);
      else
        wrong = "discardable";
    }
  }

  void readConstants(Policy &policy) {
    if (!isOn("constants", "content", "lift"))
      return;
    std::optional<int64_t> bytes = object.getInteger("lift_bytes");
    if (!bytes || *bytes < 1)
      wrong = "lift_bytes";
    else
      policy.liftFrom = static_cast<uint64_t>(*bytes);
  }

  std::string wrong; // a setting that cannot be read; empty while all can

private:
  const llvm::json::Object &object;
};

} // namespace

Outcome<Policy> Policy::parse(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return Failure{Kind::Policy,
                   "the policy's text is not JSON: " + llvm::toString(value.takeError())};
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return Failure{Kind::Policy, "the policy's text is no JSON object"};
  Policy policy;
  Settings settings(*object);
  policy.ignoreLocations = !settings.isOn("locations", "ignore", "keep");
  policy.renamePrivateSymbols = settings.isOn("private_symbols", "keep", "rename");
  policy.ignoreSymbolOrder = settings.isOn("symbol_order", "keep", "ignore");
  policy.ignoreOperandOrder = settings.isOn("commutative", "keep", "ignore");
  policy.ignoreModuleName = settings.isOn("module_name", "keep", "ignore");
  settings.readDiscardable(policy);
  settings.readConstants(policy);
  if (!settings.wrong.empty())
    return Failure{Kind::Policy, "the policy's " + settings.wrong + " cannot be read"};
  policy.text = text.str();
  return policy;
}

} // namespace twinjit
