// SPDX-License-Identifier: GPL-2.0
/* Compile filter: see compile_filter.h. */
#include "compile_filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/process/helper.h"
#include "agent/process/sandbox.h"
#include "common/log.h"
#include "common/privsep.h"

const char compile_filter_none[] = "there is no process that compiles filters";

struct request {
	int32_t linktype;
	char expression[WIRE_ORDER_TEXT_MAX + 1];
};

/* ---- the process ----------------------------------------------------------------------------- */

static void compile(int sock, struct request *r)
{
	static struct compiled c;

	r->expression[sizeof(r->expression) - 1] = 0;
	c.error = filter_compile(&c.filter, r->expression, r->linktype, c.why, sizeof(c.why));
	_exit(privsep_send(sock, &c, sizeof(c), NULL, 0) ? 1 : 0);
}

static void compile_apart(int sock, struct request *r)
{
	static struct compiled failed; /* large: kept out of the program's file */
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		compile(sock, r);
	if (child > 0)
		waitpid(child, &status, 0);
	if (status == 0)
		return;
	failed.error = -ECANCELED;
	snprintf(failed.why, sizeof(failed.why),
		 "filter '%.120s': libpcap does not come to an end with it; make it shorter",
		 r->expression);
	privsep_send(sock, &failed, sizeof(failed), NULL, 0);
}

static void serve(int sock, const void *none)
{
	static struct filter once;
	struct request r;
	char why[FILTER_WHY_LEN];

	(void)none;
	filter_compile(&once, "ip", LINKTYPE_ETHERNET, why, sizeof(why)); /* loads libpcap */
	if (sandbox_compiler())
		_exit(1);
	while (privsep_recv(sock, &r, sizeof(r), NULL) == 0)
		compile_apart(sock, &r);
	_exit(0);
}

/* ---- who asks -------------------------------------------------------------------------------- */

int compile_filter_start(void)
{
	return helper_start("compiles filters", serve, NULL);
}

int compile_filter_ask(int sock, const char *expression, int linktype)
{
	struct request r = { .linktype = linktype };

	snprintf(r.expression, sizeof(r.expression), "%s", expression);
	return privsep_send(sock, &r, sizeof(r), NULL, 0);
}

int compile_filter_answer(int sock, struct compiled *c)
{
	int err = privsep_recv(sock, c, sizeof(*c), NULL);

	c->why[sizeof(c->why) - 1] = 0;
	return err;
}
