#!/usr/bin/env python3
"""Makes the pictures and the vectors that unittests/Preprocess/PictureTest.cpp compares with.

    make_vectors.py FOLDER            writes landscape.png, portrait.jpg, deep.png and vectors.npz
    make_vectors.py FOLDER --public   also compares the vectors with the preprocessing of the public
                                      tpu_mlir package, where that is installed

Decoding and scaling is done by opencv-python, everything else by numpy. An array is named
PICTURE.PIXEL_FORMAT.CHANNEL_FORMAT; its first three axes are MODES, PAD_TYPES and RESIZE_DIMS.
Made with opencv-python 4.8.0.
"""

import argparse
import os

import cv2
import numpy as np

NET = (5, 7)
MODES = ("stretch", "letterbox", "short_side_scale")
PAD_TYPES = ("center", "normal")
RESIZE_DIMS = (NET, (9, 11), (12, 8))
PIXEL_FORMATS = ("rgb", "bgr", "gray", "rgbd")
CHANNEL_FORMATS = ("nchw", "nhwc")
MEAN = (123.675, 116.28, 103.53, 17.5)
SCALE = (0.0171, 0.0175, 0.0174, 0.5)
PAD_VALUE = 114
PICTURES = ("landscape.png", "portrait.jpg", "deep.png")


def write_pictures(folder):
    rng = np.random.default_rng(20)

    def smooth(height, width, channels, largest):
        coarse = rng.uniform(0, largest, (4, 5, channels))
        return np.clip(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), 0, largest)

    cv2.imwrite(os.path.join(folder, "landscape.png"), smooth(17, 23, 4, 255).astype(np.uint8))
    cv2.imwrite(os.path.join(folder, "portrait.jpg"), smooth(19, 13, 3, 255).astype(np.uint8))
    cv2.imwrite(os.path.join(folder, "deep.png"), smooth(7, 9, 4, 65535).astype(np.uint16))


def decode(path, pixel_format):
    if pixel_format == "gray":
        return cv2.imread(path, cv2.IMREAD_GRAYSCALE)[:, :, None]
    if pixel_format != "rgbd":
        image = cv2.imread(path, cv2.IMREAD_COLOR)
        return image[:, :, ::-1] if pixel_format == "rgb" else image
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if image.dtype == np.uint16:
        image = (image >> 8).astype(np.uint8)
    if image.shape[2] == 3:
        image = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    return image[:, :, [2, 1, 0, 3]]


def resize(image, height, width):
    return cv2.resize(np.ascontiguousarray(image), (width, height)).reshape(height, width, -1)


def scale_to(image, mode, pad_type, dims):
    height, width = image.shape[:2]
    if mode == "stretch":
        return resize(image, *dims)
    ratios = (dims[1] / width, dims[0] / height)
    if mode == "letterbox":
        inner = (int(height * min(ratios)), int(width * min(ratios)))
        top, left = ((dims[0] - inner[0]) // 2, (dims[1] - inner[1]) // 2) if pad_type == "center" else (0, 0)
        canvas = np.full((*dims, image.shape[2]), PAD_VALUE, np.uint8)
        canvas[top:top + inner[0], left:left + inner[1]] = resize(image, *inner)
        return canvas
    outer = (max(int(height * max(ratios)), dims[0]), max(int(width * max(ratios)), dims[1]))
    top, left = (outer[0] - dims[0]) // 2, (outer[1] - dims[1]) // 2
    return resize(image, *outer)[top:top + dims[0], left:left + dims[1]]


def prepare(path, pixel_format, channel_format, mode, pad_type, dims):
    image = scale_to(decode(path, pixel_format), mode, pad_type, dims)
    top, left = dims[0] // 2 - NET[0] // 2, dims[1] // 2 - NET[1] // 2
    image = image[top:top + NET[0], left:left + NET[1]].astype(np.float32)
    channels = image.shape[2]
    image = (image - np.float32(MEAN[:channels])) * np.float32(SCALE[:channels])
    return image if channel_format == "nhwc" else image.transpose(2, 0, 1)


def publicly(path, pixel_format, channel_format, mode, pad_type, dims):
    from tpu_mlir.python.utils.preprocess import preprocess
    channels = {"gray": 1, "rgbd": 4}.get(pixel_format, 3)
    tool = preprocess()
    tool.config(resize_dims=list(dims), keep_aspect_ratio=mode != "stretch",
                keep_ratio_mode="letterbox" if mode == "stretch" else mode,
                mean=",".join(map(str, MEAN[:channels])), scale=",".join(map(str, SCALE[:channels])),
                pixel_format="rgba" if pixel_format == "rgbd" else pixel_format,
                pad_type=pad_type, pad_value=PAD_VALUE, channel_format=channel_format,
                input_shapes=[[1, channels, *NET] if channel_format == "nchw" else [1, *NET, channels]])
    return tool.run(path)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--public", action="store_true")
    arguments = parser.parse_args()
    write_pictures(arguments.folder)
    vectors = {}
    equal = different = refused = 0
    for picture in PICTURES:
        path = os.path.join(arguments.folder, picture)
        for pixel_format in PIXEL_FORMATS:
            for channel_format in CHANNEL_FORMATS:
                cases = []
                for mode in MODES:
                    for pad_type in PAD_TYPES:
                        for dims in RESIZE_DIMS:
                            case = (path, pixel_format, channel_format, mode, pad_type, dims)
                            cases.append(prepare(*case))
                            if not arguments.public:
                                continue
                            try:
                                other = publicly(*case)
                            except Exception as error:
                                refused += 1
                                print("refused:", *case[1:], error)
                                continue
                            same = np.array_equal(other, cases[-1])
                            equal += same
                            different += not same
                            if not same:
                                print("different:", picture, *case[1:], other.shape)
                shape = (len(MODES), len(PAD_TYPES), len(RESIZE_DIMS), *cases[0].shape)
                vectors[f"{picture}.{pixel_format}.{channel_format}"] = np.stack(cases).reshape(shape)
    np.savez_compressed(os.path.join(arguments.folder, "vectors.npz"), **vectors)
    if arguments.public:
        print(f"public tool: {equal} equal, {different} different, {refused} refused")


if __name__ == "__main__":
    main()
