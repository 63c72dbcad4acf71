#include <string.h>

#include "sim/base/json.h"
#include "sim/report/page_int.h"
#include "sim/ui/out_html.h"

/* Where the parts of a page keep what each says first, in the order in which the page shows them; page.js shows the same. */
static const char *const firsts[] = { "compared.said", "sweeps[0].verdict", "designs[0].answer.explained",
	                              "serves[0].verdict", "runs[0].verdict" };

/* A line, or a sentence that has more beside it. */
static const char *line_of(const struct json *x)
{
	struct err none = ERR_INIT;

	if (x->kind == JSON_OBJECT)
		x = json_find(x, "text", &none);
	return x && x->kind == JSON_TEXT ? x->text : NULL;
}

static const struct json *first_of(const struct json *root)
{
	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
		struct err none = ERR_INIT;
		const struct json *x = json_find(root, firsts[i], &none);

		if (x && x->kind == JSON_LIST && x->n && line_of(x->v[0]))
			return x;
	}
	return NULL;
}

int page_said(const struct str *json, struct str *html, struct err *e)
{
	struct arena *a = arena_new(0);
	const struct json *root = a ? json_parse(str_c(json), json->len, a, e) : NULL,
			  *said = root ? first_of(root) : NULL;

	/* Of sentences the first is the answer. */
	for (size_t i = 0; said && i < said->n && (i == 0 || said->v[i]->kind == JSON_TEXT); i++)
		out_html_element(i ? "span" : "b", "", line_of(said->v[i]), html);
	arena_free(a);
	return root ? 0 : a ? -1 : err_nomem(e, "for the report");
}
