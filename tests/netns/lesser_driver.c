// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the agent: its radio's driver lacks the feature named by LACKS: "second" (no
 * second interface on a radio) or "fcsfail" (not this flag of a monitor interface). A request with
 * flags is printed first, as no kernel reports them. Then the request gets a command that nl80211
 * does not have, and the kernel refuses it as it refuses a missing driver feature: EOPNOTSUPP.
 */
#include <dlfcn.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_COMMAND 255

struct nl_sock;
struct nl_msg;
struct nlmsghdr *nlmsg_hdr(struct nl_msg *m); /* libnl's */

/* Returns the attribute of this type between `at` and `end`. */
static struct nlattr *find(char *at, char *end, int type)
{
	for (; at + sizeof(struct nlattr) <= end;) {
		struct nlattr *a = (struct nlattr *)at;

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		at += NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

static bool has_flag(struct nlattr *flags, int flag)
{
	return flags && find((char *)flags + NLA_HDRLEN, (char *)flags + flags->nla_len, flag);
}

static void say(struct nlattr *flags)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "flags:%s%s%s\n",
			   has_flag(flags, NL80211_MNTR_FLAG_FCSFAIL) ? " fcsfail" : "",
			   has_flag(flags, NL80211_MNTR_FLAG_CONTROL) ? " control" : "",
			   has_flag(flags, NL80211_MNTR_FLAG_OTHER_BSS) ? " otherbss" : "");

	if (write(STDERR_FILENO, line, len) != len)
		_exit(98);
}

static void lack(struct nlmsghdr *h)
{
	struct genlmsghdr *g = (struct genlmsghdr *)(h + 1);
	char *attrs = (char *)(g + 1), *end = (char *)h + h->nlmsg_len;
	const char *lacks = getenv("LACKS") ?: "";
	struct nlattr *flags = find(attrs, end, NL80211_ATTR_MNTR_FLAGS);

	if (h->nlmsg_type < NLMSG_MIN_TYPE + 1)
		return;
	if (g->cmd == NL80211_CMD_NEW_INTERFACE || g->cmd == NL80211_CMD_SET_INTERFACE)
		say(flags);
	if (g->cmd == NL80211_CMD_NEW_INTERFACE && strstr(lacks, "second"))
		g->cmd = NO_COMMAND;
	if (strstr(lacks, "fcsfail") && has_flag(flags, NL80211_MNTR_FLAG_FCSFAIL))
		g->cmd = NO_COMMAND;
}

int nl_send_auto(struct nl_sock *sock, struct nl_msg *m)
{
	int (*next)(struct nl_sock *, struct nl_msg *) = dlsym(RTLD_NEXT, "nl_send_auto");

	lack(nlmsg_hdr(m));
	return next(sock, m);
}
