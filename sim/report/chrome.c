#include "sim/report/chrome.h"

#include <inttypes.h>

void chrome_begin(struct chrome *c, struct outfile *o, const char *advice)
{
	*c = (struct chrome){ .o = o, .most = CHROME_MOST, .advice = advice };
	str_add(&o->text, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
}

void chrome_end(struct chrome *c)
{
	str_add(&c->o->text, "\n]}\n");
}

int chrome_flush(struct chrome *c, struct err *e)
{
	const size_t had = c->o->text.len;
	struct str most = STR_INIT;

	if (outfile_flush(c->o, e) < 0)
		return -1;
	c->bytes += had - c->o->text.len;
	if (c->bytes <= c->most)
		return 0;
	str_add_bytes(&most, c->most);
	err_set(e, ERR_IO, "the timeline grows beyond %s, which no viewer shows: %s", str_c(&most), c->advice);
	str_free(&most);
	return -1;
}

void chrome_open_event(struct chrome *c, struct out_json *j, const char *ph, const char *name, int64_t pid, int tid)
{
	str_add(&c->o->text, c->any ? ",\n" : "");
	c->any = true;
	out_json_init(j, &c->o->text);
	j->pretty = false;
	out_json_open(j, NULL, '{');
	out_json_text(j, "ph", ph);
	out_json_text(j, "name", name);
	out_json_int(j, "pid", pid);
	out_json_int(j, "tid", tid);
}

void chrome_close_event(struct out_json *j)
{
	out_json_close(j, '}');
}

void chrome_time(struct out_json *j, const char *key, int64_t ns)
{
	const uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	str_addf(j->to, ", \"%s\": %s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", v / 1000, (unsigned)(v % 1000));
}

void chrome_span(struct out_json *j, const char *cat, int64_t start_ns, int64_t dur_ns)
{
	out_json_text(j, "cat", cat);
	chrome_time(j, "ts", start_ns);
	chrome_time(j, "dur", dur_ns);
}

void chrome_name(struct chrome *c, const char *what, int64_t pid, int tid, const char *name)
{
	struct out_json j;

	chrome_open_event(c, &j, "M", what, pid, tid);
	out_json_open(&j, "args", '{');
	out_json_text(&j, "name", name);
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

void chrome_rank(struct chrome *c, const char *what, int64_t pid, int tid, int64_t rank)
{
	struct out_json j;

	chrome_open_event(c, &j, "M", what, pid, tid);
	out_json_open(&j, "args", '{');
	out_json_int(&j, "sort_index", rank);
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

void chrome_arrow(struct chrome *c, const char *ph, const char *name, int64_t id, int64_t pid, int tid, int64_t at_ns)
{
	struct out_json j;

	chrome_open_event(c, &j, ph, name, pid, tid);
	out_json_text(&j, "cat", name);
	out_json_int(&j, "id", id);
	chrome_time(&j, "ts", at_ns);
	if (*ph == 'f')
		out_json_text(&j, "bp", "e");
	chrome_close_event(&j);
}
