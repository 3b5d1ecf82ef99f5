#!/usr/bin/env python3
"""Whether check_layering.py finds names that two files of a folder give to different things."""

import unittest

from check_layering import LICENCE, offences, own_names, shared_names

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


class Offences(unittest.TestCase):
    """Each rule fails on one line, and on no line of the folders that it leaves out."""

    def found(self, path, line):
        return [what for _, what in offences(path, f"// {LICENCE}\n{line}\n")]

    def check(self, line, refused, allowed):
        for path in refused:
            self.assertEqual(len(self.found(path, line)), 1, path)
        for path in allowed:
            self.assertEqual(self.found(path, line), [], path)

    def test_chips(self):
        self.check('bool isSo = name == "bm1684x";', ["tpuc/Codegen/A.cpp", "tpuc/Target/A.cpp", "runtime/A.cpp", "tools/a/A.cpp"],
                   ["tpuc/Target/BM1684X/A.cpp", "unittests/A.cpp"])

    def test_what_chips_share(self):
        shared = ["tpuc/Target/Common/A.cpp", "tpuc/Target/BM168x/A.cpp"]
        self.check("namespace tpuc::bm1684x {", shared, ["tpuc/Target/BM1684X/A.cpp"])
        self.check('#include "tpuc/Target/BM1684X/Machine/Exec.h"', shared, ["tpuc/Target/BM1684X/A.cpp"])
        self.check('#include "tpuc/Target/Null/Codegen/NullLayout.h"', shared, ["tpuc/Target/Null/A.cpp"])
        self.check('#include "tpuc/Target/Common/Command.h"', [], shared)
        self.check("namespace tpuc::bm168x {", ["tpuc/Target/Common/A.cpp", "tpuc/Codegen/A.cpp", "tools/a/A.cpp"],
                   ["tpuc/Target/BM168x/A.cpp", "tpuc/Target/BM1684X/A.cpp"])
        self.check("#include <mlir/IR/Types.h>", shared, [])

    def test_containers(self):
        self.check("using bmodel::Model;", ["tpuc/Driver/A.cpp", "runtime/A.cpp", "tools/a/A.cpp"],
                   ["tpuc/Model/Bmodel/A.cpp", "test/A.cpp"])

    def test_formats(self):
        self.check("bool isOnnx = true;", ["tpuc/Driver/A.cpp", "tpuc/Codegen/A/A.cpp", "runtime/A.cpp"],
                   ["tpuc/Frontend/Onnx/A.cpp", "unittests/A.cpp"])
        self.check("int kernel = 3; // As ONNX has it.", [], ["tpuc/Codegen/A.cpp"])
        self.check('#include "tpuc/Frontend/Onnx/Reader.h"', ["tools/a/A.cpp"],
                   ["tpuc/Frontend/Onnx/A.cpp", "unittests/A.cpp"])

    def test_ops_as_text(self):
        self.check('bool isConv = name == "tpu.Conv";', ["tpuc/Codegen/A.cpp", "tools/a/A.cpp"], ["unittests/A.cpp"])

    def test_mlir(self):
        self.check("#include <mlir/IR/Types.h>", ["tpuc/Support/A.cpp", "runtime/A.cpp"], ["tpuc/Dialect/A.cpp"])


if __name__ == "__main__":
    unittest.main()
