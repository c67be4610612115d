#include "library/decision.h"

#include "llvm/ADT/StringSet.h"

namespace twinjit::library {
namespace {

/// Nearest first: whatever is met again has a lower limit then, and so no better chance.
class Walk {
public:
  Walk(const std::optional<ImportPolicy> &policy, FindFacts find) : policy(policy), find(find) {}

  Outcome<std::vector<Decision>> run(const std::vector<std::string> &names);

private:
  void meet(const std::string &name, int parent);
  void judge(Decision &decision) const;
  std::string obstacleOf(const Decision &decision) const;
  void follow(const Facts &facts, int parent);

  const std::optional<ImportPolicy> &policy;
  FindFacts find;
  std::vector<Decision> decisions;
  llvm::StringSet<> met;
};

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

void Walk::meet(const std::string &name, int parent) {
  if (!met.insert(name).second)
    return;
  Decision decision;
  decision.name = name;
  decision.parent = parent;
  if (policy)
    decision.limit = parent == Decision::kNone ? policy->maxInstructions
                                               : decisions[parent].limit * policy->decay;
  decisions.push_back(std::move(decision));
}

std::string Walk::obstacleOf(const Decision &decision) const {
  if (!decision.facts)
    return "the library does not define it";
  for (const Obstacle &obstacle : decision.facts->obstacles)
    if (policy || !obstacle.isForProvided)
      return obstacle.reason;
  if (policy && !decision.facts->isFunction)
    return "it is a variable of the process";
  if (policy && decision.cost > decision.limit)
    return "it costs " + number(decision.cost) + " instructions, and may cost " +
           number(decision.limit);
  return "";
}

void Walk::judge(Decision &decision) const {
  if (policy && decision.facts)
    decision.cost = static_cast<double>(decision.facts->instructions) +
                    static_cast<double>(decision.facts->constantBytes) / policy->constantBytes;
  decision.obstacle = obstacleOf(decision);
}

void Walk::follow(const Facts &facts, int parent) {
  for (const std::string &callee : facts.callees)
    meet(callee, parent);
  if (!policy)
    for (const std::string &variable : facts.variables)
      meet(variable, parent);
}

Outcome<std::vector<Decision>> Walk::run(const std::vector<std::string> &names) {
  for (const std::string &name : names)
    meet(name, Decision::kNone);
  for (size_t i = 0; i != decisions.size(); ++i) { // what is met is appended
    auto facts = find(decisions[i].name);
    if (!facts)
      return facts.failure();
    decisions[i].facts = *facts;
    judge(decisions[i]);
    if (decisions[i].obstacle.empty())
      follow(**facts, static_cast<int>(i));
  }
  return std::move(decisions);
}

} // namespace

Outcome<std::vector<Decision>> decide(const std::vector<std::string> &names,
                                      const std::optional<ImportPolicy> &policy, FindFacts find) {
  return Walk(policy, find).run(names);
}

std::optional<Failure> whyNotCopied(const std::vector<Decision> &decisions) {
  for (const Decision &decision : decisions) {
    if (!decision.facts || decision.obstacle.empty())
      continue;
    std::string message = "cannot copy the function '" + decision.name + "' of " +
                          decision.facts->file + " into a program: " + decision.obstacle;
    for (int up = decision.parent; up != Decision::kNone; up = decisions[up].parent)
      message += (up == decision.parent ? " (called by '" : ", by '") + decisions[up].name + "'";
    if (decision.parent != Decision::kNone)
      message += ")";
    return Failure{Kind::Library,
                   message + ". Each program would have its own; open the library with "
                             "provided=True and load the process' own definitions, or compile the "
                             "library without it"};
  }
  return std::nullopt;
}

} // namespace twinjit::library
