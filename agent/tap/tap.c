// SPDX-License-Identifier: GPL-2.0
/* Taps: see tap.h. The kinds of taps, and the order in which they are tried. */
#include "tap.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <saluki/linktype.h>
#include <saluki/record.h>

#include "agent/filter/filter.h"
#include "agent/interface/lock_sweep.h"
#include "agent/radio/radio_lock.h"
#include "agent/radio/radio.h"
#include "common/log.h"
#include "promiscuous.h"
#include "wire/info.h"

#ifndef CAP_BPF
#define CAP_BPF 39 /* since Linux 5.8 */
#endif

/* The best first. The BPF tap chooses the best hook for each interface itself. */
static const struct {
	struct tap *(*new)(const struct capture_options *o);
	unsigned int choices; /* bits of enum source_choice */
} kinds[] = {
	{ tap_bpf_new, 1 << SOURCE_AUTO | 1 << SOURCE_XDP | 1 << SOURCE_TC },
	/* Only on request: it takes every frame away from the machine's network stack. */
	{ tap_xsk_new, 1 << SOURCE_XSK },
	{ tap_mmap_new, 1 << SOURCE_AUTO | 1 << SOURCE_MMAP },
};

void tap_init(struct tap *t, const struct tap_ops *ops, const struct capture_options *o)
{
	t->ops = ops;
	t->own = *o;
	t->o = &t->own;
	t->count = o->count;
	t->promiscuous = -1;
	for (unsigned int i = 0; i < o->count; i++)
		t->interfaces[i] = (struct tap_interface){
			.name = o->interfaces[i],
		};
}

static void tell(const struct tap_interface *f, int err)
{
	if (err == -ENODEV)
		log_line("%s: no such interface; 'ip link' lists them", f->name);
	else if (err == -EPFNOSUPPORT)
		log_line("%s: link type %d is not captured: only Ethernet and 802.11 monitor "
			 "interfaces are",
			 f->name, f->link.arphrd);
	else
		log_line("%s: cannot ask for its state: %s", f->name, strerror(-err));
}

int tap_query(struct tap *t, unsigned int i)
{
	struct tap_interface *f = &t->interfaces[i];
	int err = interface_state_query(f->name, &f->link);

	if (!err && f->link.ifindex == 0)
		err = -ENODEV;
	else if (!err && f->link.linktype < 0)
		err = -EPFNOSUPPORT;
	if (err && err != f->told)
		tell(f, err);
	f->told = err;
	f->keep_headers = t->o->keep == KEEP_HEADERS ||
			  (t->o->keep == KEEP_DEFAULT && linktype_is_80211(f->link.linktype));
	return err;
}

/* An interface's own filter is compiled again from its text. Code fits every link type. */
static int make_filter(struct tap *t, unsigned int i, char *why, size_t why_len)
{
	struct tap_interface *f = &t->interfaces[i];
	char text[sizeof(f->filter->text)];

	if (f->filter_is_ordered) {
		log_line("%s: the filter that was ordered was for another link type; the one given "
			 "at the start is in force again",
			 f->name);
		f->filter_is_ordered = f->filter_is_own = false;
	}
	if (!f->filter_is_own)
		return filter_make(f->filter, &t->o->filter, f->link.linktype, why, why_len);
	if (f->filter->is_code)
		return 0;
	memcpy(text, f->filter->text, sizeof(text));
	if (strlen(text) + 1 < sizeof(text))
		return filter_compile(f->filter, text, f->link.linktype, why, why_len);
	snprintf(why, why_len,
		 "its filter is too long to be made anew for this link type; give it "
		 "again with 'saluki filter'");
	return -EMSGSIZE;
}

int tap_replace_filter(struct tap *t, unsigned int i, const struct filter *new, int linktype,
		       char *why, size_t why_len)
{
	struct tap_interface *f = &t->interfaces[i];
	struct filter *old = f->filter, *copy = malloc(sizeof(*copy));
	int err = -ENOMEM;

	snprintf(why, why_len, "no memory for a filter");
	if (!copy)
		return err;
	*copy = *new;
	err = copy->len ? filter_check(copy, why, why_len) : 0;
	if (!err && f->source && linktype != f->link.linktype) {
		snprintf(why, why_len, "the interface is of another link type now; try again");
		err = -ESTALE;
	}
	if (!err) {
		f->filter = copy;
		err = f->source ? t->ops->filter(t, i, why, why_len) : 0;
	}
	if (err) {
		f->filter = old;
		free(copy);
		return err;
	}
	f->filter_linktype = linktype;
	f->filter_is_own = true;
	f->filter_is_ordered = false; /* the caller sets it otherwise */
	free(old);
	return 0;
}

enum direction tap_direction(const struct tap_interface *f, const struct capture_options *o)
{
	bool twice = o->direction == DIRECTION_INOUT && !(o->given & GIVEN_DIRECTION) &&
		     f->link.arphrd == SALUKI_ARPHRD_LOOPBACK;

	return twice ? DIRECTION_IN : o->direction;
}

/* Releases the first `count` interfaces. */
static int put_snaplen(struct tap *t, unsigned int count, char *why, size_t why_len)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < count; i++)
		if (t->interfaces[i].source)
			err = t->ops->filter(t, i, why, why_len);
	return err;
}

int tap_replace_snaplen(struct tap *t, uint32_t snaplen, char *why, size_t why_len)
{
	uint32_t before = t->own.snaplen;
	char ignored[FILTER_WHY_LEN];
	int err;

	if (snaplen < SALUKI_SNAPLEN_MIN || snaplen > t->snaplen_max) {
		snprintf(why, why_len,
			 "the snaplen must be from %d to %u, for which there is memory",
			 SALUKI_SNAPLEN_MIN, t->snaplen_max);
		return -ERANGE;
	}
	t->own.snaplen = snaplen;
	err = put_snaplen(t, t->count, why, why_len);
	if (err) {
		t->own.snaplen = before;
		put_snaplen(t, t->count, ignored, sizeof(ignored));
	}
	return err;
}

/* The longest filter takes 64 KiB. Its code is not zeroed, because the kernel gives memory to
 * pages only when they are written. */
static struct filter *empty_filter(void)
{
	struct filter *f = malloc(sizeof(*f));

	if (f) {
		f->len = 0;
		f->text[0] = 0;
		f->is_code = false;
	}
	return f;
}

int tap_filter(struct tap *t, unsigned int i)
{
	struct tap_interface *f = &t->interfaces[i];
	char why[FILTER_WHY_LEN];
	int err = -ENOMEM;

	/* Only once: after the start, its names cannot be resolved (sandbox.c). */
	if (f->filter && f->filter_linktype == f->link.linktype)
		return 0;
	f->filter = f->filter ?: empty_filter();
	snprintf(why, sizeof(why), "no memory for a filter");
	if (f->filter)
		err = make_filter(t, i, why, sizeof(why));
	if (err && err != f->told)
		log_line("%s: %s", f->name, why);
	f->told = err;
	f->filter_linktype = err ? -1 : f->link.linktype;
	return err;
}

/* Locks all interfaces, or none. */
static int attach_all(struct tap *t)
{
	for (unsigned int i = 0; i < t->count; i++) {
		int err = t->ops->attach(t, i, false);

		if (err)
			return err;
		t->interfaces[i].ifindex = t->interfaces[i].link.ifindex;
		t->interfaces[i].was_up = t->interfaces[i].link.up;
		t->interfaces[i].had_carrier = t->interfaces[i].link.carrier;
	}
	return 0;
}

static void unlock_all(struct lock *locks)
{
	for (unsigned int i = 0; i < TAP_LOCKS; i++)
		lock_release(&locks[i]);
}

/* Whether packet sockets, which do not exclude each other, can do what was asked for. */
static bool may_share(const struct capture_options *o)
{
	const unsigned int alone = GIVEN_CHANNEL | GIVEN_MONITOR | GIVEN_CONSUME | GIVEN_RING;

	return o->shares && !(o->given & alone) &&
	       (o->source == SOURCE_AUTO || o->source == SOURCE_MMAP);
}

/* Locks an interface, or chooses packet sockets for all if another saluki captures there. */
static int lock_interface(struct lock *l, struct capture_options *o, unsigned int i)
{
	int err;

	if (may_share(o))
		err = lock_share(l, o->interfaces[i],
				 "packet sockets are used, which capture beside it");
	else
		err = lock_take(l, o->interfaces[i], "");
	if (l->is_shared)
		o->source = SOURCE_MMAP;
	if (err == -EWOULDBLOCK && o->shares)
		log_line("%s: or leave out --source, --ring, --channel, --monitor and --consume: "
			 "packet sockets can capture beside it",
			 o->interfaces[i]);
	return err;
}

/* Locks all interfaces and the sampled radios, or none. */
static int lock_all(struct lock *locks, struct capture_options *o,
		    const struct interface_state *links)
{
	int err = 0;

	for (unsigned int i = 0; i < TAP_LOCKS; i++)
		lock_zero(&locks[i]);
	lock_sweep();
	for (unsigned int i = 0; !err && i < o->count; i++)
		err = lock_interface(&locks[i], o, i);
	err = err ?: radio_lock(o, links, locks + INTERFACES_MAX);
	if (err)
		unlock_all(locks);
	return err;
}

/* Whether the error is about an interface or its filter, not about the kind of tap. */
static bool told(const struct tap *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		if (t->interfaces[i].told)
			return true;
	return false;
}

static void free_kind(struct tap *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		free(t->interfaces[i].filter);
	t->ops->free(t);
}

/* Whether the process has one of the rights that the kinds of SOURCE_AUTO need. */
static bool is_permitted(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = { 0 };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), err = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return err != EPERM || syscall(SYS_capget, &head, have) ||
	       have[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN) ||
	       have[CAP_TO_INDEX(CAP_BPF)].effective & CAP_TO_MASK(CAP_BPF);
}

/* If the kernel refuses one kind, it may allow another. For other errors another kind does not
 * help. */
static struct tap *open_best(const struct capture_options *o)
{
	bool own_fault = false;

	if (o->source == SOURCE_AUTO && !o->persistent && !is_permitted()) {
		log_line("%s: not permitted; run as root, or with CAP_NET_RAW, or with CAP_BPF, "
			 "CAP_NET_ADMIN and CAP_PERFMON",
			 o->interfaces[0]);
		return NULL;
	}
	for (size_t i = 0; !own_fault && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct tap *t;

		if (!(kinds[i].choices & 1u << o->source))
			continue;
		errno = 0;
		t = kinds[i].new(o);
		if (t && attach_all(t) == 0)
			return t;
		own_fault = t ? t->stays || told(t) : errno == EEXIST || errno == EWOULDBLOCK;
		if (t)
			free_kind(t);
	}
	return NULL;
}

static void say_unlocked(const struct tap *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		if (t->locks[i].fd < 0 && !t->locks[i].is_shared && !t->ops->pinned)
			log_line("%s: not locked against a second saluki: %s cannot be made",
				 t->interfaces[i].name, t->locks[i].path);
}

/* Its own socket: a kind's sockets may be none, or be closed and opened again. */
static void open_promiscuous(struct tap *t)
{
	if (!t->o->promiscuous)
		return;
	t->promiscuous = promiscuous_open();
	if (t->promiscuous < 0)
		log_line("cannot open a packet socket for promiscuous mode: %s; frames to other "
			 "machines may be missing",
			 strerror(-t->promiscuous));
	for (unsigned int i = 0; i < t->count; i++)
		tap_promiscuous(t, i);
}

void tap_promiscuous(const struct tap *t, unsigned int i)
{
	const struct tap_interface *f = &t->interfaces[i];
	int err = 0;

	if (t->promiscuous >= 0 && f->link.arphrd == SALUKI_ARPHRD_ETHER)
		err = promiscuous_set(t->promiscuous, f->link.ifindex);
	if (err)
		log_line("%s: cannot be set to promiscuous mode: %s; -p does without", f->name,
			 strerror(-err));
}

static void close_radios(struct radio **radios, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		radio_close(radios[i]);
}

/* Interfaces attached together earlier keep their order, which may differ from that of the -i
 * (tap_bpf.c).
 */
static void give_radios(struct tap *t, const struct capture_options *o, struct radio **radios,
			const struct radio_channel *channels)
{
	for (unsigned int i = 0; i < t->count; i++) {
		struct tap_interface *f = &t->interfaces[i];

		f->given = 0;
		while (strcmp(o->interfaces[f->given], f->name))
			f->given++;
		f->channel = channels[f->given];
		if (radios[f->given])
			f->sampled = o->steered || !o->channels[f->given].mhz ? TAP_SAMPLED_ANY
									      : TAP_SAMPLED_ONE;
		f->tuned = f->channel.mhz; /* tap_tune_all */
		t->radios[i] = radios[f->given];
	}
}

struct tap *tap_open(const struct capture_options *asked)
{
	struct capture_options own = *asked, *o = &own;
	struct lock locks[TAP_LOCKS];
	struct interface_state links[INTERFACES_MAX];
	struct radio *radios[INTERFACES_MAX] = { NULL };
	struct radio_channel channels[INTERFACES_MAX];
	struct tap *t;

	/* Checked first: it is the likeliest mistake, and must not look like a missing right. */
	for (unsigned int i = 0; i < o->count; i++) {
		if (interface_state_query(o->interfaces[i], &links[i]) == 0 &&
		    links[i].ifindex == 0) {
			log_line("%s: no such interface; 'ip link' lists them", o->interfaces[i]);
			return NULL;
		}
	}
	if (lock_all(locks, o, links))
		return NULL;
	t = tap_tune_all(o, links, radios, channels) ? NULL : open_best(o);
	if (!t) {
		close_radios(radios, o->count);
		unlock_all(locks);
		return NULL;
	}
	memcpy(t->locks, locks, sizeof(locks));
	give_radios(t, o, radios, channels);
	open_promiscuous(t);
	say_unlocked(t);
	return t;
}

void tap_close(struct tap *t)
{
	struct lock locks[TAP_LOCKS];
	unsigned int count;

	if (!t)
		return;
	count = t->count;
	close_radios(t->radios, count);
	if (t->promiscuous >= 0)
		close(t->promiscuous);
	memcpy(locks, t->locks, sizeof(locks));
	free_kind(t);
	unlock_all(locks);
}

bool tap_is_sampled(const struct tap *t)
{
	for (unsigned int i = 0; t && i < t->count; i++)
		if (t->interfaces[i].sampled)
			return true;
	return false;
}

static char link_letter(const struct tap_interface *f)
{
	if (!f->source)
		return INFO_LINK_ABSENT;
	if (!f->was_up)
		return INFO_LINK_DOWN;
	return f->had_carrier ? INFO_LINK_UP : INFO_LINK_NO_CARRIER;
}

void tap_describe(const struct tap_interface *f, struct handover_interface *h)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->name, sizeof(h->name), "%.63s", f->name);
	snprintf(h->source, sizeof(h->source), "%s", f->source ? f->source : "");
	h->given = f->given;
	h->linktype = f->link.linktype;
	h->keep_headers = f->keep_headers;
	h->link = link_letter(f);
	if (f->tuned)
		h->channel = f->channel;
	if (f->filter && f->filter->len)
		snprintf(h->filter, sizeof(h->filter), "%.255s", f->filter->text);
}

static const char *linktype_name(int linktype)
{
	switch (linktype) {
	case LINKTYPE_ETHERNET:
		return "EN10MB (Ethernet)";
	case LINKTYPE_IEEE802_11:
		return "IEEE802_11 (802.11)";
	case LINKTYPE_PRISM:
		return "PRISM_HEADER (802.11 plus Prism header)";
	default:
		return "IEEE802_11_RADIO (802.11 plus radiotap header)";
	}
}

void tap_say(const struct tap *t, unsigned int i, const char *verb)
{
	const struct tap_interface *f = &t->interfaces[i];
	char channel[CHANNEL_TEXT_LEN];

	log_info("%s: %s by %s, link type %s, snaplen %u, keep %s, %s", f->name, verb, f->source,
		 linktype_name(f->link.linktype), t->o->snaplen,
		 f->keep_headers ? "headers" : "all", t->ring);
	if (f->filter && f->filter->len)
		log_info("%s: filter '%.200s', %u instruction%s", f->name, f->filter->text,
			 f->filter->len, PLURAL(f->filter->len));
	channel_text(channel, &f->channel);
	if (f->tuned)
		log_info("%s: channel %s", f->name, channel);
	if (!f->link.up)
		log_line("%s: is down; waiting for it", f->name);
	else if (!f->link.carrier)
		log_line("%s: has no carrier: no cable, or nothing at its other end", f->name);
}
