// SPDX-License-Identifier: GPL-2.0
/* Remote: see remote.h. */
#include "remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define COMMAND_MAX 16384

struct text {
	char *at;
	size_t left; /* 0: it did not fit */
};

static void append(struct text *t, const char *s, size_t len)
{
	if (len >= t->left) {
		t->left = 0;
		return;
	}
	memcpy(t->at, s, len);
	t->at += len;
	*t->at = 0;
	t->left -= len;
}

/* Quotes a word, so that the shell interprets none of its characters. */
static void append_word(struct text *t, const char *word)
{
	append(t, " '", 2);
	for (; *word; word++)
		append(t, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	append(t, "'", 1);
}

static void append_option(struct text *t, const char *option, const char *value)
{
	if (!value || !*value)
		return;
	append_word(t, option);
	append_word(t, value);
}

int remote_command(const struct live_options *o, char *out, size_t size)
{
	struct text t = { out, size };
	char count[24];

	snprintf(count, sizeof(count), "%llu", (unsigned long long)o->count);
	append(&t, "saluki-live -w -", 16);
	append_option(&t, "--sensor", o->sensors);
	append_option(&t, "--group", o->group);
	append_option(&t, "--channel", o->channels);
	append_option(&t, "--frames", o->count ? count : NULL);
	append_option(&t, "--", o->expression);
	return t.left ? 0 : -ENAMETOOLONG;
}

int remote_run(const struct live_options *o, int fd)
{
	char command[COMMAND_MAX];

	if (remote_command(o, command, sizeof(command))) {
		log_line("--collector %s: the filter and the names are too long", o->collector);
		return 1;
	}
	if (fd != STDOUT_FILENO && dup2(fd, STDOUT_FILENO) < 0) {
		log_line("%s: %s", o->write, strerror(errno));
		return 1;
	}
	execlp("ssh", "ssh", "-T", "-o", "BatchMode=yes", "--", o->collector, command, NULL);
	log_line("--collector %s: cannot run ssh: %s", o->collector, strerror(errno));
	return 1;
}
