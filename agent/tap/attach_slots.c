// SPDX-License-Identifier: GPL-2.0
/* Attach, slots: see attach_slots.h. */
#include "attach_slots.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include <saluki/slots.h>

#include "common/log.h"

static const char *const pins[] = { "slots_xdp", "slots_tc" };

static bool has_modules(int fd)
{
	__u32 place = SALUKI_SLOT_RUN, id;

	return fd >= 0 && bpf_map_lookup_elem(fd, &place, &id) == 0;
}

static void say_gone(const struct attach *a)
{
	pin_clear_modules(&a->pin);
	log_line("%s: its modules are gone: they were loaded for another link type or hook; "
		 "'saluki module load' checks them anew",
		 a->interface->name);
}

static void close_table(struct attach *a, bool tc)
{
	if (a->slots_fd[tc] >= 0)
		close(a->slots_fd[tc]);
	a->slots_fd[tc] = -1;
}

void attach_slots_adopt(struct attach *a)
{
	for (int i = 0; i < 2; i++)
		a->slots_fd[i] = pin_get(&a->pin, pins[i]);
}

/* The kernel empties a program table without a pin or an open descriptor. */
int attach_slots_renew(struct attach *a, bool tc, int fd)
{
	bool had = has_modules(a->slots_fd[tc]);
	int ours = dup(fd);
	int err = ours < 0 ? -errno : a->pin.dir < 0 ? 0 : pin_put(&a->pin, pins[tc], fd);

	if (err) {
		if (ours >= 0)
			close(ours);
		return err;
	}
	close_table(a, tc);
	a->slots_fd[tc] = ours;
	if (had)
		say_gone(a);
	return 0;
}

void attach_slots_drop(struct attach *a, bool tc)
{
	bool had = has_modules(a->slots_fd[tc]);

	pin_remove(&a->pin, pins[tc]);
	close_table(a, tc);
	if (had)
		say_gone(a);
}

void attach_slots_close(struct attach *a)
{
	close_table(a, false);
	close_table(a, true);
}
