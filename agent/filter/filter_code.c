// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, from the output of `tcpdump -ddd`, for machines without libpcap: a line with the number
 * of instructions, then a line "code jt jf k" for each, all decimal. Always holds: any other input
 * is refused.
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX (FILTER_LEN_MAX * 32) /* bytes; a line has 30 at most */

struct reader {
	const char *at, *end;
	unsigned int line;
};

/* Reads a number of at most `max` that ends with the character `behind`. Returns 0 or -EINVAL. */
static int number(struct reader *r, uint64_t max, char behind, uint32_t *out)
{
	uint64_t value = 0;
	const char *first = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= max)
		value = value * 10 + (*r->at++ - '0');
	if (r->at == first || value > max)
		return -EINVAL;
	*out = value;
	if (behind == '\n' && r->at == r->end)
		return 0; /* the last line may lack a newline */
	if (behind == '\n' && *r->at == '\r' && r->at + 1 < r->end)
		r->at++;
	return r->at < r->end && *r->at++ == behind ? 0 : -EINVAL;
}

static int instruction(struct reader *r, struct sock_filter *s)
{
	uint32_t code, jt, jf, k;
	int err = number(r, 0xffff, ' ', &code);

	err = err ?: number(r, 0xff, ' ', &jt);
	err = err ?: number(r, 0xff, ' ', &jf);
	err = err ?: number(r, 0xffffffff, '\n', &k);
	if (!err)
		*s = (struct sock_filter){ code, jt, jf, k };
	return err;
}

static int refuse(const struct reader *r, const char *wrong, char *why, size_t why_len)
{
	snprintf(why, why_len, "line %u: %s; give what 'tcpdump -ddd' prints", r->line, wrong);
	return -EINVAL;
}

int filter_parse_code(struct filter *f, const char *text, size_t len, char *why, size_t why_len)
{
	struct reader r = { .at = text, .end = text + len, .line = 1 };
	uint32_t count;

	f->len = 0;
	if (number(&r, 0xffffffff, '\n', &count))
		return refuse(&r, "must be the number of instructions", why, why_len);
	if (count == 0 || count > FILTER_LEN_MAX)
		return refuse(&r, "there must be 1 to 8192 instructions", why, why_len);
	for (uint32_t i = 0; i < count; i++) {
		r.line++;
		if (r.at == r.end)
			return refuse(&r, "instructions are missing", why, why_len);
		if (instruction(&r, &f->code[i]))
			return refuse(&r, "must be four decimal numbers, 'code jt jf k'", why,
				      why_len);
	}
	r.line++;
	while (r.at < r.end && (*r.at == '\n' || *r.at == '\r'))
		r.at++;
	if (r.at < r.end)
		return refuse(&r, "there are more instructions than line 1 says", why, why_len);
	f->len = count;
	return 0;
}

int filter_read_code(struct filter *f, int fd, const char *name, char *why, size_t why_len)
{
	char *text = malloc(TEXT_MAX), reason[FILTER_WHY_LEN - 128];
	size_t len = 0;
	ssize_t got = 1;
	int err = text ? 0 : -ENOMEM;

	snprintf(reason, sizeof(reason), "out of memory");
	while (!err && got > 0 && len < TEXT_MAX) {
		got = read(fd, text + len, TEXT_MAX - len);
		if (got > 0)
			len += got;
		else if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			err = -errno;
	}
	if (err == 0)
		err = filter_parse_code(f, text, len, reason, sizeof(reason));
	else if (err != -ENOMEM)
		snprintf(reason, sizeof(reason), "%s", strerror(-err));
	err = err ?: filter_check(f, reason, sizeof(reason));
	if (err) {
		snprintf(why, why_len, "--filter-code %.200s: %s", name, reason);
		f->len = 0;
	}
	f->is_code = true;
	snprintf(f->text, sizeof(f->text), "code of %s",
		 strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	free(text);
	return err;
}
