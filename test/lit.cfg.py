"""How lit runs the tests of passes, syntax and programs."""

import os
import pathlib

import lit.formats

config.name = "tpuc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = config.tpuc_source_dir + "/test"
config.test_exec_root = config.tpuc_binary_dir + "/test"

# Our programs before anything of the same name elsewhere; FileCheck and not from LLVM.
config.environment["PATH"] = os.pathsep.join([
    config.tpuc_binary_dir + "/bin", config.tpuc_binary_dir + "/unittests",
    config.llvm_tools_dir, os.environ["PATH"]])
for name in ("HOME", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%tpuc_src", config.tpuc_source_dir))
config.substitutions.append(("%python", config.python))
# An ONNX model in protobuf's text form, as a test may hold it, in the form of files.
config.substitutions.append(("%onnx_encode", "protoc --encode=tpuc.onnx.proto.Model "
                             f"--proto_path={config.tpuc_source_dir}/tpuc/Frontend/Onnx Onnx.proto"))
# A TFLite model as a test holds it: JSON, which flatc makes a file of.
config.substitutions.append(("%tflite_schema", config.tpuc_source_dir + "/tpuc/Frontend/TFLite/TFLite.fbs"))

# The chip that code is generated for, of those that have a back end: one run of the suite for each.
# Tests that hold for all of them take %chip; those of one chip stand in its folder of test/Target.
chip = lit_config.params.get("chip", "bm1684x")
config.substitutions.append(("%chip", chip))
config.available_features.add("chip-" + chip)
# Networks become model files on chips that have a device driver for them.
drivers = pathlib.Path(config.tpuc_source_dir, "tpuc", "Target").glob("*/Runtime")
if chip in {folder.parent.name.lower() for folder in drivers}:
    config.available_features.add("model-file")
if "chip" in lit_config.params:
    config.test_exec_root += "-" + chip

if config.enable_mlir:
    config.available_features.add("mlir")
# Address sanitizer takes terabytes of address space, and memory beside each of the program's.
if not config.sanitize_mlir:
    config.available_features.add("memory-limits")
if os.path.exists(config.oracle_python):
    config.available_features.add("oracles")
    config.substitutions.append(("%oracle_python", config.oracle_python))
