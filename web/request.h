/* SPDX-License-Identifier: GPL-2.0 */
/* Request: what a request must be like before its path counts. */
#ifndef WEB_REQUEST_H
#define WEB_REQUEST_H

#include <microhttpd.h>

/* `names` are hosts that are accepted besides this machine's own; the list ends with NULL. Returns
 * 0, or an HTTP status code with a sentence in `why`. */
unsigned int request_check(struct MHD_Connection *c, const char *method, const char *version,
			   const char *const *names, const char **why);

#endif
