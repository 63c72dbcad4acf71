#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "sim/ui/screen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDEST 10000 /* columns; more is no terminal's */

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || strcmp(term, "dumb") == 0;
}

static bool screen_size_of(struct winsize *w)
{
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, w) == 0;
}

size_t screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize w;
	long n;

	if (!screen_size_of(&w))
		return 0;
	if (w.ws_col)
		return w.ws_col;
	n = columns ? strtol(columns, NULL, 10) : 0;
	return n > 0 && n < WIDEST ? (size_t)n : 0;
}

bool screen_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !is_dumb() && !(no && *no);
}

static size_t lines_of(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

static const char *pager(void)
{
	const char *p = getenv("NPUSIM_PAGER");

	if (!p)
		p = getenv("PAGER");
	if (!p)
		p = "less";
	return *p && strcmp(p, "cat") != 0 ? p : NULL;
}

bool screen_page(const struct str *text)
{
	const char *with = pager();
	struct winsize w;
	void (*was)(int);
	FILE *f;

	if (!with || is_dumb() || !screen_size_of(&w) || !w.ws_row || lines_of(str_c(text)) < w.ws_row)
		return false;
	setenv("LESS", "FRX", 0); /* colours pass, and it ends where all fits */
	if (!(f = popen(with, "w")))
		return false;
	was = signal(SIGPIPE, SIG_IGN); /* it may be left before its end */
	fwrite(str_c(text), 1, text->len, f);
	pclose(f);
	signal(SIGPIPE, was);
	return true;
}
