"""The network that reads, as integers on a BM1684X: calibrated, compiled, run on the simulator."""

import json
import math
import pathlib
import subprocess

import cv2
import numpy as np

import engines
import recognition

CHIP = "bm1684x"
NAME = "recognition_chip"
# The layers that stay in F16, with less than a tenth of the multiplications: docs/quantization.md.
EXCEPTIONS = pathlib.Path(__file__).resolve().parents[2] / "bench/accuracy/rec.quantize_table"


class Chip:
    """What reads lines of up to one width with a compiled network. All its files have the name NAME."""

    def __init__(self, tpuc: engines.Tpuc, model: pathlib.Path, lines):
        self.tpuc, self.model = tpuc, model
        self.lines = [recognition.line_input(line) for line in lines]
        self.width = max(line.shape[3] for line in self.lines)

    def compile(self) -> dict:
        """The report of model_deploy. The lines themselves are what it is calibrated on."""
        samples = [self.sample(number) for number in range(len(self.lines))]
        for path, line in zip(samples, self.lines):
            np.savez(path, **{engines.INPUT: self.padded(line)})
        outputs, table = self.file("top_outputs.npz"), self.file("table")
        self.tpuc.transform(NAME, self.model, "--input_shapes",
                            f"[[1,3,{recognition.HEIGHT},{self.width}]]",
                            "--test_input", str(samples[0]), "--test_result", str(outputs))
        listed = self.file("samples.txt")
        listed.write_text("".join(f"{path.resolve()}\n" for path in samples), encoding="utf-8")
        module = str(self.tpuc.module(NAME))
        self.tpuc.call("run_calibration", module, "--data_list", str(listed), "-o", str(table))
        return self.tpuc.call(
            "model_deploy", "--mlir", module, "--quantize", "INT8", "--asymmetric", "--chip", CHIP,
            "--calibration_table", str(table), "--quantize_table", str(EXCEPTIONS),
            "--test_input", str(samples[0]), "--test_reference", str(outputs),
            "--model", str(self.bmodel()))

    def read(self, classes) -> list[str]:
        """What each line says."""
        texts = []
        for number in range(len(self.lines)):
            target = self.file("run_out.npz")
            self.tpuc.call("model_runner", "--model", str(self.bmodel()), "--input",
                           str(self.sample(number)), "--output", str(target))
            with np.load(target) as arrays:
                texts.append(recognition.read(arrays[arrays.files[0]][0], classes)[0])
        return texts

    def draw_time_line(self, path: pathlib.Path):
        trace = self.file("trace.json")
        subprocess.run([str(self.tpuc.programs / "model_tool"), "--profile", str(self.bmodel()),
                        "--trace", str(trace)], check=True, stdout=subprocess.DEVNULL)
        draw(json.loads(trace.read_text(encoding="utf-8"))["traceEvents"], path)

    def padded(self, line) -> np.ndarray:
        """The network was trained on lines that are filled up with gray."""
        return np.pad(line, ((0, 0), (0, 0), (0, 0), (0, self.width - line.shape[3])))

    def bmodel(self) -> pathlib.Path:
        return self.file("int8.bmodel")

    def sample(self, number: int) -> pathlib.Path:
        return self.file(f"line_{number}.npz")

    def file(self, ending: str) -> pathlib.Path:
        return self.tpuc.folder / f"{NAME}_{ending}"


# The picture: pixels of its time lines, of what stands left of them and of a row's height.
WIDTH, LEFT, ROW = 1500, 70, 46


def draw(events, path: pathlib.Path):
    """Both engines' time lines, each command in the colour of its kind."""
    # Process 1 of the trace is the timing by the vendor's parameters; layers lie under commands.
    commands = [event for event in events if event["ph"] == "X" and event["pid"] == 1
                and event["cat"] != "layer" and event["dur"] > 0]
    end = max(event["ts"] + event["dur"] for event in commands)
    kinds = sorted({event["cat"] for event in commands})
    colours = {kind: colour(number / len(kinds)) for number, kind in enumerate(kinds)}
    per_row = 6
    height = 2 * ROW + 60 + 24 * math.ceil(len(kinds) / per_row)
    picture = np.full((height, LEFT + WIDTH + 20, 3), 255, np.uint8)
    for row, engine in enumerate(("TIU", "GDMA"), 1):
        write(picture, engine, 10, row * ROW - 6)
    for event in commands:
        top = event["tid"] * ROW - ROW + 14
        left, right = (LEFT + round(WIDTH * at / end)
                       for at in (event["ts"], event["ts"] + event["dur"]))
        cv2.rectangle(picture, (left, top), (max(left, right - 1), top + ROW - 14),
                      colours[event["cat"]], cv2.FILLED)
    step = 10 ** math.floor(math.log10(end))
    for tick in np.arange(0, end + step / 2, step / 2):
        x = LEFT + round(WIDTH * tick / end)
        if x <= LEFT + WIDTH:
            cv2.line(picture, (x, 2 * ROW + 4), (x, 2 * ROW + 10), (0, 0, 0))
            write(picture, f"{tick:g} us", x - 18, 2 * ROW + 26)
    for number, kind in enumerate(kinds):
        x, y = LEFT + number % per_row * (WIDTH // per_row), 2 * ROW + 54 + 24 * (number // per_row)
        cv2.rectangle(picture, (x, y - 11), (x + 14, y + 1), colours[kind], cv2.FILLED)
        write(picture, kind, x + 20, y)
    if not cv2.imwrite(str(path), picture):
        raise engines.ProgramFailed(f"ocr: error: {path} cannot be written")


def colour(share: float) -> tuple[int, int, int]:
    """A colour of the wheel, for 0 to 1."""
    hue = round(180 * share)
    blue, green, red = cv2.cvtColor(np.uint8([[[hue, 170, 210]]]), cv2.COLOR_HSV2BGR)[0, 0]
    return int(blue), int(green), int(red)


def write(picture, text, x, y):
    cv2.putText(picture, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1, cv2.LINE_AA)
