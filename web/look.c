// SPDX-License-Identifier: GPL-2.0
/* Look: see look.h. */
#include "look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "connect.h"
#include "history.h"

#define SECOND_NS 1000000000ULL
#define ASK_AFTER_NS (2 * SECOND_NS) /* without a new state; two are missing */
#define STALE_AFTER_NS (5 * SECOND_NS)

int look_init(struct look *l, const char *path, int helper)
{
	*l = (struct look){ .path = path, .helper = helper };
	board_why(l->why, path, -ENODATA);
	l->sums = calloc(1, sizeof(*l->sums));
	l->history = history_new();
	if (l->sums && l->history)
		return 0;
	log_line("out of memory");
	return -ENOMEM;
}

void look_free(struct look *l)
{
	board_states_free(&l->states);
	board_close(&l->view);
	free(l->sums);
	history_free(l->history);
}

/* The state is not shown any more. The next sums need it. */
static void lose(struct look *l, int err)
{
	char why[BOARD_WHY_MAX];

	board_why(why, l->path, err);
	if (l->fresh || strcmp(why, l->why))
		log_line("--board %s", why);
	l->changes += l->fresh;
	l->fresh = false;
	memcpy(l->why, why, sizeof(why));
}

static void take(struct look *l, uint64_t now_ns)
{
	struct board_states s;
	int err = board_copy(&l->view, &s.now, &s.before);

	if (err) {
		lose(l, err);
		return;
	}
	sums_take(l->sums, &s.now, &l->states.now);
	board_states_free(&l->states);
	l->states = s;
	history_take(l->history, &l->states);
	l->changes++;
	l->changed_ns = now_ns;
	if (!l->fresh)
		log_info("--board %s: %u sensor%s", l->path, s.now.collector.sensors,
			 PLURAL(s.now.collector.sensors));
	l->fresh = true;
}

int look_tick(struct look *l, uint64_t now_ns)
{
	uint32_t n = l->view.map ? board_published(&l->view) : l->published;

	if (n != l->published) {
		l->published = n;
		take(l, now_ns);
	}
	if (l->fresh && now_ns - l->changed_ns >= STALE_AFTER_NS)
		lose(l, l->refused ?: -ETIMEDOUT);
	if (l->asked || (l->fresh && now_ns - l->changed_ns < ASK_AFTER_NS) ||
	    (l->asked_ns && now_ns - l->asked_ns < SECOND_NS))
		return 0;
	l->asked = true;
	l->asked_ns = now_ns;
	return connect_ask(l->helper);
}

/* A collector that does not write its board gives the same memory again. */
static int map(struct look *l, int fd, uint64_t now_ns)
{
	struct stat st;
	struct board_view view;
	int err;

	if (fstat(fd, &st) == 0 && l->view.map && l->memory == st.st_ino) {
		close(fd);
		return 0;
	}
	err = board_map(&view, fd);
	if (err)
		return err;
	board_close(&l->view);
	l->view = view;
	l->memory = st.st_ino;
	l->published = board_published(&l->view);
	if (l->published)
		take(l, now_ns);
	return 0;
}

int look_answer(struct look *l, uint64_t now_ns)
{
	int fd = connect_take(l->helper);

	l->asked = false;
	if (fd == -EPIPE) {
		log_line("the process that connects to the collector has ended");
		return -EPIPE;
	}
	l->refused = fd < 0 ? fd : map(l, fd, now_ns);
	/* The last state stays until it is too old. */
	if (l->refused && !l->fresh)
		lose(l, l->refused);
	return 0;
}
