/* picture.c - a picture's way out: a chart of a page, into its file or as what is drawn. */
#include "sim/cli/picture.h"

#include "results/plot/draw.h"

/* results/report/embed.S */
extern const char report_page[], report_page_end[], draw_script[];

int picture_check(const struct picture_to *o, struct err *e)
{
	enum draw_format f;

	if (!o->to && !o->spec)
		return err_set(e, ERR_USAGE, "the picture's file is missing: -o FILE.svg (or .png, .pdf)");
	return o->to ? draw_format_of(o->to, &f, e) : 0;
}

int picture_put_page(const struct picture_to *o, const char *title, page_put *put, void *arg, const char *chart,
                     struct str *out, struct err *e)
{
	const struct page_template t = { report_page, report_page_end, NULL };
	struct str page = STR_INIT;
	const struct draw d = { draw_script, &page, chart };
	int rc = page_compose(&t, title, put, arg, &page, e);

	if (rc == 0)
		rc = o->spec ? draw_spec(&d, out, e) : draw_file(&d, o->to, e);
	str_free(&page);
	return rc;
}

static int put_figure(struct out_json *j, void *arg, struct err *e)
{
	int rc;

	page_none_stored(j);
	out_json_open(j, "figures", '[');
	rc = plot_put(arg, j, e);
	out_json_close(j, ']');
	return rc;
}

int picture_put(const struct picture_to *o, struct plot *p, struct str *out, struct err *e)
{
	const int rc = picture_put_page(o, plot_title(p), put_figure, p, "figure0", out, e);

	plot_free(p);
	return rc;
}
