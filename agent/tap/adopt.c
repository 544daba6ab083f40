// SPDX-License-Identifier: GPL-2.0
/* Adopt: see adopt.h. */
#include "adopt.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saluki/record.h>

#include "common/log.h"
#include "common/version.h"
#include "hook.h"
#include "agent/interface/lock.h"

/* Whether a config is plausible: its values are used as sizes and as text. */
static bool config_possible(const struct saluki_config *c)
{
	return memchr(c->version, 0, sizeof(c->version)) &&
	       memchr(c->interface, 0, sizeof(c->interface)) &&
	       memchr(c->source, 0, sizeof(c->source)) && c->snaplen >= SALUKI_SNAPLEN_MIN &&
	       c->snaplen <= c->snaplen_max && c->snaplen_max <= SALUKI_SNAPLEN_MAX &&
	       c->keep <= KEEP_ALL && c->bad_fcs <= BAD_FCS_DROP &&
	       c->direction <= DIRECTION_INOUT && c->number < c->count &&
	       c->count <= INTERFACES_MAX && !(c->ring_size & (c->ring_size - 1));
}

/* A config of another layout may be larger. Reads it completely, and uses only its first two
 * fields. */
int config_read(int fd, struct saluki_config *c)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info), zero = 0;
	void *value;
	int err;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	value = calloc(1, info.value_size > sizeof(*c) ? info.value_size : sizeof(*c));
	if (!value)
		return -ENOMEM;
	err = bpf_map_lookup_elem(fd, &zero, value) ? -errno : 0;
	memcpy(c, value, sizeof(*c));
	free(value);
	if (!err && (c->layout != SALUKI_LAYOUT || info.value_size != sizeof(*c)))
		err = -EPROTO;
	if (!err && !config_possible(c))
		err = -EBADMSG;
	return err;
}

int adopt_config(const char *interface, const struct pin *p, struct saluki_config *c, int *fd)
{
	int err;

	*fd = pin_get(p, "config");
	if (*fd == -ENOENT)
		return 0;
	err = *fd < 0 ? *fd : config_read(*fd, c);
	if (!err)
		return 1;
	if (err == -EPROTO)
		log_line("%s: what is attached there is of saluki %.16s with layout %u, this is %s "
			 "with layout %u; end it with 'saluki detach -i %s', or use that version",
			 interface, c->version, c->layout, SALUKI_VERSION, SALUKI_LAYOUT,
			 interface);
	else
		log_line("%s: cannot read what is pinned in %s: %s; 'saluki detach -i %s' removes "
			 "it",
			 interface, p->path, err == -EBADMSG ? "no config of ours" : strerror(-err),
			 interface);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return err;
}

int adopt_namespace(const char *interface, const struct pin *p, const struct saluki_config *c)
{
	/* If the other interface is gone, its pins may be replaced. */
	if (!c->netns || c->netns == lock_namespace() || !hooks_alive(p))
		return 0;
	log_line(
		"%s: %s is of an interface in another network namespace (%u), which has this bpffs "
		"too; give one of them a bpffs of its own, or another name",
		interface, p->path, c->netns);
	return -EINVAL;
}

int adopt_group(const struct capture_options *o, const struct saluki_config *configs)
{
	unsigned int numbers = 0;

	for (unsigned int i = 0; i < o->count; i++) {
		if (configs[i].group != configs[0].group || configs[i].number >= configs[i].count) {
			log_line(
				"%s and %s are attached, but not together; 'saluki detach' one, or "
				"run one saluki each",
				o->interfaces[0], o->interfaces[i]);
			return -EINVAL;
		}
		numbers |= 1u << configs[i].number;
	}
	if (configs[0].count != o->count || numbers != (1u << o->count) - 1) {
		log_line(
			"%s: is attached together with others, %u in all; give -i for each of them "
			"('saluki status' lists them)",
			o->interfaces[0], configs[0].count);
		return -EINVAL;
	}
	return 0;
}

static const char *ring_differs(const struct capture_options *o, const struct saluki_config *c)
{
	if (o->ring != RING_AUTO && o->ring != (c->mapped ? RING_MAPPED : RING_BPF))
		return "--ring";
	return o->given & GIVEN_RING_SIZE && o->ring_size != c->ring_size ? "-B" : NULL;
}

int adopt_ring(const struct capture_options *o, const struct saluki_config *c)
{
	const char *differs = ring_differs(o, c);

	if (!differs)
		return 0;
	log_line("%s: is attached with another %s, and frames may wait in its ring; leave it out, "
		 "or "
		 "'saluki detach' first",
		 o->interfaces[0], differs);
	return -EINVAL;
}

int adopt_options(struct capture_options *o, const struct saluki_config *c)
{
	const char *differs = ring_differs(o, c);

	if (o->given & GIVEN_SNAPLEN && o->snaplen != c->snaplen)
		differs = "-s";
	else if (o->given & GIVEN_KEEP && o->keep != c->keep)
		differs = "--keep";
	else if (o->given & GIVEN_BAD_FCS && o->bad_fcs != c->bad_fcs)
		differs = "--bad-fcs";
	else if (o->given & GIVEN_SOURCE && o->source != c->choice)
		differs = "--source";
	else if (o->given & GIVEN_DIRECTION && o->direction != c->direction)
		differs = "-Q";
	else if (o->given & GIVEN_CONSUME && !c->consume)
		differs = "--consume";
	if (differs) {
		log_line(
			"%s: was attached with another %s; leave it out, or change it with 'saluki "
			"attach'",
			o->interfaces[0], differs);
		return -EINVAL;
	}
	o->snaplen = c->snaplen;
	o->keep = c->keep;
	o->bad_fcs = c->bad_fcs;
	o->source = c->choice;
	o->direction = c->direction;
	o->consume = c->consume;
	o->persistent = true;
	return 0;
}
