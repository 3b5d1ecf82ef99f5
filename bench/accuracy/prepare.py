#!/usr/bin/env python3
"""Makes the samples that bench/accuracy calibrates with and measures on.

usage: prepare.py OUT [--seed N] [MODEL ...]
Fetches the Debian packages of PACKAGES into OUT/packages and takes from them the photographs that
pictures.txt and stamps.txt list, handwritten digits, fonts and a list of words. Each seed of SOURCES has fonts and
words of its own and other random numbers. With seed 1 the photographs change places between
calibration and evaluation. The samples of a seed above 0 are in OUT/seedN. Per model it writes
  OUT/MODEL/calibration/000.npz ...  one sample each
  OUT/MODEL/samples.npz              the samples to measure on, stacked along axis 0
  OUT/MODEL/labels.npz               where there is a right answer: 'labels', int64 per sample
A folder that has samples.npz already is left alone. Every second photograph, word and Chinese
character is for calibration only, the others for evaluation only. Random numbers are seeded: the
same packages give the same samples.
Needs apt-get and dpkg-deb (no root), numpy, opencv and pillow.
"""

import argparse
import gzip
import hashlib
import os
import subprocess
import sys
import tarfile

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

HERE = os.path.dirname(os.path.abspath(__file__))

# Debian 12. The licences are in each package's copyright file; docs/third-party.md names them.
PACKAGES = {
    "mate-backgrounds": "1.26.0-1",
    "lomiri-wallpapers-16.04": "20.04.0-2",
    "lomiri-wallpapers-20.04": "20.04.0-2",
    "plasma-workspace-wallpapers": "4:5.27.5-2",
    "opencv-doc": "4.6.0+dfsg-12",
    "python3-skimage": "0.19.3-8",
    "python3-sklearn": "1.2.1+dfsg-1",
    "wamerican": "2020.12.07-2",
    "fonts-comfortaa": "3.001-3",
    "fonts-dejavu-core": "2.37-6",
    "fonts-ebgaramond": "0.016+git20210310.42d4f9f2-1",
    "fonts-freefont-ttf": "20120503-10",
    "fonts-inconsolata": "001.010-6",
    "fonts-lato": "2.0-2.1",
    "fonts-liberation": "1:1.07.4-11",
    "fonts-open-sans": "1.11-2",
    "fonts-wqy-microhei": "0.2.0-beta-3.1",
}
# Only what shows objects takes it: 161 MB.
STAMPS = {"tuxpaint-stamps-default": "2022.06.04-1"}
DIGITS = "usr/share/doc/opencv-doc/examples/data/digits.png"
SMALL_DIGITS = "usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"
WORDS = "usr/share/dict/american-english"
FONTS = "usr/share/fonts/"
CHINESE_FONT = "wqy-microhei.ttc"
# What lines of text are made of, by seed: the folder that the packages are unpacked into, the packages
# (those of seed 0 are above), the list of words, and the font for Chinese characters.
SOURCES = (
    ("tree", {}, WORDS, CHINESE_FONT),
    ("seed1", {
        "fonts-cantarell": "0.303.1-1",
        "fonts-crosextra-caladea": "20200211-1",
        "fonts-roboto-unhinted": "2:0~20170802-3",
        "fonts-courier-prime": "0+git20190115-3",
        "fonts-arphic-uming": "0.2.20080216.2-11",
        "wfrench": "1.2.7-2",
    }, "usr/share/dict/french", "uming.ttc"),
    ("seed2", {
        "fonts-linuxlibertine": "5.3.0-6",
        "fonts-crosextra-carlito": "20220224-1",
        "fonts-hack": "3.003-3",
        "fonts-quicksand": "0.2016-2.1",
        "fonts-arphic-ukai": "0.2.20080216.2-5",
        "wspanish": "1.0.30",
    }, "usr/share/dict/spanish", "ukai.ttc"),
)
# Fonts of keys and of initials.
OTHER_FONTS = ("LinBiolinum_K", "LinLibertine_I.")
# Strokes too thin to be read at these sizes.
UNREADABLE = ("Hairline", "Thin")
LONGEST_SIDE = 1600


def picture_list(name="pictures.txt"):
    """Lines of that file: (package, first 16 digits of the SHA-256, path in the package)."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.split(None, 2) for line in file.read().splitlines() if not line.startswith("#")]


def fetch(folder, seed=0):
    """Unpacks what is needed of the packages of a seed of SOURCES; the folder of its fonts and words."""
    name, packages, words, _ = SOURCES[seed]
    tree = os.path.join(folder, name)
    os.makedirs(tree, exist_ok=True)
    wanted = {words} if seed else {path for _, _, path in picture_list()} | {DIGITS, SMALL_DIGITS, WORDS}
    for package, version in (packages or PACKAGES).items():
        unpack(folder, tree, package, version, wanted)
    return tree


def fetch_stamps(folder):
    """Unpacks the pictures of stamps.txt; the folder that they are below."""
    tree = os.path.join(folder, "stamps")
    os.makedirs(tree, exist_ok=True)
    for package, version in STAMPS.items():
        unpack(folder, tree, package, version, {path for _, _, path in picture_list("stamps.txt")})
    return tree


def unpack(folder, tree, package, version, wanted):
    """Fetches a package into `folder`, once, and writes its fonts and what is wanted into `tree`."""
    done = os.path.join(folder, f"{package}_{version.replace(':', '%3a')}_all.deb.unpacked")
    if os.path.exists(done):
        return
    if not os.path.exists(done.removesuffix(".unpacked")):
        subprocess.run(["apt-get", "download", "-qq", f"{package}={version}"], cwd=folder, check=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", done.removesuffix(".unpacked")],
                          stdout=subprocess.PIPE) as unpacked:
        with tarfile.open(fileobj=unpacked.stdout, mode="r|") as archive:
            for member in archive:
                path = member.name.removeprefix("./")
                if member.isfile() and (path in wanted or path.startswith(FONTS)):
                    target = os.path.join(tree, path)
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "wb") as file:
                        file.write(archive.extractfile(member).read())
    open(done, "w", encoding="utf-8").close()


def read_picture(path, digest, form=cv2.IMREAD_COLOR):
    with open(path, "rb") as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest()[:16] != digest:
        sys.exit(f"prepare.py: {path}: another file than pictures.txt or stamps.txt lists")
    return cv2.imdecode(np.frombuffer(data, np.uint8), form)


def read_photograph(path, digest):
    picture = read_picture(path, digest)
    scale = LONGEST_SIDE / max(picture.shape[:2])
    if scale < 1:
        picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return picture


class Part:
    """What one of the two parts, calibration and evaluation, may use. `tree` has the photographs, `texts`
    the fonts and words of the seed."""

    def __init__(self, tree, index, seed=0, texts=None):
        self.index, self.seed, texts = index, seed, texts or tree
        _, _, words, chinese_font = SOURCES[seed]
        self.photographs = [read_photograph(os.path.join(tree, path), digest)
                            for _, digest, path in picture_list()[(index + seed) % 2::2]]
        with open(os.path.join(texts, words), encoding="utf-8") as file:
            self.words = [word for word in file.read().split() if word.isascii() and "'" not in word][index::2]
        # The first level of GB 2312: the characters in common use.
        common = b"".join(bytes((row, column)) for row in range(0xB0, 0xD7) for column in range(0xA1, 0xFF))
        self.characters = list(common.decode("gb2312"))[index::2]
        fonts = sorted(os.path.join(at, name) for at, _, names in os.walk(os.path.join(texts, FONTS))
                       for name in names if name.endswith((".ttf", ".otf", ".ttc")))
        self.chinese_font = next(font for font in fonts if font.endswith(chinese_font))
        self.fonts = [font for font in fonts if font != self.chinese_font
                      and not any(part in font for part in UNREADABLE + OTHER_FONTS)]
        self.restart(0)

    def restart(self, seed):
        """Makes what follows independent of the models prepared before."""
        self.rng = np.random.default_rng([seed, self.index] + [self.seed] * (self.seed > 0))
        self.next = 0

    def crop(self, height, width, least=0.35):
        """A random part, perhaps mirrored, of the next photograph, resized to (height, width)."""
        picture = self.photographs[self.next % len(self.photographs)]
        self.next += 1
        fit = min(picture.shape[0] / height, picture.shape[1] / width) * self.rng.uniform(least, 1)
        rows, columns = max(1, int(height * fit)), max(1, int(width * fit))
        top = self.rng.integers(0, picture.shape[0] - rows + 1)
        left = self.rng.integers(0, picture.shape[1] - columns + 1)
        part = picture[top:top + rows, left:left + columns]
        if self.rng.random() < 0.5:
            part = part[:, ::-1]
        return cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA if fit > 1 else cv2.INTER_LINEAR)

    def text(self, longest, numbers=True):
        """A line of at most that many letters, and the font to write it in."""
        kind = self.rng.random()
        if kind < 0.15:
            count = self.rng.integers(2, max(3, longest // 2))
            return "".join(self.rng.choice(self.characters, count)), self.chinese_font
        font = self.fonts[self.rng.integers(len(self.fonts))]
        if kind < 0.3 and numbers:
            return self.number(longest), font
        line = self.word()
        while self.rng.random() < 0.75 and len(longer := line + " " + self.word()) <= longest:
            line = longer
        return line[:longest], font

    def word(self):
        word = self.words[self.rng.integers(len(self.words))]
        style = self.rng.random()
        return word.upper() if style < 0.15 else word.capitalize() if style < 0.4 else word

    def number(self, longest):
        forms = ("{:.2f}", "${:.2f}", "{:06.0f}", "No. {:.0f}", "{:.1f}%", "(+{:.0f})")
        number = str(self.rng.choice(forms)).format(self.rng.uniform(0, 10 ** self.rng.integers(1, 6)))
        return number[:longest]


def contrasting(rng, background):
    """A colour whose brightness stands out from that of the picture by more than the latter varies."""
    weights = np.array([0.114, 0.587, 0.299])
    brightness = background.reshape(-1, 3) @ weights
    mean, least = brightness.mean(), 80 + 1.5 * brightness.std()
    for _ in range(1000):
        colour = rng.integers(0, 256, 3)
        if abs(colour @ weights - mean) > least:
            return tuple(int(value) for value in colour)
    return (255, 255, 255) if mean < 128 else (0, 0, 0)


def write(picture, text, font, place, colour):
    """The BGR picture with the text drawn at place (left, top) of its ink."""
    image = Image.fromarray(picture)
    left, top, _, _ = font.getbbox(text)
    ImageDraw.Draw(image).text((place[0] - left, place[1] - top), text, font=font, fill=colour)
    return np.asarray(image)


def background(part, height, width):
    if part.rng.random() < 0.5:
        return part.crop(height, width, 0.1)
    flat = np.full((height, width, 3), part.rng.integers(0, 256, 3), np.float32)
    return np.clip(flat + part.rng.normal(0, part.rng.uniform(0, 6), flat.shape), 0, 255).astype(np.uint8)


def worn(rng, picture):
    """What cameras do: a little blur, the artefacts of JPEG."""
    if rng.random() < 0.4:
        picture = cv2.GaussianBlur(picture, (0, 0), rng.uniform(0.4, 1.0))
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(50, 98))])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


def text_line(part, longest, numbers=True):
    """A picture of one line of text."""
    text, name = part.text(longest, numbers)
    font = ImageFont.truetype(name, int(part.rng.integers(24, 60)))
    left, top, right, bottom = font.getbbox(text)
    margin = part.rng.integers(3, 12, 4)
    picture = background(part, bottom - top + margin[1] + margin[3], right - left + margin[0] + margin[2])
    picture = write(picture, text, font, (margin[0], margin[1]), contrasting(part.rng, picture))
    if part.rng.random() < 0.3:
        turn = cv2.getRotationMatrix2D((picture.shape[1] / 2, picture.shape[0] / 2), part.rng.uniform(-1.5, 1.5), 1)
        picture = cv2.warpAffine(picture, turn, picture.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)
    return worn(part.rng, picture)


def text_page(part, side):
    """A square photograph, or a sheet of paper, with lines of text on it."""
    paper = part.rng.random() < 0.4
    page = part.crop(side, side)
    if paper:
        page = np.clip(page * 0.1 + part.rng.uniform(170, 230), 0, 255).astype(np.uint8)
    top = int(part.rng.integers(5, 60))
    while True:
        text, name = part.text(int(part.rng.integers(6, 40)))
        font = ImageFont.truetype(name, int(part.rng.integers(14, 28) if paper else part.rng.integers(16, 64)))
        left, _, right, _ = font.getbbox(text)
        ascent, descent = font.getmetrics()
        if top + ascent + descent > side:
            return worn(part.rng, page)
        if right - left < side - 10:
            x = int(part.rng.integers(5, side - (right - left)))
            box = page[top:top + ascent + descent, x:x + right - left]
            page = write(page, text, font, (x, top + 2), contrasting(part.rng, box))
        top += int((ascent + descent) * part.rng.uniform(1.1, 1.4 if paper else 2.5))


def planes(picture):
    """BGR as channels of -1 to 1."""
    return (picture.astype(np.float32).transpose(2, 0, 1) - 127.5) / np.float32(127.5)


def padded_line(picture, height, width):
    """Resized to the height; what is left of the width is 0, as the OCR's own preprocessing does."""
    columns = min(width, int(np.ceil(height * picture.shape[1] / picture.shape[0])))
    line = np.zeros((3, height, width), np.float32)
    line[:, :, :columns] = planes(cv2.resize(picture, (columns, height)))
    return line


def direction_samples(part, count):
    """Every second line upside down. No numbers: many, such as 6009, have no direction."""
    samples, labels = [], []
    for i in range(count):
        picture = text_line(part, 20, numbers=False)
        samples.append(padded_line(picture[::-1, ::-1] if i % 2 else picture, 48, 192))
        labels.append(i % 2)
    return np.stack(samples), labels


def line_samples(part, count):
    return np.stack([padded_line(text_line(part, 24), 48, 320) for _ in range(count)]), None


def page_samples(part, count):
    return np.stack([planes(text_page(part, 640)) for _ in range(count)]), None


def photograph_samples(side, least):
    """RGB photographs of the values least to 1."""
    def make(part, count):
        crops = np.stack([planes(part.crop(side, side)[:, :, ::-1]) for _ in range(count)])
        return crops * np.float32((1 - least) / 2) + np.float32((1 + least) / 2), None
    return make


def on_canvas(digits):
    """Digits of 20 x 20 in the middle of 28 x 28, as MNIST has them."""
    return np.pad(digits, ((0, 0), (4, 4), (4, 4)))[:, None].astype(np.float32)


def digit_samples(tree):
    def make(part, count):
        if count == CALIBRATION:
            with gzip.open(os.path.join(tree, SMALL_DIGITS), "rt") as file:
                rows = np.loadtxt(file, delimiter=",", max_rows=count)
            small = np.clip(rows[:, :64].reshape(-1, 8, 8) / 16 * 255, 0, 255).astype(np.uint8)
            return on_canvas(np.stack([cv2.resize(digit, (20, 20), interpolation=cv2.INTER_CUBIC)
                                       for digit in small])), rows[:, 64]
        sheet = cv2.imread(os.path.join(tree, DIGITS), cv2.IMREAD_GRAYSCALE)
        digits = sheet.reshape(50, 20, 100, 20).transpose(0, 2, 1, 3).reshape(-1, 20, 20)
        return on_canvas(digits), np.arange(count) // 500
    return make


def scene(part, stamps, side):
    """A photograph on which one to three stamps stand, not upon each other for the most part."""
    picture, taken = part.crop(side, side, 0.6), np.zeros((side, side), bool)
    for _ in range(part.rng.integers(1, 4)):
        stamp = stamps[part.rng.integers(len(stamps))]
        scale = side * part.rng.uniform(0.2, 0.7) / max(stamp.shape[:2])
        stamp = cv2.resize(stamp, None, fx=scale, fy=scale,
                           interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        if part.rng.random() < 0.5:
            stamp = stamp[:, ::-1]
        height, width = stamp.shape[:2]
        top, left = part.rng.integers(0, side - height + 1), part.rng.integers(0, side - width + 1)
        at = np.s_[top:top + height, left:left + width]
        if taken[at].mean() < 0.1:
            taken[at] = True
            opaque = stamp[:, :, 3:].astype(np.float32) / 255
            picture[at] = np.rint(stamp[:, :, :3] * opaque + picture[at] * (1 - opaque)).astype(np.uint8)
    return worn(part.rng, picture)


def scene_samples(folder, side):
    """RGB scenes of the values -1 to 1. Every second stamp is for calibration only; seed 1 exchanges them."""
    def make(part, count):
        tree = fetch_stamps(folder)
        stamps = [read_picture(os.path.join(tree, path), digest, cv2.IMREAD_UNCHANGED)
                  for _, digest, path in picture_list("stamps.txt")[(part.index + part.seed) % 2::2]]
        return np.stack([planes(scene(part, stamps, side)[:, :, ::-1]) for _ in range(count)]), None
    return make


CALIBRATION = 100


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("out")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--seed", type=int, choices=range(len(SOURCES)), default=0)
    options = parser.parse_intermixed_args()
    seed, out = options.seed, os.path.abspath(options.out)
    packages = os.path.join(out, "packages")
    tree = fetch(packages)
    texts = fetch(packages, seed)
    out = os.path.join(out, f"seed{seed}") if seed else out
    # model: (input, samples to measure on, maker)
    models = {
        "cls": ("x", 1200, direction_samples),
        "mnist-conv": ("Input3", 5000, digit_samples(tree)),
        "efficientnet_lite0": ("input", 1000, photograph_samples(224, -1)),
        "rec": ("x", 300, line_samples),
        "det": ("x", 24, page_samples),
        "silu_detector": ("images", 100, photograph_samples(320, 0)),
        "ssd_mobilenet_v2": ("images", 100, scene_samples(packages, 300)),
    }
    chosen = options.models or list(models)
    if unknown := set(chosen) - set(models):
        sys.exit(f"prepare.py: no model {', '.join(sorted(unknown))}; there are: {', '.join(models)}")
    parts = [Part(tree, part, seed, texts) for part in (0, 1)]
    for number, (model, (key, count, make)) in enumerate(models.items()):
        folder = os.path.join(out, model)
        if model not in chosen or os.path.exists(os.path.join(folder, "samples.npz")):
            continue
        os.makedirs(os.path.join(folder, "calibration"), exist_ok=True)
        for part in parts:
            part.restart(number)
        samples, _ = make(parts[0], CALIBRATION)
        for i, sample in enumerate(samples):
            np.savez(os.path.join(folder, "calibration", f"{i:03}.npz"), **{key: sample[None]})
        samples, labels = make(parts[1], count)
        if labels is not None:
            np.savez(os.path.join(folder, "labels.npz"), labels=np.asarray(labels, np.int64))
        np.savez(os.path.join(folder, "samples.npz"), **{key: samples})
        print(f"{model}: {CALIBRATION} samples for calibration, {len(samples)} to measure on", flush=True)


if __name__ == "__main__":
    main()
