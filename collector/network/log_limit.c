// SPDX-License-Identifier: GPL-2.0
/* Log limit: see log_limit.h. */
#include "log_limit.h"

#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "collector/model/rate_limit.h"
#include "common/log.h"

bool log_limit_was_logged(const struct log_limit *q, uint64_t what, uint64_t now_ns)
{
	for (unsigned int i = 0; i < LOG_LIMIT_LOGGED; i++)
		if (q->logged[i].logged_ns && q->logged[i].what == what &&
		    now_ns - q->logged[i].logged_ns < LOG_LIMIT_AGAIN_NS)
			return true;
	return false;
}

/* Returns this source's place, or a free one, or a random other source's. */
static struct log_limit_line *place_for(struct log_limit *q, uint64_t source)
{
	struct log_limit_line *free_line = NULL;

	for (unsigned int i = 0; i < LOG_LIMIT_WAITING; i++) {
		struct log_limit_line *l = &q->waiting[i];

		if (l->ns && l->source == source)
			return l;
		if (!l->ns)
			free_line = l;
	}
	return free_line ?: &q->waiting[randombytes_uniform(LOG_LIMIT_WAITING)];
}

/* Returns the buffer for the line; NULL: the same was printed recently. */
static char *line_for(struct log_limit *q, uint64_t source, uint64_t what, uint64_t now_ns)
{
	struct log_limit_line *l;

	if (log_limit_was_logged(q, what, now_ns))
		return NULL;
	l = place_for(q, source);
	if (l->ns && l->what != what)
		q->left_out++;
	l->source = source;
	l->what = what;
	l->ns = now_ns ?: 1;
	return l->text;
}

/* Drops lines that waited for LOG_LIMIT_AGAIN_NS, as their cause has ended. */
static unsigned int drop_old(struct log_limit *q, uint64_t now_ns)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < LOG_LIMIT_WAITING; i++) {
		struct log_limit_line *l = &q->waiting[i];

		if (l->ns && now_ns - l->ns >= LOG_LIMIT_AGAIN_NS) {
			l->ns = 0;
			q->left_out++;
		}
		count += l->ns != 0;
	}
	return count;
}

static struct log_limit_line *waiting_number(struct log_limit *q, unsigned int n)
{
	struct log_limit_line *l = q->waiting;

	while (!l->ns || n--)
		l++;
	return l;
}

static void print(struct log_limit *q, struct log_limit_line *l, uint64_t now_ns)
{
	if (q->left_out)
		log_line("%s (lines left out before this one: %llu)", l->text,
			 (unsigned long long)q->left_out);
	else
		log_line("%s", l->text);
	q->logged[q->logged_next].what = l->what;
	q->logged[q->logged_next].logged_ns = now_ns ?: 1;
	q->logged_next = (q->logged_next + 1) % LOG_LIMIT_LOGGED;
	q->left_out = 0;
	l->ns = 0;
}

/* Prints a waiting line, if the quota allows it. */
static void print_one(struct log_limit *q, uint64_t now_ns)
{
	unsigned int count = drop_old(q, now_ns);

	if (count && rate_limit_spaced(&q->spent_ns, LOG_LIMIT_EVERY_NS,
				       LOG_LIMIT_BURST * LOG_LIMIT_EVERY_NS, now_ns))
		print(q, waiting_number(q, randombytes_uniform(count)), now_ns);
}

void log_limit_line(struct log_limit *q, uint64_t source, uint64_t what, uint64_t now_ns,
		    const char *format, ...)
{
	char *text = line_for(q, source, what, now_ns);
	va_list args;

	if (!text)
		return;
	va_start(args, format);
	vsnprintf(text, LOG_LIMIT_TEXT_MAX, format, args);
	va_end(args);
	print_one(q, now_ns);
}
