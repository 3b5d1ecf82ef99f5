/*===- CApiTest.c - The runtime from C -----------------------------*- C -*-===*\
|*                                                                            *|
|* Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* usage: CApiTest ADD.bmodel PICTURES.bmodel: the net of AddModel.h, in files. */

#include "runtime/tpuc_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "line %d: %s; %s\n", __LINE__, #condition, error.message);                   \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

int main(int argc, char **argv) {
  tpuc_error error = {TPUC_OK, ""};
  tpuc_model *model = NULL;
  tpuc_session *session = NULL;
  tpuc_session *other = NULL;
  tpuc_tensor_info info;
  tpuc_time_estimate time;
  float x[60];
  float y[60];
  float rows[11 * 8 + 5];
  tpuc_picture_info taken;
  tpuc_picture picture;
  size_t i;
  CHECK(argc == 3);

  CHECK(strcmp(tpuc_version(), "") != 0);
  CHECK(tpuc_model_load("/nonexistent", &model, &error) == TPUC_BAD_FILE);
  CHECK(model == NULL && error.status == TPUC_BAD_FILE && strstr(error.message, "/nonexistent"));
  CHECK(tpuc_model_load(NULL, &model, NULL) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_model_load(argv[1], &model, &error) == TPUC_OK);

  CHECK(strcmp(tpuc_model_chip(model), "BM1684X") == 0);
  CHECK(tpuc_model_num_nets(model) == 1);
  CHECK(strcmp(tpuc_model_net_name(model, 0), "add") == 0);
  CHECK(tpuc_model_net_name(model, 1) == NULL);
  CHECK(tpuc_model_num_stages(model, 0) == 1 && tpuc_model_num_stages(model, 1) == 0);
  CHECK(tpuc_model_num_inputs(model, 0, 0) == 1 && tpuc_model_num_outputs(model, 0, 0) == 1);
  CHECK(tpuc_model_input(model, 0, 0, 0, &info, &error) == TPUC_OK);
  CHECK(strcmp(info.name, "x") == 0 && info.type == TPUC_F32 && info.rank == 4);
  CHECK(info.shape[1] == 3 && info.num_elements == 60 && info.num_bytes == 240);
  CHECK(tpuc_model_output(model, 0, 0, 0, &info, &error) == TPUC_OK);
  CHECK(strcmp(info.name, "y") == 0 && info.scale == 1.0f && info.zero_point == 0);
  CHECK(tpuc_model_output(model, 0, 1, 0, &info, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_model_output(model, 0, 0, 1, &info, &error) == TPUC_BAD_ARGUMENT);

  CHECK(tpuc_model_estimate_time(model, 0, 0, &time, &error) == TPUC_OK);
  CHECK(time.seconds > 0 && time.conservative_seconds > time.seconds);
  CHECK(time.transfer_busy > 0 && time.transfer_busy < 1 && time.bytes_read == 480);
  CHECK(tpuc_model_estimate_time(model, 0, 1, &time, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_model_estimate_time(model, 0, 0, NULL, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_model_estimate_time(NULL, 0, 0, &time, NULL) == TPUC_BAD_ARGUMENT);

  CHECK(tpuc_session_create(model, 0, 1, 1, &session, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_create(model, 0, 0, 1, &session, &error) == TPUC_OK);
  CHECK(tpuc_session_create(model, 0, 0, 1, &other, &error) == TPUC_OK);
  /* Sessions keep what they need. */
  tpuc_model_free(model);

  for (i = 0; i < 60; ++i)
    x[i] = (float)i;
  CHECK(tpuc_session_run(session, &error) == TPUC_RUN_FAILED);
  CHECK(tpuc_session_set_input(session, 1, x, sizeof x, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input(session, 0, x, 1, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input(session, 0, NULL, sizeof x, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input(session, 0, x, sizeof x, &error) == TPUC_OK);
  CHECK(tpuc_session_get_output(session, 0, y, sizeof y, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_run(session, &error) == TPUC_OK);
  CHECK(tpuc_session_output(session, 1, &info, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_output(session, 0, NULL, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_output(other, 0, &info, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_output(session, 0, &info, &error) == TPUC_OK);
  CHECK(strcmp(info.name, "y") == 0 && info.rank == 4 && info.shape[3] == 5);
  CHECK(info.num_bytes == sizeof y);
  CHECK(tpuc_session_get_output(session, 0, y, 239, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_get_output(session, 0, y, sizeof y, &error) == TPUC_OK);
  for (i = 0; i < 60; ++i)
    CHECK(y[i] == x[i] + 1.5f);

  /* Rows of five numbers, eight apart; what lies between them is not read. */
  memset(rows, 0xff, sizeof rows);
  for (i = 0; i < 60; ++i)
    rows[i / 5 * 8 + i % 5] = 2 * x[i];
  CHECK(tpuc_session_set_input_rows(session, 0, rows, sizeof rows, 0, 32, &error) ==
        TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_rows(session, 0, rows, sizeof rows, 32, 32, &error) ==
        TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_rows(session, 0, rows, sizeof rows, 20, 19, &error) ==
        TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_rows(session, 0, rows, sizeof rows - 1, 20, 32, &error) ==
        TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_rows(session, 1, rows, sizeof rows, 20, 32, &error) ==
        TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_rows(session, 0, rows, sizeof rows, 20, 32, &error) == TPUC_OK);
  CHECK(tpuc_session_run(session, &error) == TPUC_OK);
  CHECK(tpuc_session_get_output(session, 0, y, sizeof y, &error) == TPUC_OK);
  for (i = 0; i < 60; ++i)
    CHECK(y[i] == 2 * x[i] + 1.5f);

  /* An input that takes no pictures, and one that does. */
  CHECK(tpuc_model_load(argv[1], &model, &error) == TPUC_OK);
  CHECK(tpuc_model_input_picture(model, 0, 0, 0, &taken, &error) == TPUC_BAD_ARGUMENT);
  CHECK(strstr(error.message, "input 'x' takes no pictures"));
  tpuc_model_free(model);
  memset(&picture, 0, sizeof picture);
  CHECK(tpuc_session_set_input_pictures(session, 0, &picture, 1, &error) == TPUC_BAD_ARGUMENT);
  CHECK(strstr(error.message, "takes no pictures"));
  tpuc_session_free(session);
  CHECK(tpuc_model_load(argv[2], &model, &error) == TPUC_OK);
  CHECK(tpuc_model_input_picture(model, 0, 0, 1, &taken, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_model_input_picture(model, 0, 0, 0, NULL, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_model_input_picture(model, 0, 0, 0, &taken, &error) == TPUC_OK);
  CHECK(taken.format == TPUC_GRAYSCALE && taken.height == 12 && taken.width == 20);
  CHECK(taken.num_planes == 1 && taken.fit == 0 && taken.pad_value == 7);
  CHECK(tpuc_session_create(model, 0, 0, 1, &session, &error) == TPUC_OK);
  tpuc_model_free(model);
  picture.format = TPUC_GRAYSCALE;
  picture.height = 12;
  picture.width = 20;
  picture.planes[0] = rows;
  picture.strides[0] = 32;
  CHECK(tpuc_session_set_input_pictures(session, 1, &picture, 1, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_pictures(session, 0, NULL, 1, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_pictures(session, 0, &picture, 2, &error) == TPUC_BAD_ARGUMENT);
  CHECK(strstr(error.message, "2 pictures; expected 1"));
  CHECK(tpuc_session_set_input_pictures(session, 0, &picture, 1, &error) == TPUC_OK);
  CHECK(tpuc_session_run(session, &error) == TPUC_OK);
  CHECK(tpuc_session_get_output(session, 0, y, sizeof y, &error) == TPUC_OK);
  for (i = 0; i < 60; ++i)
    CHECK(y[i] == 2 * x[i] + 1.5f);
  picture.width = 19;
  CHECK(tpuc_session_set_input_pictures(session, 0, &picture, 1, &error) == TPUC_BAD_ARGUMENT);
  CHECK(strstr(error.message, "12 rows of 19 pixels; expected GRAYSCALE pictures, 12 rows of 20"));
  picture.width = 20;
  picture.format = (tpuc_picture_format)9;
  CHECK(tpuc_session_set_input_pictures(session, 0, &picture, 1, &error) == TPUC_BAD_ARGUMENT);

  CHECK(tpuc_session_set_input_f32(other, 0, y, 59, &error) == TPUC_BAD_ARGUMENT);
  CHECK(tpuc_session_set_input_f32(other, 0, y, 60, &error) == TPUC_OK);
  CHECK(tpuc_session_run(other, NULL) == TPUC_OK);
  CHECK(tpuc_session_get_output_f32(other, 0, x, 60, NULL) == TPUC_OK);
  CHECK(x[59] == 2 * 59 + 3.0f);
  tpuc_session_free(session);
  tpuc_session_free(other);
  tpuc_session_free(NULL);
  tpuc_model_free(NULL);
  return 0;
}
