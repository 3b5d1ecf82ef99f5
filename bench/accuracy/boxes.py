"""Boxes of detectors, and how many of them another run of the network finds.

A box is a row: centre x and y, width, height, class. Needs numpy, and OpenCV for text.
"""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST_SCORE, MOST_OVERLAP = 0.25, 0.5
NEAR, CLOSE = 0.5, 0.9
# Places along a side of the levels of SSD MobileNet v2.
GRIDS = (19, 10, 5, 3, 2, 1)


def overlaps(box, boxes):
    """IoU of a box with each of others."""
    low = np.maximum(box[:2] - box[2:4] / 2, boxes[:, :2] - boxes[:, 2:4] / 2)
    high = np.minimum(box[:2] + box[2:4] / 2, boxes[:, :2] + boxes[:, 2:4] / 2)
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    return shared / np.maximum(box[2] * box[3] + boxes[:, 2] * boxes[:, 3] - shared, 1e-9)


def objects(outputs):
    """The boxes of [1, 4 + classes, places] (YOLOv8's outputs, in one or several), each object once."""
    return suppressed(np.concatenate([array[0] for array in outputs]).T)


def suppressed(rows):
    """The boxes of rows of box and scores of all classes, each object once."""
    score, kind = rows[:, 4:].max(axis=1), rows[:, 4:].argmax(axis=1)
    found = []
    for i in np.argsort(-score, kind="stable"):
        if score[i] < LEAST_SCORE:
            break
        box = np.array([*rows[i, :4], kind[i]])
        if not any(kind[i] == other[4] and overlaps(box, other[None])[0] > MOST_OVERLAP for other in found):
            found.append(box)
    return np.array(found).reshape(-1, 5)


def anchors():
    """Centre x and y, width and height of the 1,917 anchors of SSD MobileNet v2, as shares of the picture.

    Formula: TensorFlow's object detection, anchor_generators/multiple_grid_anchor_generator.py, with scales of
    0.2 to 0.95 and a reduced lowest level. A place has one anchor after the other.
    """
    scales = [*np.linspace(0.2, 0.95, len(GRIDS)), 1.0]
    rows = []
    for level, grid in enumerate(GRIDS):
        shapes = [(0.1, 1), (scales[0], 2), (scales[0], 0.5)]
        if level:
            shapes = [(scales[level], ratio) for ratio in (1, 2, 0.5, 3, 0.3333)]
            shapes.append((np.sqrt(scales[level] * scales[level + 1]), 1))
        sizes = np.array([[scale * np.sqrt(ratio), scale / np.sqrt(ratio)] for scale, ratio in shapes])
        y, x = np.mgrid[:grid, :grid].reshape(2, -1, 1) / grid + 0.5 / grid
        places = np.concatenate([x, y], axis=1).repeat(len(sizes), axis=0)
        rows.append(np.concatenate([places, np.tile(sizes, (grid * grid, 1))], axis=1))
    return np.concatenate(rows)


def anchored(output):
    """The boxes of [1, places, 4 + 1 + classes]: shifts of anchors (y, x, height, width), then scores, of which
    the first stands for no object. Each object once."""
    rows, around = output.reshape(output.shape[-2:]).astype(np.float64), anchors()
    centres = rows[:, [1, 0]] / 10 * around[:, 2:] + around[:, :2]
    sizes = np.exp(rows[:, [3, 2]] / 5) * around[:, 2:]
    return suppressed(np.concatenate([centres, sizes, rows[:, 5:]], axis=1))


def lines_of_text(text_map):
    """The boxes around the lines that a DB network sees, as the demo finds them; of lines that are turned,
    the upright ones around them."""
    sys.path.insert(0, f"{HERE}/../../examples/ocr")
    import detection
    text_map = text_map.reshape(text_map.shape[-2:])
    corners = detection.find_lines(text_map, text_map)
    rows = [np.concatenate(((each.min(axis=0) + each.max(axis=0)) / 2, np.ptp(each, axis=0), [0]))
            for each in corners]
    return np.array(rows).reshape(-1, 5)


def matched(wanted, found, least):
    """How many of the wanted boxes are found, each by one of equal class."""
    left, count = list(range(len(found))), 0
    for box in wanted:
        same = [i for i in left if found[i][4] == box[4]]
        if same:
            iou = overlaps(box, found[same])
            if iou.max() >= least:
                left.remove(same[int(iou.argmax())])
                count += 1
    return count


def shares(found, wanted):
    """In percent of the wanted boxes of all samples: those found at IoU `NEAR` and `CLOSE`."""
    count = max(1, sum(map(len, wanted)))
    return tuple(100 * sum(matched(a, b, least) for a, b in zip(wanted, found)) / count
                 for least in (NEAR, CLOSE))
