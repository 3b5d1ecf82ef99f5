"""What a line of text says: cut out, turned upright, read."""

import cv2
import numpy as np

# Both networks see lines of this height; the one for the direction at one width.
HEIGHT = 48
DIRECTION_WIDTH = 192
# Widths for reading are multiples of this, the network's step.
WIDTH_MULTIPLE = 8
# How sure the network must be that a line stands on its head.
TURNED_THRESHOLD = 0.9
# A box so many times higher than wide holds a line that runs downwards.
VERTICAL_RATIO = 1.5


def cut_out(picture, box) -> np.ndarray:
    """The content of a box (4 corners, clockwise from the upper left) as an upright picture."""
    width = max(1, round(max(np.linalg.norm(box[1] - box[0]), np.linalg.norm(box[2] - box[3]))))
    height = max(1, round(max(np.linalg.norm(box[3] - box[0]), np.linalg.norm(box[2] - box[1]))))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    line = cv2.warpPerspective(picture, cv2.getPerspectiveTransform(box, target), (width, height),
                               flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.rot90(line) if height >= VERTICAL_RATIO * width else line


def direction_input(lines) -> np.ndarray:
    """[number of lines, 3, 48, 192]; short lines are filled up with gray."""
    batch = np.zeros((len(lines), 3, HEIGHT, DIRECTION_WIDTH), np.float32)
    for tensor, line in zip(batch, lines):
        values = normalized(line, min(DIRECTION_WIDTH, natural_width(line)))
        tensor[:, :, :values.shape[2]] = values
    return batch


def is_turned(probabilities) -> np.ndarray:
    """For each line. probabilities: [number of lines, 2], upright and turned."""
    return probabilities[:, 1] > TURNED_THRESHOLD


def line_input(line) -> np.ndarray:
    """[1, 3, 48, width]; the width follows from the line's shape."""
    steps = max(1, round(natural_width(line) / WIDTH_MULTIPLE))
    return normalized(line, steps * WIDTH_MULTIPLE)[None]


def natural_width(line) -> int:
    return max(1, round(HEIGHT * line.shape[1] / line.shape[0]))


def normalized(line, width) -> np.ndarray:
    """[3, 48, width], -1 to 1, the channels as in the picture (blue, green, red)."""
    pixels = cv2.resize(line, (width, HEIGHT), interpolation=cv2.INTER_LINEAR)
    return pixels.astype(np.float32).transpose(2, 0, 1) / 127.5 - 1


def alphabet(characters: str) -> list[str]:
    """What the network's classes stand for: nothing, the characters of its list, a space."""
    return ["", *characters.split("\n"), " "]


def read(probabilities, classes) -> tuple[str, float]:
    """The text and how sure the network is of its characters on average. probabilities: [steps,
    classes], of the CTC kind: at each step the likeliest class counts; the same one again is no
    second character, unless class 0 (nothing) comes between."""
    best = probabilities.argmax(axis=1)
    starts = np.flatnonzero((best != 0) & (best != np.concatenate(([0], best[:-1]))))
    confidence = float(probabilities[starts, best[starts]].mean()) if len(starts) else 0.0
    return "".join(classes[best[step]] for step in starts), confidence
