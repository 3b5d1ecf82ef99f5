#!/usr/bin/env python3
"""Whether check_layering.py finds names that two files of a folder give to different things."""

import unittest

from check_layering import own_names, shared_names

TABLES = """namespace tpuc {

namespace {

constexpr Terms kTables[] = {kExp, kLog};
template <typename T> struct Row : Base {
  int kInside = 1;
};
using Parts = std::vector<int>;
int64_t count(ArrayRef<int64_t> dims,
              const Value &value) {
  int64_t inside = 1;
}

} // namespace

static double half(double number) { return number / 2; }
constexpr int kSeen = 1;
int seen(double number) { return 1; }

} // namespace tpuc
"""


class OwnNames(unittest.TestCase):
    def test_of_a_file(self):
        self.assertEqual(list(own_names(TABLES)), [
            (5, "tpuc", "kTables"), (6, "tpuc", "Row"), (9, "tpuc", "Parts"),
            (10, "tpuc", "count(ArrayRef<int64_t>, const Value &)"), (17, "tpuc", "half(double)")])

    def places(self, *sources):
        return [(path, number) for path, number, _ in shared_names(sources)]

    def test_shared_in_a_folder(self):
        again = "namespace tpuc {\nstatic const int kTables = 3;\n}\n"
        self.assertEqual(self.places(("a/A.cpp", TABLES), ("a/B.cpp", again)), [("a/B.cpp", 2)])
        self.assertEqual(self.places(("a/A.cpp", TABLES), ("b/B.cpp", again)), [])

    def test_namespaces_keep_names_apart(self):
        other = "namespace tpuc::avx2 {\nstatic const int kTables = 3;\n}\n"
        self.assertEqual(self.places(("a/A.cpp", TABLES), ("a/B.cpp", other)), [])

    def test_functions_may_overload(self):
        for parameters, count in (("double x", 1), ("double", 1), ("float number", 0), ("double x, int y", 0)):
            other = f"namespace tpuc {{\nstatic double half({parameters}) {{\n  return 1;\n}}\n}}\n"
            self.assertEqual(len(self.places(("a/A.cpp", TABLES), ("a/B.cpp", other))), count, parameters)

    def test_declarations_are_no_definitions(self):
        declared = "namespace tpuc {\nstatic double half(double number);\n}\n"
        self.assertEqual(self.places(("a/A.cpp", TABLES), ("a/B.cpp", declared)), [])


if __name__ == "__main__":
    unittest.main()
