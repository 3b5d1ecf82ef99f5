#!/usr/bin/env python3
"""Tests of what examples/ocr does around the networks, on maps and lines that are made here."""

import hashlib
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

import cv2
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "ocr"))
import detection
import models
import recognition


def map_with(*rectangles, shape=(160, 320)):
    """A map that is 0.9 in rectangles (centre, sides, angle) and 0 elsewhere."""
    text_map = np.zeros(shape, np.float32)
    for rectangle in rectangles:
        cv2.fillPoly(text_map, [np.rint(cv2.boxPoints(rectangle)).astype(np.int32)], 0.9)
    return text_map


def picture_like(text_map):
    return np.zeros((*text_map.shape, 3), np.uint8)


def find(text_map):
    return detection.find_lines(text_map, picture_like(text_map))


class Detection(unittest.TestCase):
    def test_core_is_grown_by_the_offset_of_the_paper(self):
        (box,) = find(map_with(((150, 80), (200, 20), 0)))
        offset = 200 * 20 * 1.6 / (2 * (200 + 20))
        left, top = box[0]
        right, bottom = box[2]
        # One pixel for the dilation, one for the border of the contour.
        self.assertAlmostEqual(left, 50 - offset, delta=2)
        self.assertAlmostEqual(right, 250 + offset, delta=2)
        self.assertAlmostEqual(top, 70 - offset, delta=2)
        self.assertAlmostEqual(bottom, 90 + offset, delta=2)

    def test_corners_run_clockwise_from_the_upper_left_whatever_the_angle(self):
        for angle in (-20, -5, 0, 5, 20):
            (box,) = find(map_with(((150, 80), (120, 16), angle)))
            top, right = box[1] - box[0], box[2] - box[1]
            with self.subTest(angle=angle):
                self.assertAlmostEqual(np.degrees(np.arctan2(top[1], top[0])), angle, delta=2)
                self.assertGreater(top[0], 100)
                self.assertGreater(right[1], 16)

    def test_boxes_are_in_the_coordinates_of_the_picture_and_inside_it(self):
        text_map = map_with(((40, 80), (80, 20), 0))
        (box,) = detection.find_lines(text_map, np.zeros((320, 960, 3), np.uint8))
        self.assertEqual(box[:, 0].min(), 0)
        self.assertAlmostEqual(box[:, 1].mean(), 160, delta=4)
        self.assertAlmostEqual(box[:, 0].max(), 3 * (80 + 12.8), delta=8)

    def test_specks_and_faint_cores_are_dropped(self):
        faint = map_with(((100, 40), (60, 20), 0)) * np.float32(0.45 / 0.9)
        self.assertEqual(find(faint), [])
        self.assertEqual(find(map_with(((100, 40), (60, 0), 0))), [])
        self.assertEqual(find(np.zeros((64, 64), np.float32)), [])

    def test_rows_are_read_from_left_to_right(self):
        boxes = find(map_with(((240, 32), (80, 16), 0), ((80, 30), (80, 16), 0),
                              ((160, 90), (80, 16), 0)))
        self.assertEqual([round(box[:, 0].mean() / 80) for box in boxes], [1, 3, 2])

    def test_size_is_the_nearest_that_the_network_takes(self):
        sizes = {(640, 960): (640, 960), (650, 975): (640, 960), (5, 1000): (32, 992)}
        for extents, expected in sizes.items():
            self.assertEqual(detection.network_size(np.zeros((*extents, 3))), expected)


class Recognition(unittest.TestCase):
    def test_cut_out_turns_a_tilted_line_level(self):
        box = cv2.boxPoints(((150, 80), (120, 30), 10)).astype(np.float32)
        picture = np.zeros((160, 320, 3), np.uint8)
        cv2.fillPoly(picture, [np.rint(box).astype(np.int32)], (10, 20, 200))
        line = recognition.cut_out(picture, detection.clockwise(box))
        self.assertEqual(line.shape, (30, 120, 3))
        inside = line[3:-3, 3:-3].reshape(-1, 3)
        self.assertTrue((inside == (10, 20, 200)).all())

    def test_lines_that_run_downwards_are_laid_down(self):
        box = np.array([[10, 10], [30, 10], [30, 90], [10, 90]], np.float32)
        picture = np.zeros((100, 60, 3), np.uint8)
        picture[10:30, 10:30] = 255  # the upper end, which becomes the left one
        line = recognition.cut_out(picture, box)
        self.assertEqual(line.shape, (20, 80, 3))
        self.assertGreater(line[:, :10].mean(), 200)
        self.assertLess(line[:, -10:].mean(), 50)

    def test_inputs_have_the_height_of_the_network_and_the_width_of_the_line(self):
        line = np.full((24, 101, 3), 255, np.uint8)
        self.assertEqual(recognition.line_input(line).shape, (1, 3, 48, 200))
        self.assertTrue((recognition.line_input(line) == 1).all())

    def test_direction_fills_up_short_lines_and_squeezes_long_ones(self):
        short, long = np.zeros((48, 100, 3), np.uint8), np.zeros((48, 900, 3), np.uint8)
        batch = recognition.direction_input([short, long])
        self.assertEqual(batch.shape, (2, 3, 48, 192))
        self.assertTrue((batch[0, :, :, :100] == -1).all() and (batch[0, :, :, 100:] == 0).all())
        self.assertTrue((batch[1] == -1).all())

    def test_lines_are_turned_only_where_the_network_is_sure(self):
        turned = recognition.is_turned(np.array([[0.05, 0.95], [0.2, 0.8], [1, 0]]))
        self.assertEqual(turned.tolist(), [True, False, False])

    def test_repetitions_are_one_character_unless_nothing_comes_between(self):
        classes = recognition.alphabet("a\nb")
        self.assertEqual(classes, ["", "a", "b", " "])
        steps = [0, 1, 1, 0, 1, 2, 2, 3, 2, 0]
        probabilities = np.full((len(steps), 4), 0.1)
        probabilities[np.arange(len(steps)), steps] = np.linspace(0.5, 0.95, len(steps))
        text, confidence = recognition.read(probabilities, classes)
        self.assertEqual(text, "aab b")
        starts = [1, 4, 5, 7, 8]
        self.assertAlmostEqual(confidence, np.mean([0.5 + 0.05 * step for step in starts]))

    def test_nothing_is_read_from_nothing(self):
        self.assertEqual(recognition.read(np.eye(4)[[0, 0]], list(" abc")), ("", 0.0))


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name) / "cache"

    def test_without_a_registry_it_says_what_is_missing(self):
        with unittest.mock.patch.dict(os.environ, PIP_NO_INDEX="1"):
            with self.assertRaisesRegex(models.Unavailable, "rapidocr-onnxruntime 1.4.4 cannot be"):
                models.fetch(self.cache)
        self.assertEqual(list(self.cache.iterdir()), [])

    def wheel(self, content):
        self.cache.mkdir()
        path = self.cache.parent / "package.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for file, _ in models.FILES.values():
                archive.writestr(f"rapidocr_onnxruntime/models/{file}", content)
        return path

    def test_a_file_of_another_digest_is_not_taken(self):
        with self.assertRaisesRegex(models.Unavailable, "SHA-256 .*; expected d2a7720d"):
            models.unpack(self.wheel(b"something else"), self.cache)
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_what_is_in_the_cache_is_not_fetched_again(self):
        content = b"a network"
        files = {name: (file, hashlib.sha256(content).hexdigest())
                 for name, (file, _) in models.FILES.items()}
        with unittest.mock.patch.dict(models.FILES, files), \
                unittest.mock.patch.dict(os.environ, PIP_NO_INDEX="1"):
            models.unpack(self.wheel(content), self.cache)
            paths = models.fetch(self.cache)
            self.assertEqual({path.read_bytes() for path in paths.values()}, {content})
            paths["detection"].write_bytes(b"damaged")
            with self.assertRaises(models.Unavailable):
                models.fetch(self.cache)


if __name__ == "__main__":
    unittest.main()
