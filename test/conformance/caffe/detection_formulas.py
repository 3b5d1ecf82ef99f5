"""What layers of detectors compute, in numpy, from the papers on SSD, Fast R-CNN and R-FCN."""

import numpy as np

from formulas import layer


def corners(prior, variance, by, code):
    x1, y1, x2, y2 = prior
    width, height = x2 - x1, y2 - y1
    step = variance * by
    if code == "CORNER":
        return prior + step
    if code == "CORNER_SIZE":
        return prior + step * np.array([width, height, width, height])
    centre = np.array([(x1 + x2) / 2, (y1 + y2) / 2]) + step[:2] * (width, height)
    half = np.exp(step[2:]) * (width, height) / 2
    return np.concatenate([centre - half, centre + half])


def overlap(a, b):
    def area(box):
        return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)
    common = area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    union = area(a) + area(b) - common
    return common / union if union > 0 else 0


@layer("DetectionOutput")
def detection_output(p, x, blobs, tops):
    """As many rows as can be kept; those that are left over are 0."""
    classes = p["num_classes"]
    background = p.get("background_label_id", 0)
    priors, variances = x[2].reshape(2, -1, 4)
    if p.get("variance_encoded_in_target"):
        variances = np.ones_like(variances)
    count, items = len(priors), len(x[0])
    location = x[0].reshape(items, count, -1, 4)
    scores = x[1].reshape(items, count, classes)
    nms = p.get("nms_param", {})
    rows = []
    for item in range(items):
        found = []
        for label in range(classes):
            if label == background:
                continue
            order = np.argsort(-scores[item, :, label], kind="stable")
            order = [i for i in order if scores[item, i, label] > p.get("confidence_threshold", -np.inf)]
            limit = nms.get("nms_threshold", 0.3)
            kept = []
            for index in order[:nms["top_k"]] if nms.get("top_k", -1) >= 0 else order:
                box = corners(priors[index], variances[index],
                              location[item, index, 0 if p.get("share_location", True) else label],
                              p.get("code_type", "CORNER"))
                if all(overlap(box, other) <= limit for other in kept):
                    kept.append(box)
                    found.append([item, label, scores[item, index, label], *box])
                    if nms.get("eta", 1.0) < 1 and limit > 0.5:
                        limit *= nms["eta"]
        if 0 <= p.get("keep_top_k", -1) < len(found):
            best = sorted(range(len(found)), key=lambda i: -found[i][2])[:p["keep_top_k"]]
            found = [found[i] for i in sorted(best, key=lambda i: (found[i][1], -found[i][2]))]
        rows += found
    most = count if nms.get("top_k", -1) < 0 else min(count, nms["top_k"])
    most *= classes - (0 <= background < classes)
    if p.get("keep_top_k", -1) >= 0:
        most = min(most, p["keep_top_k"])
    rows += [[0.0] * 7] * (items * most - len(rows))
    return [np.array(rows).reshape(1, 1, -1, 7)]


def rounded(x):
    """Halves away from 0."""
    return np.sign(x) * np.floor(np.abs(x) + np.float32(0.5))


def pool_regions(x, rois, height, width, edges, function):
    """`edges` gives for each corner pair of an axis where bins begin, and how long each is."""
    planes = x.shape[2:]
    out = []
    # Borders are exact in single precision only where they fall on pixels: bins of 8/3 end at 8.
    for item, x1, y1, x2, y2 in rois.reshape(-1, 5).astype(np.float32):
        ranges = []
        for bins, extent, first, last in ((height, planes[0], y1, y2), (width, planes[1], x1, x2)):
            begin, size = edges(first, last, bins)
            ranges.append([(int(np.clip(np.floor(np.float32(i) * size + begin), 0, extent)),
                            int(np.clip(np.ceil(np.float32(i + 1) * size + begin), 0, extent))) for i in range(bins)])
        out.append([[function(x[int(item)], row, column, a, b)
                     for column, b in enumerate(ranges[1])] for row, a in enumerate(ranges[0])])
    return np.moveaxis(np.array(out), 3, 1)


@layer("ROIPooling")
def roi_pooling(p, x, blobs, tops):
    scale, one = np.float32(p.get("spatial_scale", 1.0)), np.float32(1)

    def edges(first, last, bins):
        begin, end = rounded(first * scale), rounded(last * scale)
        return begin, max(end - begin + one, one) / np.float32(bins)

    def most(item, row, column, a, b):
        part = item[:, a[0]:a[1], b[0]:b[1]].reshape(len(item), -1)
        return part.max(1) if part.shape[1] else np.zeros(len(item))

    return [pool_regions(x[0], x[1], p["pooled_h"], p["pooled_w"], edges, most)]


@layer("PSROIPooling")
def psroi_pooling(p, x, blobs, tops):
    group = p["group_size"]
    scale, least = np.float32(p["spatial_scale"]), np.float32(0.1)

    def edges(first, last, bins):
        begin, end = rounded(first) * scale, (rounded(last) + np.float32(1)) * scale
        return begin, max(end - begin, least) / np.float32(bins)

    def mean(item, row, column, a, b):
        planes = item.reshape(-1, group, group, *item.shape[1:])[:, row, column]
        part = planes[:, a[0]:a[1], b[0]:b[1]].reshape(len(planes), -1)
        return part.mean(1) if part.shape[1] else np.zeros(len(planes))

    return [pool_regions(x[0], x[1], group, group, edges, mean)]
