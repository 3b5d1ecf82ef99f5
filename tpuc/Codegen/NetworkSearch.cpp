//===- NetworkSearch.cpp - Groups chosen by the timing simulator ---------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkSearch.h"
#include <chrono>
#include <map>
#include <set>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

using Cycles = SmallVector<int64_t>;
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Move {
  unsigned first, end;
  Division replacement;
};

class Searcher {
public:
  Searcher(GroupTable &table, const NetworkTrial &trial, const SearchEffort &effort)
      : table(table), trial(trial), effort(effort) {}
  Expected<Division> run();

private:
  const GroupPlan *plan(const GroupChoice &choice) {
    auto [entry, isNew] = planned.try_emplace(choice);
    if (isNew)
      if (Expected<GroupPlan> made = table.plan(choice))
        entry->second = std::make_unique<GroupPlan>(std::move(*made));
    return entry->second.get();
  }
  std::optional<std::vector<GroupPlan>> plans(const Division &d) {
    std::vector<GroupPlan> groups;
    for (const GroupChoice &c : d) {
      if (c.isAlone && table.isFree(c.first)) continue;
      const GroupPlan *p = plan(c);
      if (!p) return std::nullopt;
      groups.push_back(*p);
    }
    return groups;
  }
  double score(const Cycles &c) const {
    double s = 0;
    for (auto [a, b] : llvm::zip(c, base)) s += double(a) / double(b);
    return s / base.size();
  }
  std::optional<Cycles> tryIt(const Division &d) {
    if (!seen.insert(d).second) return std::nullopt;
    auto groups = plans(d);
    if (!groups) return std::nullopt;
    ++numTrials;
    double t = now();
    auto c = trial.run(std::move(*groups));
    trialTime += now() - t;
    if (!c) { return std::nullopt; }
    return *c;
  }
  std::optional<int64_t> estimate(const Division &d) {
    auto groups = plans(d);
    if (!groups) return std::nullopt;
    ++numEst;
    double t = now();
    auto c = trial.estimate(std::move(*groups));
    estTime += now() - t;
    if (!c) return std::nullopt;
    return *c;
  }
  std::vector<Move> moves(const Division &d);
  std::optional<Division> apply(const Division &d, const Move &m) {
    Division r;
    bool began = false, ended = false, same = true;
    size_t k = 0;
    for (const GroupChoice &c : d) {
      if (c.first == m.first) { began = true; for (auto &x : m.replacement) r.push_back(x); }
      if (c.end() <= m.first || c.first >= m.end) r.push_back(c);
      else { if (c.first < m.first || c.end() > m.end) return std::nullopt;
        if (k >= m.replacement.size() || m.replacement[k] != c) same = false; ++k; }
      if (c.end() == m.end) ended = true;
    }
    if (!began || !ended || (same && k == m.replacement.size())) return std::nullopt;
    return r;
  }
  GroupTable &table;
  const NetworkTrial &trial;
  SearchEffort effort;
  Cycles base;
  std::map<GroupChoice, std::unique_ptr<GroupPlan>> planned;
  std::set<Division> seen;
  int64_t numTrials = 0, numEst = 0;
  double trialTime = 0, estTime = 0;
};

std::vector<Move> Searcher::moves(const Division &d) {
  std::vector<Move> out;
  auto opts = [&](unsigned first, unsigned count, size_t most) {
    std::vector<GroupChoice> r;
    for (auto &o : table.options(first, count)) { if (r.size() == most) break; r.push_back(o.choice); }
    return r;
  };
  auto two = [&](unsigned a, unsigned b, unsigned c) {
    for (auto &x : opts(a, b - a, 2)) for (auto &y : opts(b, c - b, 2)) out.push_back({a, c, {x, y}});
  };
  for (size_t i = 0; i < d.size(); ++i) {
    const GroupChoice &g = d[i];
    for (auto &x : opts(g.first, g.count, 6)) if (x != g) out.push_back({g.first, g.end(), {x}});
    for (unsigned p = g.first + 1; p < g.end(); ++p) two(g.first, p, g.end());
    if (i + 1 < d.size()) {
      const GroupChoice &h = d[i + 1];
      for (auto &x : opts(g.first, g.count + h.count, 3)) out.push_back({g.first, h.end(), {x}});
      for (int delta : {-4, -3, -2, -1, 1, 2, 3, 4}) {
        int p = int(h.first) + delta;
        if (p > int(g.first) && p < int(h.end())) two(g.first, p, h.end());
      }
    }
    if (i + 2 < d.size())
      for (auto &x : opts(g.first, d[i + 2].end() - g.first, 2)) out.push_back({g.first, d[i + 2].end(), {x}});
  }
  return out;
}

Expected<Division> Searcher::run() {
  const bool verbose = getenv("SEARCH_V");
  Division best = table.best({});
  auto groups = table.plans(best);
  if (!groups) return propagate(groups);
  double t0 = now();
  auto first = trial.run(std::move(*groups));
  if (!first) return propagate(first);
  base = *first;
  Cycles bestCycles = base;
  if (verbose) llvm::errs() << "start " << base[0] << " " << base[1] << " est " << *estimate(best) << " trial ms " << (now() - t0) * 1e3 << "\n";
  auto consider = [&](const Division &d, const char *what) {
    auto c = tryIt(d);
    if (!c) return false;
    bool ok = (*c)[0] <= bestCycles[0] && score(*c) < score(bestCycles);
    if (verbose && (ok || getenv("SEARCH_VV"))) llvm::errs() << what << " " << (*c)[0] << " " << (*c)[1] << " " << score(*c) << (ok ? " *" : "") << " trials " << numTrials << "\n";
    if (ok) { best = d; bestCycles = *c; }
    return ok;
  };
  for (auto w : std::initializer_list<GroupWeights>{{0.5, 0.25, 0.25}, {0, .5, .5}, {0, .35, .65}, {0, .65, .35}, {.5, .5, 0}, {.5, 0, .5}, {.5, 0.1, .4}, {.5, .4, .1}, {0, 0.9, 0.1}, {0, 0.1, 0.9}})
    consider(table.best(w), "dp");
  for (bool improved = true; improved && numTrials < effort.trials;) {
    improved = false;
    std::vector<std::pair<int64_t, Move>> ranked;
    int64_t now0 = *estimate(best);
    double tm = now();
    auto ms = moves(best);
    tm = now() - tm;
    for (auto &m : ms)
      if (auto d = apply(best, m))
        if (auto e = estimate(*d)) ranked.push_back({*e, m});
    llvm::stable_sort(ranked, [](auto &a, auto &b) { return a.first < b.first; });
    if (verbose) llvm::errs() << "round: " << ranked.size() << " moves (" << tm * 1e3 << " ms), est now " << now0 << " best est " << (ranked.empty() ? 0 : ranked[0].first) << "\n";
    int rank = 0, fails = 0;
    for (auto &[e, m] : ranked) {
      ++rank;
      if (numTrials >= effort.trials) break;
      if (auto d = apply(best, m)) {
        if (consider(*d, "move")) { improved = true; fails = 0; if (verbose) llvm::errs() << "   rank " << rank << " est " << e << "\n"; }
        else if (++fails > 40) break;
      }
    }
  }
  if (verbose) llvm::errs() << "end " << bestCycles[0] << " " << bestCycles[1] << " = " << double(bestCycles[0]) / base[0] << " " << double(bestCycles[1]) / base[1] << " trials " << numTrials << " ms each " << trialTime / numTrials * 1e3 << " est " << numEst << " ms each " << estTime / std::max<int64_t>(1,numEst) * 1e3 << " total " << now() - t0 << "\n";
  return best;
}

} // namespace

Expected<Division> codegen::searchGroups(GroupTable &table, const NetworkTrial &trial,
                                         const SearchEffort &effort) {
  return Searcher(table, trial, effort).run();
}
