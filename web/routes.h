/* SPDX-License-Identifier: GPL-2.0 */
/* Routes: which resource a path names. */
#ifndef WEB_ROUTES_H
#define WEB_ROUTES_H

#include <microhttpd.h>

#include "resources.h"

#define ROUTES_MAX 8
#define ROUTES_NAME_MAX 64

extern const struct web_resource routes[]; /* ends with { 0 } */

/* Returns the resource, or NULL. Sets `arg` as resources.h says; it may point into `name`. */
const struct web_resource *routes_find(struct MHD_Connection *c, const char *url,
				       char name[ROUTES_NAME_MAX], const char **arg);

#endif
