/* arrive.c - tables of requests. */
#include "sim/serve/arrive_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/text/csv.h"
#include "traces/text/decimal.h"

#define ABSENT (-1)

enum column { AT_S, AT_MS, AT_DATE, PROMPT, OUTPUT, ID, TTFT, TOTAL, PRIORITY, GIVES_UP, HASH_IDS, SKIPPED, COLUMNS };

/* Names of a column; those of one column are alike in meaning. */
static const struct {
	const char *name;
	enum column column;
} names[] = {
	{ "arrival_s", AT_S },         { "arrival_ms", AT_MS },
	{ "TIMESTAMP", AT_DATE },      { "prompt", PROMPT },
	{ "output", OUTPUT },          { "ContextTokens", PROMPT },
	{ "GeneratedTokens", OUTPUT }, { "id", ID },
	{ "measured_ttft_ms", TTFT },  { "measured_total_ms", TOTAL },
	{ "priority", PRIORITY },      { "gives_up_ms", GIVES_UP },
	{ "Timestamp", AT_S },         { "Request tokens", PROMPT },
	{ "Response tokens", OUTPUT }, { "Model", SKIPPED },
	{ "Total tokens", SKIPPED },   { "Log Type", SKIPPED },
	{ "Session ID", SKIPPED },     { "Elapsed time", SKIPPED },
	{ "hash_ids", HASH_IDS },
};
#define NAMES (sizeof names / sizeof *names)

struct table {
	struct csv *csv;
	const char *file;
	int at[COLUMNS]; /* which field; ABSENT */
	size_t columns;
	struct arrive_list list;
};

static int arrive_fail(const struct table *t, size_t field, struct err *e)
{
	return err_at(e, t->file, (int)csv_line(t->csv), csv_column(t->csv, field));
}

static const char *trimmed(const char *s, char *buf, size_t size)
{
	size_t n;

	while (*s == ' ' || *s == '\t')
		s++;
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(buf, s, n);
	buf[n] = 0;
	return buf;
}

/* --- the header ------------------------------------------------------------------------------------------------------- */

static int arrive_unknown(const struct table *t, size_t field, const char *name, struct err *e)
{
	const char *all[NAMES], *near;

	for (size_t i = 0; i < NAMES; i++)
		all[i] = names[i].name;
	near = str_nearest(name, all, NAMES);
	err_set(e, ERR_IO,
	        "unknown column '%.60s'%s%s%s: a list of requests has arrival_s or arrival_ms, prompt, output and id",
	        name, near ? ", for '" : "", near ? near : "", near ? "' perhaps" : "");
	return arrive_fail(t, field, e);
}

static int column(struct table *t, size_t field, struct err *e)
{
	char name[64];

	trimmed(csv_field(t->csv, field), name, sizeof name);
	for (size_t i = 0; i < NAMES; i++) {
		int *at = &t->at[names[i].column];

		if (strcmp(name, names[i].name) != 0)
			continue;
		if (names[i].column == SKIPPED)
			return 0;
		if (*at != ABSENT) {
			err_set(e, ERR_IO, "column '%s' is there twice", name);
			return arrive_fail(t, field, e);
		}
		*at = (int)field;
		return 0;
	}
	return arrive_unknown(t, field, name, e);
}

static int arrive_header(struct table *t, struct err *e)
{
	const int row = csv_row(t->csv, e);
	int times = 0;

	if (row < 0)
		return -1;
	if (row == 0) {
		err_set(e, ERR_IO, "a list of requests is empty: its header is 'arrival_s,prompt,output'");
		return err_at(e, t->file, 1, 1);
	}
	t->columns = csv_count(t->csv);
	for (size_t i = 0; i < t->columns; i++)
		if (column(t, i, e) < 0)
			return -1;
	for (int c = AT_S; c <= AT_DATE; c++)
		times += t->at[c] != ABSENT;
	if (t->at[PROMPT] == ABSENT || t->at[OUTPUT] == ABSENT)
		err_set(e, ERR_IO,
		        "column '%s' is missing: the header of a list of requests is 'arrival_s,prompt,output'",
		        t->at[PROMPT] == ABSENT ? "prompt" : "output");
	else if (times > 1)
		err_set(e, ERR_IO, "two columns say when a request arrives: give arrival_s or arrival_ms");
	else if ((t->at[TTFT] == ABSENT) != (t->at[TOTAL] == ABSENT))
		err_set(e, ERR_IO, "measured_ttft_ms and measured_total_ms go together: one of them is missing");
	t->list.out->measured = t->at[TTFT] != ABSENT;
	t->list.out->priorities = t->at[PRIORITY] != ABSENT;
	t->list.out->give_up = t->at[GIVES_UP] != ABSENT;
	return e->kind ? arrive_fail(t, 0, e) : 0;
}

/* --- cells ------------------------------------------------------------------------------------------------------------- */

static int tokens(const struct table *t, enum column c, const char *what, uint32_t *out, struct err *e)
{
	const size_t field = (size_t)t->at[c];
	char text[64];
	int64_t v;
	int rc;

	trimmed(csv_field(t->csv, field), text, sizeof text);
	rc = decimal_scaled(text, strlen(text), 0, &v);
	if (rc == 0 && v >= 1 && v <= ARRIVE_TOKENS && strspn(text, "0123456789") == strlen(text)) {
		*out = (uint32_t)v;
		return 0;
	}
	err_set(e, ERR_IO, "%s of '%.40s' tokens: it is a whole number from 1 to %u", what, text, ARRIVE_TOKENS);
	return arrive_fail(t, field, e);
}

/* "1234": n digits. */
static bool digits(const char **s, int n, int64_t *out)
{
	*out = 0;
	for (int i = 0; i < n; i++, (*s)++) {
		if (**s < '0' || **s > '9')
			return false;
		*out = *out * 10 + (**s - '0');
	}
	return true;
}

static bool mark(const char **s, const char *of)
{
	if (!**s || !strchr(of, **s))
		return false;
	(*s)++;
	return true;
}

/* Days since 1970-03-01 minus a constant: only differences count. H. Hinnant, chrono-compatible low-level date algorithms. */
static int64_t days(int64_t y, int64_t m, int64_t d)
{
	const int64_t year = m > 2 ? y : y - 1, month = m > 2 ? m - 3 : m + 9;

	return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + d;
}

/* "2023-11-16 18:15:46.6805900", to ps of a day and days; a T in place of the space, a Z behind. */
static bool date(const char *s, int64_t *day, int64_t *ps)
{
	int64_t y, mo, d, h, mi, sec, part = 0, unit = INT64_C(1000000000000);

	if (!digits(&s, 4, &y) || !mark(&s, "-") || !digits(&s, 2, &mo) || !mark(&s, "-") || !digits(&s, 2, &d) ||
	    !mark(&s, " T") || !digits(&s, 2, &h) || !mark(&s, ":") || !digits(&s, 2, &mi) || !mark(&s, ":") ||
	    !digits(&s, 2, &sec) || mo < 1 || mo > 12 || d < 1 || d > 31 || h > 23 || mi > 59 || sec > 60)
		return false;
	if (mark(&s, "."))
		for (; *s >= '0' && *s <= '9'; s++)
			part += (*s - '0') * (unit /= 10);
	mark(&s, "Z");
	*day = days(y, mo, d);
	*ps = (h * 3600 + mi * 60 + sec) * INT64_C(1000000000000) + part;
	return *s == 0;
}

/* Read as they are; what a list's times count from is known at its end. */
struct moment {
	int64_t day, ps;
};

static int moment(const struct table *t, struct moment *out, struct err *e)
{
	const enum column c = t->at[AT_S] != ABSENT ? AT_S : t->at[AT_MS] != ABSENT ? AT_MS : AT_DATE;
	const size_t field = (size_t)t->at[c];
	char text[64];
	bool good;

	*out = (struct moment){ 0, 0 };
	if (t->at[c] == ABSENT)
		return 0;
	trimmed(csv_field(t->csv, field), text, sizeof text);
	good = c == AT_DATE ? date(text, &out->day, &out->ps)
	                    : decimal_scaled(text, strlen(text), c == AT_S ? 12 : 9, &out->ps) == 0 && out->ps >= 0;
	if (good && (uint64_t)out->ps <= ARRIVE_LATEST)
		return 0;
	err_set(e, ERR_IO,
	        c == AT_DATE ? "'%.40s' is no date and time like 2023-11-16 18:15:46.68"
	                     : "an arrival at '%.40s': it is a number from 0 to 30 days",
	        text);
	return arrive_fail(t, field, e);
}

/* `what`: measured; `empty`: where nothing stands there is none. */
static int span(const struct table *t, enum column c, const char *what, bool empty, ps_t *out, struct err *e)
{
	char text[64];
	int64_t v;

	*out = 0;
	if (t->at[c] == ABSENT)
		return 0;
	trimmed(csv_field(t->csv, (size_t)t->at[c]), text, sizeof text);
	if (empty && !*text)
		return 0;
	if (decimal_scaled(text, strlen(text), 9, &v) == 0 && v > 0 && (uint64_t)v <= ARRIVE_LATEST) {
		*out = (ps_t)v;
		return 0;
	}
	err_set(e, ERR_IO, "%s of '%.40s' ms: it is a number above 0, up to 30 days", what, text);
	return arrive_fail(t, (size_t)t->at[c], e);
}

static int priority(const struct table *t, uint32_t *out, struct err *e)
{
	char text[64];
	int64_t v;

	*out = 0;
	if (t->at[PRIORITY] == ABSENT)
		return 0;
	trimmed(csv_field(t->csv, (size_t)t->at[PRIORITY]), text, sizeof text);
	if (decimal_scaled(text, strlen(text), 0, &v) == 0 && v >= 0 && v <= UINT32_MAX &&
	    strspn(text, "0123456789") == strlen(text)) {
		*out = (uint32_t)v;
		return 0;
	}
	err_set(e, ERR_IO, "a priority of '%.40s': it is a whole number from 0 on, and less is served first", text);
	return arrive_fail(t, (size_t)t->at[PRIORITY], e);
}

static int keep_id(struct table *t, struct arrival *a, struct err *e)
{
	const char *id = csv_field(t->csv, (size_t)t->at[ID]);
	struct str *all = &t->list.out->ids;

	if (all->len > UINT32_MAX - CSV_ROW_MAX) {
		err_set(e, ERR_IO, "the ids of a list of requests have 4 GiB at the most");
		return arrive_fail(t, (size_t)t->at[ID], e);
	}
	if (!all->len)
		str_addc(all, 0);
	a->id = *id ? (uint32_t)all->len : 0;
	if (*id)
		str_addn(all, id, strlen(id) + 1);
	return all->failed ? err_nomem(e, "for a list of requests") : 0;
}

static int hash_ids(struct table *t, struct err *e)
{
	const char *s = t->at[HASH_IDS] == ABSENT ? "" : csv_field(t->csv, (size_t)t->at[HASH_IDS]);
	int rc = 0;

	for (s += strspn(s, " "); *s && rc == 0; s += strspn(s, " ")) {
		const size_t n = strspn(s, "0123456789");
		int64_t v;

		if (!n || (s[n] && s[n] != ' ') || decimal_scaled(s, n, 0, &v) < 0)
			rc = err_set(e, ERR_IO, "'%.40s' is no whole number, as hash_ids are, a blank between two", s);
		else
			rc = arrive_list_page(&t->list, (uint64_t)v, e);
		s += n;
	}
	if (rc == 0)
		rc = arrive_list_paged(&t->list, e);
	return rc < 0 ? arrive_fail(t, (size_t)t->at[HASH_IDS], e) : 0;
}

/* `day`: of the first row. */
static int arrive_row(struct table *t, int64_t *day, struct err *e)
{
	const size_t cells = csv_count(t->csv);
	struct arrival *a;
	struct moment m;

	if (cells > t->columns) {
		err_set(e, ERR_IO, "a row of %zu cells under %zu columns", cells, t->columns);
		return arrive_fail(t, t->columns, e);
	}
	if (moment(t, &m, e) < 0)
		return -1;
	if (!(a = arrive_list_add(&t->list, e)))
		return arrive_fail(t, 0, e);
	if (tokens(t, PROMPT, "a prompt", &a->prompt, e) < 0 || tokens(t, OUTPUT, "an output", &a->output, e) < 0 ||
	    span(t, TTFT, "a measured time", false, &a->ttft, e) < 0 ||
	    span(t, TOTAL, "a measured time", false, &a->total, e) < 0 ||
	    span(t, GIVES_UP, "a client's patience", true, &a->gives_up, e) < 0 || priority(t, &a->priority, e) < 0)
		return -1;
	if (a->total < a->ttft) {
		err_set(e, ERR_IO, "the last token came before the first: measured_total_ms is below measured_ttft_ms");
		return arrive_fail(t, (size_t)t->at[TOTAL], e);
	}
	if (t->list.out->n == 1)
		*day = m.day;
	if (m.day < *day || m.day - *day > 30) {
		err_set(e, ERR_IO,
		        "it arrives %s: requests of one list are within 30 days, on or after the first one's",
		        m.day < *day ? "on a day before the first one" : "more than 30 days later");
		return arrive_fail(t, 0, e);
	}
	a->at = (uint64_t)m.ps + (uint64_t)(m.day - *day) * 86400 * 1000 * PS_MS;
	a->line = (uint32_t)csv_line(t->csv);
	if (hash_ids(t, e) < 0)
		return -1;
	return t->at[ID] == ABSENT ? 0 : keep_id(t, a, e);
}

static bool blank(const struct csv *c)
{
	return csv_count(c) == 1 && !*csv_field(c, 0);
}

static int arrive_rows(struct table *t, struct err *e)
{
	int64_t day = 0;
	int more;

	while ((more = csv_row(t->csv, e)) > 0) {
		if (blank(t->csv))
			continue;
		if (arrive_row(t, &day, e) < 0)
			return -1;
	}
	if (more < 0)
		return -1;
	if (!t->list.out->n) {
		err_set(e, ERR_IO, "a list of requests has no rows");
		return err_at(e, t->file, 1, 1);
	}
	return 0;
}

/* --- either ------------------------------------------------------------------------------------------------------------ */

/* The first byte that is no blank: a list is JSON where it opens an object. */
static int is_lines(struct input *in, struct err *e)
{
	char buf[4096];
	long n;
	int rc = 0;

	while ((n = input_read(in, buf, sizeof buf, e)) > 0) {
		long i = 0;

		while (i < n && strchr(" \t\r\n", buf[i]) && buf[i])
			i++;
		if (i < n) {
			rc = buf[i] == '{';
			break;
		}
	}
	input_rewind(in);
	return n < 0 ? -1 : rc;
}

static int arrive_read_table(struct input *in, struct arrivals *out, struct err *e)
{
	struct table t = { .csv = csv_new(in, e), .file = input_name(in), .list = { .out = out } };
	int rc = -1;

	*out = (struct arrivals)ARRIVALS_INIT;
	if (!t.csv)
		return -1;
	for (int i = 0; i < COLUMNS; i++)
		t.at[i] = ABSENT;
	if (arrive_header(&t, e) == 0 && arrive_rows(&t, e) == 0) {
		arrive_list_sort(&t.list);
		for (size_t i = out->n; i-- > 0;)
			out->v[i].at -= t.at[AT_DATE] != ABSENT ? out->v[0].at : 0;
		rc = t.at[HASH_IDS] == ABSENT ? 0 : arrive_pages(out, t.list.ids, t.list.n_ids, e);
	}
	free(t.list.ids);
	csv_free(t.csv);
	if (rc < 0)
		arrive_free(out);
	return rc;
}

int arrive_read(struct input *in, struct arrivals *out, struct err *e)
{
	const int lines = is_lines(in, e);

	*out = (struct arrivals)ARRIVALS_INIT;
	if (lines < 0)
		return -1;
	return (lines ? arrive_read_lines : arrive_read_table)(in, out, e);
}

static void put_id(const char *id, struct str *out)
{
	str_add(out, ",\"");
	for (; *id; id++)
		str_addf(out, *id == '"' ? "\"\"" : "%c", *id);
	str_addc(out, '"');
}

static void put_pages(const struct arrivals *a, const struct arrival *x, struct str *out)
{
	str_addc(out, ',');
	for (uint32_t k = 0; k < x->pages; k++)
		str_addf(out, k ? " %u" : "%u", a->pages[x->page + k]);
}

void arrive_write(const struct arrivals *a, struct str *out)
{
	const uint64_t second = UINT64_C(1000000000000);

	str_addf(out, "arrival_s,prompt,output%s%s%s%s%s\n", a->measured ? ",measured_ttft_ms,measured_total_ms" : "",
	         a->priorities ? ",priority" : "", a->give_up ? ",gives_up_ms" : "", a->pages ? ",hash_ids" : "",
	         a->ids.len ? ",id" : "");
	for (size_t i = 0; i < a->n; i++) {
		str_addf(out, "%" PRIu64 ".%012" PRIu64 ",%u,%u", a->v[i].at / second, a->v[i].at % second,
		         a->v[i].prompt, a->v[i].output);
		if (a->measured)
			str_addf(out, ",%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64, a->v[i].ttft / PS_MS,
			         a->v[i].ttft % PS_MS, a->v[i].total / PS_MS, a->v[i].total % PS_MS);
		if (a->priorities)
			str_addf(out, ",%u", a->v[i].priority);
		if (a->give_up)
			str_addc(out, ',');
		if (a->give_up && a->v[i].gives_up)
			str_addf(out, "%" PRIu64 ".%09" PRIu64, a->v[i].gives_up / PS_MS, a->v[i].gives_up % PS_MS);
		if (a->pages)
			put_pages(a, &a->v[i], out);
		if (a->ids.len)
			put_id(arrive_id(a, i), out);
		str_addc(out, '\n');
	}
}

const char *arrive_id(const struct arrivals *a, size_t i)
{
	return a->ids.len ? str_c(&a->ids) + a->v[i].id : "";
}

void arrive_free(struct arrivals *a)
{
	free(a->v);
	if (!a->pages_lent)
		free(a->pages);
	str_free(&a->ids);
	*a = (struct arrivals)ARRIVALS_INIT;
}
