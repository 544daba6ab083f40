// SPDX-License-Identifier: GPL-2.0
/* Metrics: see metrics.h. */
#include "metrics.h"

#include "common/version.h"

int metrics_write(FILE *f, const struct web_look *l, const char *arg)
{
	(void)arg;
	fprintf(f,
		"# HELP saluki_web_board_ok Whether the collector's state can be read.\n"
		"# TYPE saluki_web_board_ok gauge\n"
		"saluki_web_board_ok %d\n",
		l->states != NULL);
	return 0;
}
