// SPDX-License-Identifier: GPL-2.0
/* Routes: see routes.h. */
#include "routes.h"

#include <string.h>

#include "api.h"
#include "metrics.h"

#define SUFFIX ".json"

const struct web_resource routes[] = {
	{ "/metrics", "text/plain; version=0.0.4; charset=utf-8", metrics_write, .always = true },
	{ "/api/fleet.json", "application/json", api_fleet, .query = NULL },
	{ "/api/sensor/", "application/json", api_sensor, .query = NULL },
	{ "/api/channels.json", "application/json", api_channels, .query = "group" },
	{ 0 },
};

_Static_assert(sizeof(routes) / sizeof(*routes) <= ROUTES_MAX, "a slot each");

/* Writes NAME of a path below `r` into `name`. */
static bool below(const struct web_resource *r, const char *url, char name[ROUTES_NAME_MAX])
{
	size_t top = strlen(r->path), len = strlen(url);

	if (r->path[top - 1] != '/' || strncmp(url, r->path, top) || len < top + sizeof(SUFFIX) ||
	    len - top >= ROUTES_NAME_MAX || strcmp(url + len - strlen(SUFFIX), SUFFIX))
		return false;
	snprintf(name, ROUTES_NAME_MAX, "%.*s", (int)(len - top - strlen(SUFFIX)), url + top);
	return true;
}

const struct web_resource *routes_find(struct MHD_Connection *c, const char *url,
				       char name[ROUTES_NAME_MAX], const char **arg)
{
	*arg = NULL;
	for (const struct web_resource *r = routes; r->path; r++) {
		if (below(r, url, name)) {
			*arg = name;
			return r;
		}
		if (!strcmp(url, r->path) && r->path[strlen(r->path) - 1] != '/') {
			if (r->query)
				*arg = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND,
								   r->query);
			return r;
		}
	}
	return NULL;
}
