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

#include "attach.h"
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
	int ring = attach_ring_supported();
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
	say("mapped ring", attach_mapped_supported());
	say("bpf_xdp_load_bytes",
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_xdp_load_bytes, NULL) == 1
		    ? 0
		    : -EINVAL);
}

/* Returns 0 where at least one hook takes the program. */
static int probe_interface(const char *interface)
{
	struct run_options o = {
		.snaplen = SALUKI_SNAPLEN_DEFAULT,
		.ring_size = 256 * 1024,
		.direction = DIRECTION_INOUT,
	};
	struct attach a;
	int best = -EOPNOTSUPP, err;

	if (attach_init(&a, &o, interface))
		return -EPERM;
	link_query(interface, &a.link);
	if (a.link.ifindex && attach_pin(&a)) { /* it would lose its filters to us */
		attach_free(&a);
		return -EBUSY;
	}
	if (a.link.ifindex == 0) {
		log_line("%s: no such interface; 'ip link' lists them", interface);
		attach_free(&a);
		return -ENODEV;
	}
	printf("%-24s %s, ARPHRD %d, LINKTYPE %d, MTU %u, %s\n", "interface", interface,
	       a.link.arphrd, a.link.linktype, a.link.mtu, a.link.up ? "up" : "down");
	for (enum attach_hook hook = ATTACH_XDP_NATIVE; hook <= ATTACH_TC; hook++) {
		err = attach_hook(&a, hook);
		say(attach_hook_name(hook), err);
		best = best ? err : 0;
		attach_detach(&a);
	}
	attach_free(&a);
	return best;
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
