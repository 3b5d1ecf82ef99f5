"""Boxes of detectors by the formulas of their papers, in numpy; nothing of the compiler is used.

YOLOv3: Redmon and Farhadi 2018, 2.1. YOLOv4: Bochkovskiy et al. 2020, 3.4. YOLOv5 and v7: Scaled-YOLOv4, Wang et
al. 2021. YOLOX: Ge et al. 2021. YOLOv6, v8 to v11: distances of FCOS, Tian et al. 2019, as means of distributions,
Li et al. 2020. SSD: Liu et al. 2016. Maps are float64 here; records come by level, anchor, row and column, those of
SSD by level, row, column and anchor.
"""

import numpy as np
from networks import ANCHORS, BINS, SCALE_XY


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    shares = np.exp(x - x.max(axis, keepdims=True))
    return shares / shares.sum(axis, keepdims=True)


def cells(height, width):
    y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    return x.astype(float), y.astype(float)


def corners(x, y, w, h):
    return np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], -1)


def anchored(net, maps, item):
    boxes, scores = [], []
    for level, ((raw,), stride) in enumerate(zip(maps, net.strides)):
        height, width = net.grids[level]
        t = raw[item].astype(float).reshape(3, net.classes + 5, height, width)
        x, y = cells(height, width)
        anchors = np.array(ANCHORS[net.version][level], float).reshape(3, 2)
        pw, ph = anchors[:, 0, None, None], anchors[:, 1, None, None]
        if net.version in ("yolov5", "yolov7"):
            bx, by = 2 * sigmoid(t[:, 0]) - 0.5 + x, 2 * sigmoid(t[:, 1]) - 0.5 + y
            bw, bh = pw * (2 * sigmoid(t[:, 2])) ** 2, ph * (2 * sigmoid(t[:, 3])) ** 2
        else:
            k = SCALE_XY.get(net.version, (1, 1, 1))[level]
            bx = k * sigmoid(t[:, 0]) - (k - 1) / 2 + x
            by = k * sigmoid(t[:, 1]) - (k - 1) / 2 + y
            bw, bh = pw * np.exp(t[:, 2]), ph * np.exp(t[:, 3])
        boxes.append(corners(bx * stride, by * stride, bw, bh).reshape(-1, 4))
        score = sigmoid(t[:, 4:5]) * sigmoid(t[:, 5:])
        scores.append(score.transpose(0, 2, 3, 1).reshape(-1, net.classes))
    return np.concatenate(boxes), np.concatenate(scores)


def turns(t):
    """Angles of YOLOv8's rotated boxes."""
    return (sigmoid(t) - 0.25) * np.pi


def distances(net, maps, item):
    boxes, scores = [], []
    for level, (parts, stride) in enumerate(zip(maps, net.strides)):
        x, y = cells(*net.grids[level])
        t = parts[0][item].astype(float)
        if net.version == "yolov6":
            share = parts[1][item].astype(float)
        else:
            bins = softmax(t.reshape(4, BINS, *net.grids[level]), 1)
            t = (bins * np.arange(BINS).reshape(1, -1, 1, 1)).sum(1)
            share = sigmoid(parts[1][item].astype(float))
        edges = np.stack([x + 0.5 - t[0], y + 0.5 - t[1], x + 0.5 + t[2], y + 0.5 + t[3]], -1) * stride
        if net.version.endswith("obb"):
            # The distances are those along the sides, and the angle turns them around the cell's middle.
            angle = turns(parts[2][item, 0].astype(float))
            dx, dy = (t[2] - t[0]) / 2, (t[3] - t[1]) / 2
            x = x + 0.5 + dx * np.cos(angle) - dy * np.sin(angle)
            y = y + 0.5 + dx * np.sin(angle) + dy * np.cos(angle)
            edges = corners(x, y, t[0] + t[2], t[1] + t[3]) * stride
        boxes.append(edges.reshape(-1, 4))
        scores.append(share.reshape(net.classes, -1).T)
    return np.concatenate(boxes), np.concatenate(scores)


def exponential(net, maps, item):
    boxes, scores = [], []
    for level, (parts, stride) in enumerate(zip(maps, net.strides)):
        x, y = cells(*net.grids[level])
        t, objectness, share = (each[item].astype(float) for each in parts)
        box = corners((t[0] + x) * stride, (t[1] + y) * stride, np.exp(t[2]) * stride, np.exp(t[3]) * stride)
        boxes.append(box.reshape(-1, 4))
        scores.append((objectness * share).reshape(net.classes, -1).T)
    return np.concatenate(boxes), np.concatenate(scores)


def prior_sizes(level, levels, side):
    def scale(index):
        return 1.0 if index == levels else 0.2 + 0.75 * index / (levels - 1)
    if level == 0:
        pairs = [(0.1, 1), (0.2, 2), (0.2, 0.5)]
    else:
        pairs = [(scale(level), ratio) for ratio in (1, 2, 1 / 2, 3, 1 / 3)]
        pairs.append((np.sqrt(scale(level) * scale(level + 1)), 1))
    return [(side * size * np.sqrt(ratio), side * size / np.sqrt(ratio)) for size, ratio in pairs]


def priors(net, maps, item):
    boxes, scores = [], []
    for level, (parts, stride) in enumerate(zip(maps, net.strides)):
        height, width = net.grids[level]
        sizes = np.array(prior_sizes(level, len(net.strides), min(net.height, net.width)))
        t = parts[0][item].astype(float).reshape(len(sizes), 4, height, width).transpose(2, 3, 0, 1)
        x, y = cells(height, width)
        pw, ph = sizes[:, 0], sizes[:, 1]
        box = corners((x[..., None] + 0.5) * stride + 0.1 * t[..., 0] * pw, (y[..., None] + 0.5) * stride
                      + 0.1 * t[..., 1] * ph, pw * np.exp(0.2 * t[..., 2]), ph * np.exp(0.2 * t[..., 3]))
        boxes.append(box.reshape(-1, 4))
        score = parts[1][item].astype(float).reshape(len(sizes), net.classes, height, width)
        scores.append(softmax(score.transpose(2, 3, 0, 1).reshape(-1, net.classes), 1))
    return np.concatenate(boxes), np.concatenate(scores)


def extras(net, maps, item):
    """What records have besides; [P, numbers], or None."""
    task = net.version.partition("_")[2]
    if task not in ("seg", "pose", "obb"):
        return None
    rows = []
    for level, (parts, stride) in enumerate(zip(maps, net.strides)):
        t = parts[2][item].astype(float)
        if task == "obb":
            t = turns(t)
        if task == "pose":
            x, y = cells(*net.grids[level])
            t = t.reshape(17, 3, *net.grids[level])
            t = np.stack([(2 * t[:, 0] + x) * stride, (2 * t[:, 1] + y) * stride, sigmoid(t[:, 2])], 1)
        rows.append(t.reshape(-1, x.size if task == "pose" else t[0].size).T)
    return np.concatenate(rows)


def masks(net, factors, protos, boxes, crop):
    """Shares [R, H, W] of the pixels of `protos`, 0 outside of the boxes with `crop`; and which of them are nearer
    to an edge than boxes are exact. Bolya et al. 2019, 3.2, with the cropping of Ultralytics' crop_mask."""
    shares = sigmoid(np.tensordot(factors, protos, 1))
    if not crop:
        return shares, np.zeros(shares.shape, bool)
    height, width = protos.shape[1:]
    x, y = np.arange(width)[None, None, :], np.arange(height)[None, :, None]
    left, top, right, bottom = (each[:, None, None] for each in (
        boxes * np.tile([width / net.width, height / net.height], 2)).T)
    inside = (x >= left) & (x < right) & (y >= top) & (y < bottom)
    near = np.minimum(np.minimum(abs(x - left), abs(x - right)), np.minimum(abs(y - top), abs(y - bottom))) < 1e-3
    return shares * inside, near


def overlaps(box, others):
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[2:], others[:, 2:])
    common = np.prod(np.maximum(high - low, 0), -1)
    area = np.prod(np.maximum(others[:, 2:] - others[:, :2], 0), -1)
    union = np.prod(np.maximum(box[2:] - box[:2], 0)) + area - common
    return np.where(union > 0, common / np.where(union > 0, union, 1), 0)


def matched(rows, others, least):
    """How many of `rows` (class, score, x1, y1, x2, y2) one of `others` of the same class overlaps by `least`; each serves
    once."""
    left, count = list(range(len(others))), 0
    for row in rows:
        near = [each for each in left if others[each, 0] == row[0]]
        shares = overlaps(row[2:], others[near][:, 2:]) if near else np.zeros(1)
        if shares.max() >= least:
            left.remove(near[int(shares.argmax())])
            count += 1
    return count


def covariances(box, angle):
    """[..., 2, 2] of the Gaussian of rotated boxes; Llerena et al. 2021."""
    size = np.zeros((*box.shape[:-1], 2, 2))
    size[..., 0, 0], size[..., 1, 1] = (box[..., 2] - box[..., 0]) ** 2 / 12, (box[..., 3] - box[..., 1]) ** 2 / 12
    turn = np.stack([np.stack([np.cos(angle), -np.sin(angle)], -1), np.stack([np.sin(angle), np.cos(angle)], -1)], -2)
    return turn @ size @ np.swapaxes(turn, -1, -2)


def rotated_overlaps(box, angle, others, angles):
    """1 less the Hellinger distance of the Gaussians."""
    mean = (covariances(box, angle) + covariances(others, angles)) / 2
    move = ((box[:2] + box[2:]) - (others[:, :2] + others[:, 2:])) / 2
    distance = np.einsum("ni,nij,nj->n", move, np.linalg.inv(mean), move) / 8
    areas = np.linalg.det(covariances(box, angle)) * np.linalg.det(covariances(others, angles))
    distance += np.log(np.linalg.det(mean) / np.sqrt(areas)) / 2
    return 1 - np.sqrt(1 - np.exp(-np.maximum(distance, 0)))


DECODE = {"yolov6": distances, "yolox": exponential, "ssd": priors,
          **{name: anchored for name in ("yolov3", "yolov3_tiny", "yolov4", "yolov5", "yolov7")}}


def detect(net, maps, item, options):
    """Rows (class, score, x1, y1, x2, y2, place), by score; equal ones as they come."""
    boxes, scores = DECODE.get(net.version, distances)(net, maps, item)
    scores = scores.astype(np.float32).astype(float)
    background = 0 if net.version == "ssd" else -1
    if background >= 0:
        scores[:, background] = 0
    threshold = options.get("score_threshold", 0.25)
    if options.get("multi_label", net.version == "ssd"):
        place, label = np.nonzero(scores > threshold)
    else:
        label = scores.argmax(1)
        place = np.nonzero(scores.max(1) > threshold)[0]
        label = label[place]
    if "classes" in options:
        wanted = np.isin(label, options["classes"])
        place, label = place[wanted], label[wanted]
    score = scores[place, label]
    order = np.argsort(-score, kind="stable")
    group = np.zeros_like(label) if options.get("agnostic") else label
    seen = dict.fromkeys(range(net.classes), 0)
    kept, candidates = [], 0
    angles = extras(net, maps, item)[:, 0] if net.version.endswith("obb") else None
    for index in order:
        seen[group[index]] += 1
        if seen[group[index]] > options.get("top_k", 1 << 30):
            continue
        candidates += 1
        same = [each for each in kept if group[each] == group[index]]
        if len(same) > 0 and angles is not None:
            shares = rotated_overlaps(boxes[place[index]], angles[place[index]], boxes[place[same]], angles[place[same]])
        elif len(same) > 0:
            shares = overlaps(boxes[place[index]], boxes[place[same]])
        if len(kept) < options.get("keep", 200) and (
                not same or shares.max() <= options.get("nms_threshold", 1 if net.version == "yolov10" else 0.45)):
            kept.append(index)
    rows = [(label[each], score[each], *boxes[place[each]], place[each]) for each in kept]
    return np.array(rows, float).reshape(-1, 7), candidates
