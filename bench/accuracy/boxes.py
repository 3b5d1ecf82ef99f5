"""Boxes of detectors, and how many of them another run of the network finds.

A box is a row: centre x and y, width, height, class. Needs numpy, and OpenCV for text.
"""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST_SCORE, MOST_OVERLAP = 0.25, 0.5
NEAR, CLOSE = 0.5, 0.9


def overlaps(box, boxes):
    """IoU of a box with each of others."""
    low = np.maximum(box[:2] - box[2:4] / 2, boxes[:, :2] - boxes[:, 2:4] / 2)
    high = np.minimum(box[:2] + box[2:4] / 2, boxes[:, :2] + boxes[:, 2:4] / 2)
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    return shared / np.maximum(box[2] * box[3] + boxes[:, 2] * boxes[:, 3] - shared, 1e-9)


def objects(outputs):
    """The boxes of [1, 4 + classes, places] (YOLOv8's outputs, in one or several), each object once."""
    rows = np.concatenate([array[0] for array in outputs]).T
    score, kind = rows[:, 4:].max(axis=1), rows[:, 4:].argmax(axis=1)
    found = []
    for i in np.argsort(-score, kind="stable"):
        if score[i] < LEAST_SCORE:
            break
        box = np.array([*rows[i, :4], kind[i]])
        if not any(kind[i] == other[4] and overlaps(box, other[None])[0] > MOST_OVERLAP for other in found):
            found.append(box)
    return np.array(found).reshape(-1, 5)


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
