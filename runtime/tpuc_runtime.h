/*===- tpuc_runtime.h - Runs model files, from C -------------------*- C -*-===*\
|*                                                                            *|
|* Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * Loads a model file and runs its nets on a simulated device.
 *
 *   tpuc_error error;
 *   tpuc_model *model;
 *   tpuc_session *session;
 *   if (tpuc_model_load("net.file", &model, &error) ||
 *       tpuc_session_create(model, 0, 0, 0, &session, &error) ||
 *       tpuc_session_set_input_f32(session, 0, pixels, num_pixels, &error) ||
 *       tpuc_session_run(session, &error) ||
 *       tpuc_session_get_output_f32(session, 0, scores, num_scores, &error))
 *     puts(error.message);
 *
 * - Every function that can fail returns a tpuc_status and, unless `error` is null, says more
 * there. What it should have made is null or untouched then. Nothing is thrown.
 * - A model can be used by several threads at once, and for several sessions. A session has
 * memories of its own and serves one thread at a time; different sessions are independent.
 * - Sessions keep their model alive: the order of the free functions does not matter. Pointers in a
 *   tpuc_tensor_info live as long as the model or one of its sessions.
 * - The file is mapped: weights are not copied, and it must not be shortened while it is in use.
 */

#ifndef RUNTIME_TPUC_RUNTIME_H
#define RUNTIME_TPUC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TPUC_RUNTIME_BUILD)
#define TPUC_API __attribute__((visibility("default")))
#else
#define TPUC_API
#endif

/* NOLINTBEGIN(readability-identifier-naming): names as C has them. */

typedef enum tpuc_status {
  TPUC_OK = 0,
  /* A null pointer, an index that does not exist, a size that does not fit. */
  TPUC_BAD_ARGUMENT = 1,
  /* The file cannot be read, or is damaged. */
  TPUC_BAD_FILE = 2,
  /* The file is in order, but holds something that this runtime cannot run. */
  TPUC_UNSUPPORTED = 3,
  TPUC_OUT_OF_MEMORY = 4,
  /* The net cannot run: an input was not set, an index in the data is out of range. */
  TPUC_RUN_FAILED = 5,
  /* A mistake in the runtime itself. */
  TPUC_INTERNAL = 6
} tpuc_status;

typedef struct tpuc_error {
  tpuc_status status;
  /* One line: where, what was found, what was expected. Ends in a zero, cut off if need be. */
  char message[1020];
} tpuc_error;

/* Element types. I4 and U4 hold two elements per byte, the first in the low half; BOOL has a byte
 * for each, 0 or 1. The types from 256 on are those of networks with layers that the host
 * computes. */
typedef enum tpuc_type {
  TPUC_F32 = 0,
  TPUC_F16 = 1,
  TPUC_I8 = 2,
  TPUC_U8 = 3,
  TPUC_I16 = 4,
  TPUC_U16 = 5,
  TPUC_I32 = 6,
  TPUC_U32 = 7,
  TPUC_BF16 = 8,
  TPUC_I4 = 9,
  TPUC_U4 = 10,
  TPUC_F64 = 256,
  TPUC_F8E4M3FN = 260,
  TPUC_F8E5M2 = 261,
  TPUC_F8E4M3FNUZ = 262,
  TPUC_F8E5M2FNUZ = 263,
  TPUC_I64 = 272,
  TPUC_U64 = 273,
  TPUC_BOOL = 274
} tpuc_type;

typedef struct tpuc_model tpuc_model;
typedef struct tpuc_session tpuc_session;

typedef struct tpuc_tensor_info {
  const char *name;
  tpuc_type type;
  size_t rank;
  const uint64_t *shape;
  /* Of the elements, and what they take in the stored type. */
  size_t num_elements;
  size_t num_bytes;
  /* Inputs: stored = round(real * scale) + zero_point; outputs: real = (stored - zero_point) *
   * scale. For 4- and 8-bit integers; else 1 and 0. */
  float scale;
  int32_t zero_point;
} tpuc_tensor_info;

/* The order of the bytes of a picture; the planes and their rows, for H rows of W pixels. */
typedef enum tpuc_picture_format {
  TPUC_RGB_PLANAR = 0,    /* R, G, B: H rows of W bytes each */
  TPUC_RGB_PACKED = 1,    /* one plane: H rows of 3 * W bytes */
  TPUC_BGR_PLANAR = 2,    /* B, G, R */
  TPUC_BGR_PACKED = 3,    /* one plane */
  TPUC_GRAYSCALE = 4,     /* one plane: H rows of W bytes */
  TPUC_YUV420_PLANAR = 5, /* Y: H rows of W bytes; U, V: H / 2 rows of W / 2 bytes */
  TPUC_YUV_NV12 = 6,      /* Y; U and V in turns: H / 2 rows of W bytes */
  TPUC_YUV_NV21 = 7,      /* Y; V and U in turns */
  TPUC_RGBA_PLANAR = 8    /* R, G, B, A */
} tpuc_picture_format;

/* What an input takes whose network prepares pictures itself (model_deploy --fuse_preprocess). */
typedef struct tpuc_picture_info {
  tpuc_picture_format format;
  size_t height, width; /* in pixels */
  size_t num_planes;
  /* Of YUV: 1, Y is from 16 to 235; 0, Y is from 0 to 255. */
  int is_video_range;
  /* How calibration brought other pictures to these extents: 0 stretched; 1 scaled alike, with
   * pad_value around them; 2 the same, with the picture at the top left; 3 scaled alike until they
   * fill the frame, and cut around the centre. */
  int fit;
  unsigned char pad_value;
} tpuc_picture_info;

/* A picture in buffers of the caller: of each plane the first byte, and the bytes from one row to
 * the next. Each plane must have all its rows. */
typedef struct tpuc_picture {
  tpuc_picture_format format;
  size_t height, width;
  const void *planes[4];
  size_t strides[4];
} tpuc_picture;

/* "0.1.0". */
TPUC_API const char *tpuc_version(void);

TPUC_API tpuc_status tpuc_model_load(const char *path, tpuc_model **model, tpuc_error *error);
/* Null is allowed. */
TPUC_API void tpuc_model_free(tpuc_model *model);

/* The chip that the file was made for, by the name that the file has for it. */
TPUC_API const char *tpuc_model_chip(const tpuc_model *model);
TPUC_API size_t tpuc_model_num_nets(const tpuc_model *model);
/* Null if there is no such net. */
TPUC_API const char *tpuc_model_net_name(const tpuc_model *model, size_t net);
/* A stage is the net for one set of input shapes. The numbers are 0 if there is no such net. */
TPUC_API size_t tpuc_model_num_stages(const tpuc_model *model, size_t net);
TPUC_API size_t tpuc_model_num_inputs(const tpuc_model *model, size_t net, size_t stage);
TPUC_API size_t tpuc_model_num_outputs(const tpuc_model *model, size_t net, size_t stage);
TPUC_API tpuc_status tpuc_model_input(const tpuc_model *model, size_t net, size_t stage,
                                      size_t index, tpuc_tensor_info *info, tpuc_error *error);
TPUC_API tpuc_status tpuc_model_output(const tpuc_model *model, size_t net, size_t stage,
                                       size_t index, tpuc_tensor_info *info, tpuc_error *error);

/* What pictures an input takes. TPUC_BAD_ARGUMENT where it takes none. */
TPUC_API tpuc_status tpuc_model_input_picture(const tpuc_model *model, size_t net, size_t stage,
                                              size_t index, tpuc_picture_info *info,
                                              tpuc_error *error);

/* What the chip's timing model says about one run of a stage; nothing is run for it. */
typedef struct tpuc_time_estimate {
  /* With the parameters of the chip vendor's own model, and with parameters that charge what that
   * one leaves out. Neither is a measurement. */
  double seconds;
  double conservative_seconds;
  /* The rest is said of the vendor's parameters. Shares of the time in which the computing and the
   * transferring engine are busy, and in which all multipliers together would have done all
   * products: 0 to 1. */
  double compute_busy;
  double transfer_busy;
  double mac_utilisation;
  /* From and to global memory. */
  uint64_t bytes_read;
  uint64_t bytes_written;
} tpuc_time_estimate;
TPUC_API tpuc_status tpuc_model_estimate_time(const tpuc_model *model, size_t net, size_t stage,
                                              tpuc_time_estimate *estimate, tpuc_error *error);

/* num_threads 0: all cores. The first session of a stage checks and decodes its commands. */
TPUC_API tpuc_status tpuc_session_create(const tpuc_model *model, size_t net, size_t stage,
                                         unsigned num_threads, tpuc_session **session,
                                         tpuc_error *error);
/* Null is allowed. */
TPUC_API void tpuc_session_free(tpuc_session *session);

/* Inputs are copied, and stay for later runs. `num_bytes` is that of the tensor_info. */
TPUC_API tpuc_status tpuc_session_set_input(tpuc_session *session, size_t index, const void *data,
                                            size_t num_bytes, tpuc_error *error);
/* The same from rows that lie `stride` bytes apart, as pictures do in the buffers of cameras and
 * decoders: all bytes of the input in rows of `row_bytes`. `size` counts the bytes of the buffer;
 * the last row may end with it. Rows of planar pictures and of NV12 and NV21 have a byte for each
 * pixel, those of packed ones three. */
TPUC_API tpuc_status tpuc_session_set_input_rows(tpuc_session *session, size_t index,
                                                 const void *data, size_t size, size_t row_bytes,
                                                 size_t stride, tpuc_error *error);
/* The same from pictures, one for each item of the batch, for an input of which
 * tpuc_model_input_picture tells what it takes. Other formats and extents are refused. */
TPUC_API tpuc_status tpuc_session_set_input_pictures(tpuc_session *session, size_t index,
                                                     const tpuc_picture *pictures,
                                                     size_t num_pictures, tpuc_error *error);
/* The same for real values, which are converted to the stored type. */
TPUC_API tpuc_status tpuc_session_set_input_f32(tpuc_session *session, size_t index,
                                                const float *values, size_t num_elements,
                                                tpuc_error *error);
TPUC_API tpuc_status tpuc_session_run(tpuc_session *session, tpuc_error *error);
/* What the last run gave. Outputs whose shape only the data show have 0 for some extents in what
 * tpuc_model_output tells, and the real ones here; the pointers live until the next run. */
TPUC_API tpuc_status tpuc_session_output(tpuc_session *session, size_t index,
                                         tpuc_tensor_info *info, tpuc_error *error);
/* After a run. `num_bytes` is that of the tensor_info. */
TPUC_API tpuc_status tpuc_session_get_output(const tpuc_session *session, size_t index, void *data,
                                             size_t num_bytes, tpuc_error *error);
/* The same as real values. */
TPUC_API tpuc_status tpuc_session_get_output_f32(const tpuc_session *session, size_t index,
                                                 float *values, size_t num_elements,
                                                 tpuc_error *error);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
