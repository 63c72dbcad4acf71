/* live_yaml.c - what sim/base/yaml.c asks of libyaml, where that is not: events as live_pack.h writes them.
 *
 * An event is a line: '(', ')' of a map, '[', ']' of a list or '"' (quoted) or '\'' (plain), the step from the last one's line, column,
 * and of a scalar its bytes' number and, behind a blank, its bytes. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

int yaml_parser_initialize(yaml_parser_t *p)
{
	memset(p, 0, sizeof *p);
	return 1;
}

void yaml_parser_set_encoding(yaml_parser_t *p, yaml_encoding_t e)
{
	p->encoding = e;
}

void yaml_parser_set_input_string(yaml_parser_t *p, const unsigned char *s, size_t n)
{
	p->input.string.start = p->input.string.current = s;
	p->input.string.end = s + n;
}

void yaml_parser_delete(yaml_parser_t *p)
{
	memset(p, 0, sizeof *p);
}

void yaml_event_delete(yaml_event_t *ev)
{
	if (ev->type == YAML_SCALAR_EVENT)
		free(ev->data.scalar.value);
	memset(ev, 0, sizeof *ev);
}

static int bad(yaml_parser_t *p)
{
	p->error = YAML_PARSER_ERROR;
	p->problem = "this is no packed file";
	return 0;
}

static size_t number(yaml_parser_t *p)
{
	size_t v = 0;

	while (p->input.string.current < p->input.string.end && *p->input.string.current >= '0' &&
	       *p->input.string.current <= '9')
		v = 10 * v + (size_t)(*p->input.string.current++ - '0');
	if (p->input.string.current < p->input.string.end)
		p->input.string.current++;
	return v;
}

static int scalar(yaml_parser_t *p, yaml_event_t *ev, int quoted)
{
	const size_t n = number(p);

	if (n > (size_t)(p->input.string.end - p->input.string.current) || !(ev->data.scalar.value = malloc(n + 1)))
		return bad(p);
	memcpy(ev->data.scalar.value, p->input.string.current, n);
	ev->data.scalar.value[n] = '\0';
	ev->data.scalar.length = n;
	ev->data.scalar.style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
	p->input.string.current += n;
	if (p->input.string.current < p->input.string.end)
		p->input.string.current++;
	return 1;
}

int yaml_parser_parse(yaml_parser_t *p, yaml_event_t *ev)
{
	static const struct {
		char c;
		yaml_event_type_t type;
	} kinds[] = { { '(', YAML_MAPPING_START_EVENT },  { ')', YAML_MAPPING_END_EVENT },
		      { '[', YAML_SEQUENCE_START_EVENT }, { ']', YAML_SEQUENCE_END_EVENT },
		      { '"', YAML_SCALAR_EVENT },         { '\'', YAML_SCALAR_EVENT } };
	size_t k = 0;
	int back;
	char c;

	memset(ev, 0, sizeof *ev);
	if (p->input.string.current == p->input.string.end) {
		ev->type = YAML_STREAM_END_EVENT;
		return 1;
	}
	c = (char)*p->input.string.current++;
	while (k < sizeof kinds / sizeof *kinds && kinds[k].c != c)
		k++;
	if (k == sizeof kinds / sizeof *kinds)
		return bad(p);
	back = p->input.string.current < p->input.string.end && *p->input.string.current == '-';
	p->input.string.current += back;
	p->mark.line += back ? -number(p) : number(p);
	ev->start_mark.line = p->mark.line - 1;
	ev->start_mark.column = number(p) - 1;
	ev->type = kinds[k].type;
	return ev->type == YAML_SCALAR_EVENT ? scalar(p, ev, c == '"') : 1;
}
