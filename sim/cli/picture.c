/* picture.c - a picture's way out: into its file, or as the script that draws it. */
#include "sim/cli/picture.h"

int picture_check(const struct picture_to *o, struct err *e)
{
	enum plot_format f;

	if (!o->to && !o->script)
		return err_set(e, ERR_USAGE, "the picture's file is missing: -o FILE.svg (or .png, .pdf)");
	return o->to ? plot_format_of(o->to, &f, e) : 0;
}

int picture_put(const struct picture_to *o, struct plot *p, struct str *out, struct err *e)
{
	enum plot_format f = PLOT_SVG;
	int rc;

	if (o->script)
		rc = o->to && plot_format_of(o->to, &f, e) < 0 ? -1 : plot_script(p, f, out, e);
	else
		rc = plot_draw(p, o->to, e);
	plot_free(p);
	return rc;
}
