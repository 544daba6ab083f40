/* SPDX-License-Identifier: GPL-2.0 */
/* Listen: the server's socket. */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "options.h"

/* Returns a listening socket that does not block, or -errno after a line. */
int listen_open(const struct web_options *o);

#endif
