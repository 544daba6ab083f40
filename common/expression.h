/* SPDX-License-Identifier: GPL-2.0 */
/* Expression: pcap-filter(7), by libpcap. */
#ifndef COMMON_EXPRESSION_H
#define COMMON_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "libpcap.h"

#define EXPRESSION_LINKTYPES_MAX 16
#define EXPRESSION_WHY_MAX 320

/* An expression, compiled for each link type when it is needed. */
struct expression {
	char *text; /* NULL: all frames */
	unsigned int count;
	struct {
		uint16_t linktype;
		bool none; /* the expression does not fit the link type: no frames */
		struct bpf_program program;
	} list[EXPRESSION_LINKTYPES_MAX];
};

/* Replaces the expression, which must be valid for radiotap or for Ethernet. Returns 0. On an
 * error, keeps the earlier expression, and returns -errno with the reason in `why`. */
int expression_set(struct expression *e, const char *text, char why[EXPRESSION_WHY_MAX]);
bool expression_match(struct expression *e, uint16_t linktype, const uint8_t *data,
		      uint32_t kept_len, uint32_t orig_len);
void expression_free(struct expression *e);

#endif
