// SPDX-License-Identifier: GPL-2.0
/* nl80211, the socket and the requests that change: see nl80211.h. */
#include "nl80211.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "nl80211_parts.h"

#define ANSWER_MAX 32768  /* the kernel's largest message (netlink_dump) */
#define CHAN_WIDTH_320 13 /* NL80211_CHAN_WIDTH_320, in headers since Linux 5.18 */

struct nl80211 {
	struct nl_sock *sock;
	struct nl_cb *cb;
	int family;
	bool no_ht; /* the card has no HT: 20 MHz then has another width's name */

	/* The state of the current request. */
	uint32_t seq;
	bool ended;
	int err;
	void (*each)(struct nlattr **, void *);
	void *arg;
};

/* ---- requests and answers -------------------------------------------------------------------- */

/* Skips the rest of an answer that was not read completely. */
static int is_ours(struct nl_msg *m, void *arg)
{
	return nlmsg_hdr(m)->nlmsg_seq == ((struct nl80211 *)arg)->seq ? NL_OK : NL_SKIP;
}

static int take(struct nl_msg *m, void *arg)
{
	struct genlmsghdr *h = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *attrs[NL80211_ATTR_MAX + 1];
	struct nl80211 *n = arg;

	if (n->each && nla_parse(attrs, NL80211_ATTR_MAX, genlmsg_attrdata(h, 0),
				 genlmsg_attrlen(h, 0), NULL) == 0)
		n->each(attrs, n->arg);
	return NL_SKIP;
}

static int end(struct nl_msg *m, void *arg)
{
	(void)m;
	((struct nl80211 *)arg)->ended = true;
	return NL_SKIP;
}

static int fail(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nl80211 *n = arg;

	(void)from;
	if (e->msg.nlmsg_seq != n->seq)
		return NL_SKIP;
	n->ended = true;
	n->err = e->error;
	return NL_STOP;
}

struct nl_msg *nl80211_request(struct nl80211 *n, uint8_t command, int flags)
{
	struct nl_msg *m = nlmsg_alloc();

	if (m && genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, n->family, 0, flags, command, 0))
		return m;
	nlmsg_free(m);
	return NULL;
}

int nl80211_do(struct nl80211 *n, struct nl_msg *m, void (*each)(struct nlattr **, void *),
	       void *arg)
{
	int sent;

	if (!m)
		return -ENOMEM;
	sent = nl_send_auto(n->sock, m);
	n->seq = nlmsg_hdr(m)->nlmsg_seq;
	nlmsg_free(m);
	if (sent < 0)
		return -EIO;
	n->ended = false;
	n->err = 0;
	n->each = each;
	n->arg = arg;
	while (!n->ended)
		if (nl_recvmsgs(n->sock, n->cb) < 0 && !n->ended)
			return -EIO;
	return n->err;
}

static void set_callbacks(struct nl80211 *n)
{
	nl_cb_err(n->cb, NL_CB_CUSTOM, fail, n);
	nl_cb_set(n->cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, is_ours, n);
	nl_cb_set(n->cb, NL_CB_VALID, NL_CB_CUSTOM, take, n);
	nl_cb_set(n->cb, NL_CB_FINISH, NL_CB_CUSTOM, end, n);
	nl_cb_set(n->cb, NL_CB_ACK, NL_CB_CUSTOM, end, n);
}

int nl80211_open(struct nl80211 **out)
{
	struct nl80211 *n = calloc(1, sizeof(*n));
	int err = -ENOMEM;

	*out = NULL;
	if (!n)
		return err;
	n->sock = nl_socket_alloc();
	n->cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!n->sock || !n->cb)
		goto out;
	set_callbacks(n);
	/* The buffer has room for any answer, so libnl need not peek: a switch must be short. */
	nl_socket_disable_msg_peek(n->sock);
	nl_socket_set_msg_buf_size(n->sock, ANSWER_MAX);
	err = genl_connect(n->sock) < 0 ? -EPROTONOSUPPORT : 0;
	if (err)
		goto out;
	n->family = genl_ctrl_resolve(n->sock, NL80211_GENL_NAME);
	err = n->family < 0 ? -ENOENT : 0;
	if (err)
		goto out;
	*out = n;
	return 0;
out:
	nl80211_close(n);
	return err;
}

void nl80211_close(struct nl80211 *n)
{
	if (!n)
		return;
	nl_cb_put(n->cb);
	nl_socket_free(n->sock);
	free(n);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static uint32_t width_of(const struct radio_channel *c, bool no_ht)
{
	switch (c->width) {
	case 5:
		return NL80211_CHAN_WIDTH_5;
	case 10:
		return NL80211_CHAN_WIDTH_10;
	case 40:
		return NL80211_CHAN_WIDTH_40;
	case 80:
		return NL80211_CHAN_WIDTH_80;
	case 160:
		return NL80211_CHAN_WIDTH_160;
	case 320:
		return CHAN_WIDTH_320;
	default:
		return no_ht ? NL80211_CHAN_WIDTH_20_NOHT : NL80211_CHAN_WIDTH_20;
	}
}

/* Without libnl's help: sampling sends this all the time, and libnl would take as long as the
 * kernel. */
static int tune(struct nl80211 *n, int ifindex, const struct radio_channel *to, bool no_ht)
{
	struct {
		struct nlmsghdr h;
		struct genlmsghdr g;
		struct {
			struct nlattr head;
			uint32_t value;
		} attrs[4];
	} m = {
		.h = { sizeof(m), n->family, NLM_F_REQUEST | NLM_F_ACK, 0, 0 },
		.g = { .cmd = NL80211_CMD_SET_WIPHY },
		.attrs = { { { 8, NL80211_ATTR_IFINDEX }, ifindex },
			   { { 8, NL80211_ATTR_WIPHY_FREQ }, to->mhz },
			   { { 8, NL80211_ATTR_CHANNEL_WIDTH }, width_of(to, no_ht) },
			   { { 8, NL80211_ATTR_CENTER_FREQ1 }, to->center } },
	};
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[128]; /* the request's text, truncated */
	} a;
	int fd = nl_socket_get_fd(n->sock);
	ssize_t len;

	m.h.nlmsg_seq = nl_socket_use_seq(n->sock);
	if (send(fd, &m, sizeof(m), 0) != sizeof(m))
		return -EIO;
	do
		len = recv(fd, &a, sizeof(a), 0);
	while (len < 0 ? errno == EINTR : a.h.nlmsg_seq != m.h.nlmsg_seq);
	if (len < (ssize_t)(sizeof(a.h) + sizeof(a.e)) || a.h.nlmsg_type != NLMSG_ERROR)
		return -EIO;
	return a.e.error;
}

int nl80211_tune(struct nl80211 *n, int ifindex, const struct radio_channel *to)
{
	int err = tune(n, ifindex, to, n->no_ht), other;

	if (err != -EINVAL || to->width != 20)
		return err;
	/* The card lacks the channel, or has no HT, or only at 5 GHz. */
	other = tune(n, ifindex, to, !n->no_ht);
	if (!other)
		n->no_ht = !n->no_ht;
	return other;
}

static int put_flags(struct nl_msg *m, uint32_t flags)
{
	struct nlattr *nest = nla_nest_start(m, NL80211_ATTR_MNTR_FLAGS);
	int err = nest ? 0 : -ENOMEM;

	for (int flag = 1; !err && flag <= NL80211_MNTR_FLAG_MAX; flag++)
		if (flags & 1u << flag && nla_put_flag(m, flag))
			err = -ENOMEM;
	if (!err)
		nla_nest_end(m, nest);
	return err;
}

int nl80211_make(struct nl80211 *n, uint32_t wiphy, const char *name, uint32_t type, uint32_t flags)
{
	struct nl_msg *m = nl80211_request(n, NL80211_CMD_NEW_INTERFACE, 0);

	if (!m)
		return -ENOMEM;
	NLA_PUT_U32(m, NL80211_ATTR_WIPHY, wiphy);
	NLA_PUT_STRING(m, NL80211_ATTR_IFNAME, name);
	NLA_PUT_U32(m, NL80211_ATTR_IFTYPE, type);
	if (flags && put_flags(m, flags))
		goto nla_put_failure;
	return nl80211_do(n, m, NULL, NULL);
nla_put_failure:
	nlmsg_free(m);
	return -ENOMEM;
}

int nl80211_set_type(struct nl80211 *n, int ifindex, uint32_t type, uint32_t flags)
{
	struct nl_msg *m = nl80211_request(n, NL80211_CMD_SET_INTERFACE, 0);

	if (!m)
		return -ENOMEM;
	NLA_PUT_U32(m, NL80211_ATTR_IFINDEX, ifindex);
	NLA_PUT_U32(m, NL80211_ATTR_IFTYPE, type);
	if (flags && put_flags(m, flags))
		goto nla_put_failure;
	return nl80211_do(n, m, NULL, NULL);
nla_put_failure:
	nlmsg_free(m);
	return -ENOMEM;
}

int nl80211_delete(struct nl80211 *n, int ifindex)
{
	struct nl_msg *m = nl80211_request(n, NL80211_CMD_DEL_INTERFACE, 0);

	if (!m)
		return -ENOMEM;
	NLA_PUT_U32(m, NL80211_ATTR_IFINDEX, ifindex);
	return nl80211_do(n, m, NULL, NULL);
nla_put_failure:
	nlmsg_free(m);
	return -ENOMEM;
}
