"""Where text stands on a picture: from the map of a DB network to boxes.

The network (Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", 2020)
gives for each pixel how likely it belongs to the core of a line of text. Cores are shrunk lines, so
that neighbours do not touch; a box is grown back by the paper's offset.
"""

import cv2
import numpy as np

# A pixel above this belongs to a core.
PIXEL_THRESHOLD = 0.3
# The least mean of the map inside a core.
CORE_THRESHOLD = 0.5
# Cores whose shorter side has fewer pixels are specks.
LEAST_SIDE = 3
# r in the offset D = A r / L of the paper (A: area, L: perimeter of the core).
UNCLIP_RATIO = 1.6
# The network halves its input five times.
MULTIPLE = 32


def network_size(picture) -> tuple[int, int]:
    """Height and width at which the network sees a picture: the nearest it can take."""
    return tuple(max(MULTIPLE, round(extent / MULTIPLE) * MULTIPLE) for extent in picture.shape[:2])


def find_lines(text_map, picture) -> list[np.ndarray]:
    """The boxes of the lines of text, in reading order. text_map: [height, width], 0 to 1. A box is
    [4, 2]: x and y of the corners in the picture, clockwise from the upper left."""
    to_picture = np.array(picture.shape[1::-1]) / np.array(text_map.shape[::-1])
    last_pixel = np.array(picture.shape[1::-1]) - 1
    cores = (text_map > PIXEL_THRESHOLD).astype(np.uint8)
    # Bridges gaps of one pixel.
    cores = cv2.dilate(cores, np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(cores, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    boxes = []
    for contour in contours:
        centre, sides, angle = cv2.minAreaRect(contour)
        if min(sides) < LEAST_SIDE or mean_inside(text_map, contour) < CORE_THRESHOLD:
            continue
        corners = cv2.boxPoints((centre, unclip(sides), angle)) * to_picture
        boxes.append(clockwise(np.clip(corners, 0, last_pixel).astype(np.float32)))
    return in_reading_order(boxes)


def unclip(sides) -> tuple[float, float]:
    """A rectangle that is moved outwards by D on each side grows by 2 D in both directions."""
    width, height = sides
    offset = width * height * UNCLIP_RATIO / (2 * (width + height))
    return width + 2 * offset, height + 2 * offset


def mean_inside(text_map, contour) -> float:
    left, top, width, height = cv2.boundingRect(contour)
    mask = np.zeros((height, width), np.uint8)
    cv2.fillPoly(mask, [contour - (left, top)], 1)
    return cv2.mean(text_map[top:top + height, left:left + width], mask)[0]


def clockwise(corners) -> np.ndarray:
    """Of the two corners on the left the upper one comes first."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    (top_left, bottom_left), (top_right, bottom_right) = (
        pair[np.argsort(pair[:, 1], kind="stable")] for pair in (by_x[:2], by_x[2:]))
    return np.array([top_left, top_right, bottom_right, bottom_left])


def in_reading_order(boxes) -> list[np.ndarray]:
    """From top to bottom; boxes that share most of their height are one row, from left to right."""
    rows = []
    for box in sorted(boxes, key=lambda each: each[:, 1].mean()):
        middle = box[:, 1].mean()
        if rows and middle < rows[-1][0][:, 1].mean() + height_of(rows[-1][0]) / 2:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in sorted(row, key=lambda each: each[:, 0].min())]


def height_of(box) -> float:
    return float(np.linalg.norm(box[3] - box[0]))
