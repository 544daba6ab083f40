// SPDX-License-Identifier: GPL-2.0
/*
 * saluki probe: what this kernel and an interface can do, found by trying. A line a feature on
 * standard output. What is attached is taken off again at once.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <saluki/options.h>
#include <saluki/record.h>

#include "adopt.h"
#include "attach.h"
#include "maps.h"
#include "commands.h"

const struct option_def probe_defs[] = {
	{ 'i', "interface", "IF", "try the capture hooks on this interface too" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void say(const char *feature, int err)
{
	printf("%-24s %s%s%s\n", feature, err ? "no" : "yes", err ? "   " : "",
	       err ? attach_reason(err) : "");
}

static void probe_kernel(void)
{
	int ring = maps_ring_supported();
	struct utsname u;

	uname(&u);
	printf("%-24s %s %s\n", "kernel", u.release, u.machine);
	say("BTF (not needed)", access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0);
	/* libbpf's probes cannot tell "not permitted" from "not there". */
	if (ring == -EPERM) {
		say("BPF", ring);
		return;
	}
	say("BPF programs, XDP",
	    libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) == 1 ? 0 : -EINVAL);
	say("BPF programs, tc",
	    libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SCHED_CLS, NULL) == 1 ? 0 : -EINVAL);
	say("BPF ring buffer", ring);
	say("mapped ring", maps_mapped_supported());
	say("bpf_xdp_load_bytes",
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_xdp_load_bytes, NULL) == 1
		    ? 0
		    : -EINVAL);
}

/* Returns 0 where at least one hook takes the program. */
static int probe_hooks(struct attach *a)
{
	int best = -EOPNOTSUPP, err;

	for (enum attach_hook hook = 0; hook < ATTACH_HOOKS; hook++) {
		err = attach_hook(a, hook);
		say(attach_hook_name(hook), err);
		best = best ? err : 0;
		attach_detach(a);
	}
	return best;
}

/* The lock keeps others away meanwhile; what is attached by us already is left alone. */
static int probe_attach(struct attach *a, const struct maps *maps, struct tap_interface *interface)
{
	struct saluki_config c = { .layout = SALUKI_LAYOUT, .cpus = maps->cpus, .count = 1 };
	struct lock lock;
	int err, fd;

	lock_zero(&lock);
	err = lock_take(&lock, interface->name);
	err = err ?: pin_take(&a->pin, interface->name);
	if (err)
		goto out;
	err = adopt_config(interface->name, &a->pin, &c, &fd);
	if (err == 1) {
		close(fd);
		log_line("%s: is attached by %s; 'saluki status' shows it", interface->name,
			 c.source);
		err = -EBUSY;
	}
	if (err)
		goto out;
	err = attach_init(a, maps, interface, &c);
	err = err ?: probe_hooks(a);
	pin_clear(&a->pin);
out:
	lock_release(&lock);
	return err;
}

static int probe_interface(const char *interface)
{
	const struct capture_options o = {
		.interfaces = { interface },
		.count = 1,
		.snaplen = SALUKI_SNAPLEN_DEFAULT,
		.ring_size = 256 * 1024,
		.direction = DIRECTION_INOUT,
	};
	struct tap t = { 0 };
	const struct link_state *link = &t.interfaces[0].link;
	struct attach a;
	struct maps maps;
	int err;

	tap_init(&t, NULL, &o);
	err = tap_query(&t, 0);
	if (err)
		return err;
	printf("%-24s %s, ARPHRD %d, LINKTYPE %d, MTU %u, %s\n", "interface", interface,
	       link->arphrd, link->linktype, link->mtu, link->up ? "up" : "down");
	say("VLAN tags seen by XDP", link->strips_vlan ? -EXDEV : 0);
	attach_zero(&a);
	a.o = &o;
	err = maps_init(&maps, &o);
	err = err ?: probe_attach(&a, &maps, &t.interfaces[0]);
	attach_free(&a);
	maps_free(&maps);
	return err;
}

int probe_main(int argc, char **argv)
{
	const char *interface = NULL;
	int id;

	while ((id = options_next(probe_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki probe [-i IF]\n\n"
			       "Says what this kernel and an interface can do, found by "
			       "trying.\n\n");
			options_print(stdout, probe_defs);
			return 0;
		}
		if (id != 'i')
			return EXIT_USAGE;
		interface = optarg;
	}
	if (optind < argc) {
		log_line("probe: %s: takes no arguments; see 'saluki probe --help'", argv[optind]);
		return EXIT_USAGE;
	}
	libbpf_set_print(NULL);
	probe_kernel();
	return interface && probe_interface(interface) ? 1 : 0;
}
