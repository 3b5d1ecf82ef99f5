#!/usr/bin/env python3
"""Writes picture_seeds/ beside this file: small pictures of each kind that OpenCV writes, of one
formula, one peculiarity each."""

import pathlib

import cv2
import numpy

SEEDS = pathlib.Path(__file__).parent / "picture_seeds"


def picture(channels, kind=numpy.uint8):
    y, x, c = numpy.mgrid[0:7, 0:9, 0:channels]
    return ((x * 29 + y * 17 + c * 71) % 256 * (numpy.iinfo(kind).max // 255)).astype(kind)


def seeds():
    yield "colours.png", picture(3), []
    yield "gray.png", picture(1), []
    yield "opacity.png", picture(4), []
    yield "deep.png", picture(3, numpy.uint16), []
    yield "bits.png", picture(1) // 128 * 255, [cv2.IMWRITE_PNG_BILEVEL, 1]
    yield "colours.jpg", picture(3), []
    yield "gray.jpg", picture(1), []
    yield "progressive.jpg", picture(3), [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]
    yield "restarts.jpg", picture(3), [cv2.IMWRITE_JPEG_RST_INTERVAL, 1]
    yield "colours.bmp", picture(3), []
    yield "gray.bmp", picture(1), []
    yield "binary.ppm", picture(3), []
    yield "text.ppm", picture(3), [cv2.IMWRITE_PXM_BINARY, 0]
    yield "colours.tif", picture(3), []
    yield "plain.tif", picture(1), [cv2.IMWRITE_TIFF_COMPRESSION, 1]
    yield "lossy.webp", picture(3), [cv2.IMWRITE_WEBP_QUALITY, 80]
    yield "lossless.webp", picture(4), [cv2.IMWRITE_WEBP_QUALITY, 101]


def main():
    SEEDS.mkdir(exist_ok=True)
    for name, pixels, options in seeds():
        if not cv2.imwrite(str(SEEDS / name), pixels, options):
            raise SystemExit(f"{name}: cannot be written")


if __name__ == "__main__":
    main()
