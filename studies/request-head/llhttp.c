/* llhttp: one call for the whole input, which gives spans to functions. */
#include "tiebreak.h"
#include <llhttp.h>

typedef struct {
  tiebreak_workload workload;
  llhttp_settings_t settings;
  uint32_t *next; /* where the next number of the answer goes */
} task;

static int span(llhttp_t *parser, const char *at, size_t length) {
  task *state = parser->data;
  uint32_t from = (uint32_t)((const uint8_t *)at - state->workload.input);
  *state->next++ = from;
  *state->next++ = from + (uint32_t)length;
  return 0;
}

static void *prepare(const tiebreak_workload *workload) {
  task *state = calloc(1, sizeof *state);
  if (!state) return 0;
  state->workload = *workload;
  llhttp_settings_init(&state->settings);
  state->settings.on_method = span;
  state->settings.on_url = span;
  state->settings.on_header_field = span;
  state->settings.on_header_value = span;
  return state;
}

static uint64_t run(void *opaque) {
  task *state = opaque;
  const tiebreak_workload *workload = &state->workload;
  llhttp_t parser;
  state->next = (uint32_t *)workload->output;
  llhttp_init(&parser, HTTP_REQUEST, &state->settings);
  parser.data = state;
  if (llhttp_execute(&parser, (const char *)workload->input, workload->input_bytes) != HPE_OK)
    return 0;
  return (uint64_t)(state->next - (uint32_t *)workload->output);
}

static void dump(void *opaque, const tiebreak_sink *sink) {
  const tiebreak_workload *workload = &((task *)opaque)->workload;
  const uint32_t *place = (const uint32_t *)workload->output;
  for (uint64_t i = 0; i < workload->output_bytes / 4; i++) tiebreak_write_number(sink, place[i]);
}

TIEBREAK_CONTESTANT("llhttp", prepare, run, dump, free);
