/*===- detect_c.c - Objects on a picture, from one model file, in C ---------*\
|*                                                                            *|
|* Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * usage: detect_c MODEL PICTURE.ppm OUT.ppm
 *
 * MODEL was made with --add_postprocess and --fuse_preprocess --customization_format RGB_PACKED.
 * PICTURE is a binary PPM (P6, 8 bits) of exactly the extents that the model takes: a camera's
 * buffer. OUT gets the picture with a frame around each object, and stdout a line for each. Nothing
 * but C's library and libtpuc_runtime is needed.
 */

#include <tpuc_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct picture {
  unsigned width, height;
  unsigned char *bytes;
};

static void fail(const char *where, const char *what) {
  fprintf(stderr, "detect_c: error: %s: %s\n", where, what);
  exit(1);
}

/* Messages of the library name the file. */
static void fail_as(const tpuc_error *error) {
  fprintf(stderr, "detect_c: error: %s\n", error->message);
  exit(1);
}

/* A number of the header, behind blanks and comments. */
static unsigned read_number(FILE *file, const char *path) {
  unsigned number;
  int letter;
  for (;;) {
    while ((letter = getc(file)) == ' ' || letter == '\n' || letter == '\t' || letter == '\r')
      ;
    if (letter != '#')
      break;
    while ((letter = getc(file)) != '\n' && letter != EOF)
      ;
  }
  ungetc(letter, file);
  if (fscanf(file, "%5u", &number) != 1 || number == 0)
    fail(path, "is no PPM picture; expected P6, width, height, 255");
  return number;
}

static struct picture read_picture(const char *path) {
  struct picture picture;
  size_t size;
  FILE *file = fopen(path, "rb");
  if (!file)
    fail(path, "cannot be opened");
  if (getc(file) != 'P' || getc(file) != '6')
    fail(path, "is no PPM picture; expected P6, width, height, 255");
  picture.width = read_number(file, path);
  picture.height = read_number(file, path);
  if (read_number(file, path) != 255)
    fail(path, "has no bytes; expected a greatest value of 255");
  getc(file);
  size = (size_t)picture.width * picture.height * 3;
  picture.bytes = malloc(size);
  if (!picture.bytes || fread(picture.bytes, 1, size, file) != size)
    fail(path, "ends before its last pixel");
  fclose(file);
  return picture;
}

static void write_picture(const char *path, const struct picture *picture) {
  size_t size = (size_t)picture->width * picture->height * 3;
  FILE *file = fopen(path, "wb");
  if (!file || fprintf(file, "P6\n%u %u\n255\n", picture->width, picture->height) < 0 ||
      fwrite(picture->bytes, 1, size, file) != size || fclose(file) != 0)
    fail(path, "cannot be written");
}

static void paint(struct picture *picture, long x, long y, int label) {
  unsigned char *pixel;
  if (x < 0 || y < 0 || x >= (long)picture->width || y >= (long)picture->height)
    return;
  pixel = picture->bytes + ((size_t)y * picture->width + (size_t)x) * 3;
  pixel[0] = (unsigned char)(151 * (label + 1));
  pixel[1] = (unsigned char)(91 * (label + 2));
  pixel[2] = (unsigned char)(37 * (label + 3));
}

/* `place` within the picture, so that no number is too large for an integer. */
static long within(float place, unsigned extent) {
  return place<0 ? -1 : place>(float) extent ? (long)extent : (long)place;
}

/* `row`: picture, class, score, centre x, centre y, width, height. */
static void draw_object(struct picture *picture, const float *row) {
  int label = (int)row[1];
  long left = within(row[3] - row[5] / 2, picture->width);
  long top = within(row[4] - row[6] / 2, picture->height);
  long right = within(row[3] + row[5] / 2, picture->width);
  long bottom = within(row[4] + row[6] / 2, picture->height);
  long at;
  for (at = left; at <= right; ++at) {
    paint(picture, at, top, label);
    paint(picture, at, bottom, label);
  }
  for (at = top; at <= bottom; ++at) {
    paint(picture, left, at, label);
    paint(picture, right, at, label);
  }
}

int main(int argc, char **argv) {
  tpuc_error error;
  tpuc_model *model;
  tpuc_session *session;
  tpuc_tensor_info output;
  tpuc_picture buffer;
  struct picture picture;
  float *rows;
  size_t row;

  if (argc != 4) {
    fputs("usage: detect_c MODEL PICTURE.ppm OUT.ppm\n", stderr);
    return 2;
  }
  picture = read_picture(argv[2]);
  memset(&buffer, 0, sizeof buffer);
  buffer.format = TPUC_RGB_PACKED;
  buffer.height = picture.height;
  buffer.width = picture.width;
  buffer.planes[0] = picture.bytes;
  buffer.strides[0] = (size_t)picture.width * 3;
  if (tpuc_model_load(argv[1], &model, &error) ||
      tpuc_model_output(model, 0, 0, 0, &output, &error))
    fail_as(&error);
  if (output.rank == 0 || output.shape[output.rank - 1] != 7)
    fail(argv[1], "gives no rows of seven; expected a file with --add_postprocess");
  rows = malloc(output.num_elements * sizeof *rows);
  if (!rows)
    fail(argv[1], "takes more memory than there is");
  if (tpuc_session_create(model, 0, 0, 0, &session, &error) ||
      tpuc_session_set_input_pictures(session, 0, &buffer, 1, &error) ||
      tpuc_session_run(session, &error) ||
      tpuc_session_get_output_f32(session, 0, rows, output.num_elements, &error))
    fail_as(&error);
  /* Rows that are left over have no score. */
  for (row = 0; row + 7 <= output.num_elements && rows[row + 2] > 0; row += 7) {
    printf("class %d, score %.4f, x %.1f, y %.1f, width %.1f, height %.1f\n", (int)rows[row + 1],
           rows[row + 2], rows[row + 3] - rows[row + 5] / 2, rows[row + 4] - rows[row + 6] / 2,
           rows[row + 5], rows[row + 6]);
    draw_object(&picture, rows + row);
  }
  write_picture(argv[3], &picture);
  free(rows);
  free(picture.bytes);
  tpuc_session_free(session);
  tpuc_model_free(model);
  return 0;
}
