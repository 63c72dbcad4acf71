/* fingerprint.c - prints the fingerprint of what the GPU model answers (sim/accuracy/behaviour.h). The build runs it and puts
 * the line into npusim, so that no run computes it. */
#include <stdio.h>

#include "sim/accuracy/behaviour.h"

int main(void)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct behaviour b;
	char text[17];
	int rc = a ? behaviour_make(NULL, NULL, 0, a, &b, &e) : err_nomem(&e, "for the table of launches");

	if (rc == 0) {
		behaviour_hash(&b, text);
		puts(text);
	} else {
		fprintf(stderr, "fingerprint: %s\n", e.msg);
	}
	arena_free(a);
	return rc == 0 ? 0 : 1;
}
