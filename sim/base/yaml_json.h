/* yaml_json.h - JSON by its own library, as the events that libyaml makes of it: YAML takes most of JSON, but no pairs of
 * surrogates ("\\ud83d\\ude00") and no key of more than 1024 characters. For sim/base/yaml.c only. */
#ifndef NPUSIM_SIM_BASE_YAML_JSON_H
#define NPUSIM_SIM_BASE_YAML_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

/* What is not an object or a list, and has any fault, is none. */
bool yaml_json_is(const char *text, size_t n);
/* Of what is: each event, whose texts live as long as the call. -1: `fn` said so, or there is no memory, which *nomem says. */
int yaml_json_events(const char *text, size_t n, int (*fn)(void *ctx, const yaml_event_t *ev), void *ctx, bool *nomem);

#endif
