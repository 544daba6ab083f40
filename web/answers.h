/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers: HTTP responses with their headers. A resource is written once for each state, and all
 * clients get the same bytes. Clients that read slowly keep old answers in memory; the sum is
 * limited.
 */
#ifndef WEB_ANSWERS_H
#define WEB_ANSWERS_H

#include <microhttpd.h>

#include "page.h"
#include "routes.h"

#define ANSWERS_BYTES_MAX (128ULL << 20) /* then 503, until clients have read theirs */
#define ANSWERS_TAG_MAX 40

struct answers {
	struct MHD_Response *kept[ROUTES_MAX]; /* of the present state */
	uint32_t changes;		       /* of the look, when they were written */
	uint64_t held_bytes;		       /* of all answers in memory */
	uint64_t counts[WEB_CODE_COUNT];
};

void answers_free(struct answers *a);
/* Forgets the answers of an earlier state. */
void answers_renew(struct answers *a, uint32_t changes);
/* Writes the state's entity tag. Returns `out`. */
const char *answers_tag(char out[ANSWERS_TAG_MAX], const struct board_states *s);

/* These queue an answer. */
enum MHD_Result answers_page(struct answers *a, struct MHD_Connection *c,
			     const struct page_file *p);
enum MHD_Result answers_resource(struct answers *a, struct MHD_Connection *c,
				 const struct web_look *l, const struct web_resource *r,
				 const char *arg);
enum MHD_Result answers_unchanged(struct answers *a, struct MHD_Connection *c, const char *tag);
enum MHD_Result answers_refuse(struct answers *a, struct MHD_Connection *c, unsigned int code,
			       const char *why);

#endif
