"""What layers of detectors with anchors compute, in numpy.

From the papers on Faster R-CNN, YOLOv2, YOLOv3 and RetinaFace, the programs that their authors published,
and what the forks of Caffe with these layers document.
"""

import itertools

import numpy as np

from formulas import layer


def boxes_overlap(a, b, of_areas, of_common):
    """The intersection over the union, with pixels added to extents before they are multiplied."""
    extent = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + of_common
    if not (extent > 0).all():
        return 0
    common = extent.prod()
    return common / (np.prod(a[2:] - a[:2] + of_areas) + np.prod(b[2:] - b[:2] + of_areas) - common)


def keep_best(found, most, limit, pixels):
    """`found`: (score, label, box, ...). The best that overlap no better one of their label too much."""
    kept = []
    for each in sorted(found, key=lambda row: -row[0]):
        if len(kept) < most and all(boxes_overlap(each[2], other[2], *pixels) <= limit
                                    for other in kept if other[1] == each[1]):
            kept.append(each)
    return kept


def moved(box, by):
    """Faster R-CNN's transform: extents are counted in pixels."""
    extent = box[2:] - box[:2] + 1
    centre = by[:2] * extent + box[:2] + extent / 2
    half = np.exp(by[2:]) * extent / 2
    return np.concatenate([centre - half, centre + half])


def square_around(base, width, height):
    middle, half = (base - 1) / 2, np.array([width - 1, height - 1]) / 2
    return np.concatenate([middle - half, middle + half])


@layer("Proposal")
def proposal(p, x, blobs, tops):
    stated = len(x) == 2
    base = p.get("anchor_base_size" if stated else "base_size", 16)
    anchors = []
    for ratio in p.get("ratio", [0.5, 1, 2]):
        width = np.rint(np.sqrt(base * base / np.float32(ratio)))
        height = np.rint(width * ratio)
        anchors += [square_around(base, width * scale, height * scale) for scale in p.get("scale", [8, 16, 32])]
    most = p.get("rpn_nms_post_top_n", 300) if stated else p.get("post_nms_topn", 300)
    limit = p.get("rpn_nms_threshold", 0.7) if stated else p.get("nms_thresh", 0.7)
    stride, count = p.get("feat_stride", 16), len(anchors)
    items, _, height, width = x[0].shape
    rois, scores = np.zeros((items * most, 5)), np.zeros((items * most, 1))
    for item in range(items):
        rois[item * most:(item + 1) * most, 0] = item
        rows, columns, scale = (p["net_input_h"], p["net_input_w"], 1) if stated else x[2].reshape(-1, 3)[
            item if x[2].size > 3 else 0]
        found = []
        for y, column, anchor in itertools.product(range(height), range(width), range(count)):
            score = x[0][item, count + anchor, y, column]
            if stated and score < p.get("rpn_obj_threshold", 0.1):
                continue
            box = moved(anchors[anchor] + np.array([column, y, column, y]) * stride,
                        x[1][item, anchor * 4:anchor * 4 + 4, y, column])
            box = np.clip(box, 0, np.array([columns, rows, columns, rows]) - 1)
            least = 0 if stated else p.get("min_size", 16) * scale
            if (box[2:] - box[:2] + 1 >= least).all():
                found.append((score, 0, box))
        found = sorted(found, key=lambda row: -row[0])
        if not stated:
            found = found[:p.get("pre_nms_topn", 6000)]
        for index, (score, _, box) in enumerate(keep_best(found, most, limit, (1, 1))):
            rois[item * most + index, 1:] = box
            scores[item * most + index] = score
    if stated:
        return [rois.reshape(items, 1, most, 5)]
    return [rois, scores][:tops]


def yolo_boxes(x, anchors, classes, threshold, size, across):
    """For each item (score, label, box, class) of all maps."""
    found = [[] for _ in x[0]]
    for values, pairs in zip(x, anchors):
        items, _, height, width = values.shape
        values = values.reshape(items, len(pairs), 5 + classes, height, width)
        rows, columns = size or (height, width)
        for item, y, column, anchor in itertools.product(range(items), range(height), range(width), range(len(pairs))):
            t = values[item, anchor, :, y, column]
            share = np.exp(t[5:] - t[5:].max())
            label, share = share.argmax(), share.max() / share.sum()
            confidence = 1 / (1 + np.exp(-t[4]))
            if confidence < threshold or confidence * share < threshold:
                continue
            centre = (1 / (1 + np.exp(-t[:2])) + (column, y)) / (width, height)
            half = np.exp(t[2:4]) * pairs[anchor] / (columns, rows) / 2
            found[item].append((confidence * share, 0 if across else label,
                                np.concatenate([centre - half, centre + half]), label))
    return found


@layer("YoloDetection")
def yolo_detection(p, x, blobs, tops):
    anchors = np.array([float(each) for each in p["anchors"].split(",")]).reshape(len(x), -1, 2)
    most = p.get("keep_topk", 200)
    out = np.zeros((len(x[0]), 1, most, 6))
    found = yolo_boxes(x, anchors, p["class_num"], p.get("obj_threshold", 0.5),
                       (p["net_input_h"], p["net_input_w"]), False)
    for item, each in enumerate(found):
        for row, (score, _, box, label) in enumerate(keep_best(each, most, p.get("nms_threshold", 0.5), (0, 0))):
            out[item, 0, row] = [*(box[:2] + box[2:]) / 2, *box[2:] - box[:2], label, score]
    return [out]


@layer("YoloDetectionOutput")
def yolo_detection_output(p, x, blobs, tops):
    """As many rows as there are boxes; those that are left over are 0."""
    anchors = np.array(p["biases"]).reshape(1, -1, 2)
    most = x[0].shape[2] * x[0].shape[3] * anchors.shape[1]
    found = yolo_boxes(x, anchors, p["num_classes"], p.get("confidence_threshold", 0.01), None, True)
    rows = [[item, label + 1, score, *box] for item, each in enumerate(found)
            for score, _, box, label in keep_best(each, most, p.get("nms_threshold", 0.45), (0, 0))]
    rows += [[0.0] * 7] * (most * len(x[0]) - len(rows))
    return [np.array(rows).reshape(1, 1, -1, 7)]


@layer("RetinaFaceDetection")
def retina_face_detection(p, x, blobs, tops):
    most = p.get("keep_topk", 50)
    out = np.zeros((len(x[0]), 1, most, 15))
    for item in range(len(x[0])):
        found = []
        for level, (stride, sides) in enumerate(((8, (32, 16)), (16, (128, 64)), (32, (512, 256)))):
            scores, deltas, points = (each[item] for each in x[level * 3:level * 3 + 3])
            for anchor, y, column in itertools.product(range(2), *map(range, scores.shape[1:])):
                score = scores[2 + anchor, y, column]
                if score < p.get("confidence_threshold", 0.5):
                    continue
                side = sides[anchor]
                centre = 7.5 + np.array([column, y]) * stride
                by = deltas[anchor * 4:anchor * 4 + 4, y, column]
                middle, half = by[:2] * side + centre, (np.exp(by[2:]) * side - 1) / 2
                marks = points[anchor * 10:anchor * 10 + 10, y, column].reshape(5, 2) * side + centre
                found.append((score, 0, np.concatenate([middle - half, middle + half]), marks.ravel()))
        for row, (score, _, box, marks) in enumerate(keep_best(found, most, p.get("nms_threshold", 0.4), (1, 1))):
            out[item, 0, row] = [*box, score, *marks]
    return [out]


@layer("FrcnDetection")
def frcn_detection(p, x, blobs, tops):
    classes, most = p["class_num"], p.get("keep_topk", 100)
    items = x[2].shape[0] if x[2].ndim == 4 else 1
    rois = x[2].reshape(items, -1, 5)
    deltas, scores = x[0].reshape(items, -1, classes, 4), x[1].reshape(items, -1, classes)
    out = np.zeros((items, 1, most, 6))
    for item in range(items):
        found = [(scores[item, region, label], label, moved(rois[item, region, 1:], deltas[item, region, label]))
                 for region, label in itertools.product(range(rois.shape[1]), range(1, classes))
                 if scores[item, region, label] > p.get("obj_threshold", 0.5)]
        for row, (score, label, box) in enumerate(keep_best(found, most, p.get("nms_threshold", 0.3), (1, 0))):
            out[item, 0, row] = [*box, label, score]
    return [out]
