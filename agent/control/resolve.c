// SPDX-License-Identifier: GPL-2.0
/* Resolve: see resolve.h. */
#include "resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/helper.h"
#include "agent/process/sandbox.h"
#include "common/privsep.h"

/* ---- the process ----------------------------------------------------------------------------- */

static void look_up(struct resolved *r, const struct sockets_name *name)
{
	struct sockets_address a = { 0 };
	int err = sockets_look_up(&a, name);

	r->error = err;
	if (err) {
		snprintf(r->why, sizeof(r->why), "%s",
			 err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
		return;
	}
	r->routed = sockets_route(&a);
	r->to = a.to;
	r->len = a.len;
}

static void serve(int sock, const void *arg)
{
	const struct sockets_name *names = arg;
	uint32_t name;

	if (sandbox_resolver())
		_exit(1);
	while (privsep_recv(sock, &name, sizeof(name), NULL) == 0 && name < SOCKETS_PEERS) {
		struct resolved r = { .name = name };

		look_up(&r, &names[name]);
		if (privsep_send(sock, &r, sizeof(r), NULL, 0))
			break;
	}
	_exit(0);
}

/* ---- who asks -------------------------------------------------------------------------------- */

int resolve_start(const struct sockets_name *names)
{
	return helper_start("looks names up", serve, names);
}

int resolve_ask(int sock, uint32_t name)
{
	return privsep_send(sock, &name, sizeof(name), NULL, 0);
}

int resolve_answer(int sock, struct resolved *r)
{
	int err = privsep_recv(sock, r, sizeof(*r), NULL);

	r->why[sizeof(r->why) - 1] = 0;
	return err;
}
