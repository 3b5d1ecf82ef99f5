#!/usr/bin/env python3
"""Draws page.png and writes page.txt, the lines on it in reading order.

usage: make_page.py FONT_FOLDER

Needs Pillow (made with 13.0.0) and, somewhere below FONT_FOLDER, the fonts of Debian's packages
fonts-dejavu-core, fonts-liberation2 and fonts-droid-fallback.
"""

import pathlib
import sys

from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).parent
SIZE = (960, 640)
PAPER, INK, BAND = (250, 248, 240), (30, 30, 40), (28, 70, 110)
# Colours that remain in the file, so that it stays small.
COLOURS = 48

# Text, font, size in pixels, left, middle, degrees anticlockwise, on the dark band.
LINES = [
    ("Tensor by tensor", "DejaVuSans-Bold", 54, 40, 62, 0, True),
    ("A trained network comes in and runs.", "DejaVuSerif", 30, 40, 152, 0, False),
    ("深度学习编译器读懂每一行文字", "DroidSansFallbackFull", 34, 40, 212, 0, False),
    ("Convolution and matrix product", "LiberationSans-Italic", 30, 40, 270, 0, False),
    ("Total 1,284.50 EUR", "DejaVuSansMono", 24, 40, 326, 0, False),
    ("2026-11-21", "DejaVuSansMono-Bold", 24, 620, 326, 0, False),
    ("This line stands on its head", "LiberationSerif-Regular", 34, 40, 388, 180, False),
    ("slightly askew and read all the same", "DejaVuSans", 26, 60, 468, 3, False),
    ("and the small print is read as well", "LiberationSerif-Regular", 20, 40, 540, 0, False),
    ("https://example.org/models?id=42", "LiberationMono-Regular", 22, 40, 590, 0, False),
]


def draw_line(page, fonts, text, font, size, left, middle, degrees, on_band):
    path = next(fonts.rglob(font + ".ttf"), None)
    if path is None:
        sys.exit(f"make_page.py: no {font}.ttf below {fonts}")
    font = ImageFont.truetype(path, size)
    box = font.getbbox(text)
    layer = Image.new("L", (box[2] - box[0] + 8, box[3] - box[1] + 8), 0)
    ImageDraw.Draw(layer).text((4 - box[0], 4 - box[1]), text, font=font, fill=255)
    layer = layer.rotate(degrees, Image.Resampling.BICUBIC, expand=True)
    page.paste(PAPER if on_band else INK, (left, middle - layer.height // 2), layer)


def main():
    fonts = pathlib.Path(sys.argv[1])
    page = Image.new("RGB", SIZE, PAPER)
    ImageDraw.Draw(page).rectangle((0, 0, SIZE[0], 116), fill=BAND)
    for line in LINES:
        draw_line(page, fonts, *line)
    page.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / "page.png", optimize=True)
    (HERE / "page.txt").write_text("".join(line[0] + "\n" for line in LINES), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_page.py FONT_FOLDER")
    main()
