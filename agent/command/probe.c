// SPDX-License-Identifier: GPL-2.0
/*
 * saluki probe: tries what this kernel and an interface support. Prints one line per feature, or
 * JSON. Attached programs are detached at once.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <saluki/record.h>

#include "agent/programs/program.h"
#include "agent/tap/adopt.h"
#include "agent/tap/attach.h"
#include "agent/options/subcommands.h"
#include "common/log.h"
#include "common/options.h"
#include "json.h"
#include "agent/tap/maps.h"

enum { OPT_JSON = 256 };

const struct option_def probe_defs[] = {
	{ 'i', "interface", "IF", "try the capture hooks on this interface too" },
	{ OPT_JSON, "json", NULL, "as JSON" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* The results, in order. */
static struct {
	struct utsname kernel;
	const char *interface; /* NULL: not given, or absent */
	struct interface_state link;
	unsigned int count;
	struct {
		const char *key, *name;
		int err;
	} features[24];
} found;

static void note(const char *key, const char *name, int err)
{
	found.features[found.count].key = key;
	found.features[found.count].name = name;
	found.features[found.count++].err = err;
}

/* Explains why feature `i` is missing. Sockets need another right than programs. */
static const char *reason(unsigned int i)
{
	int err = found.features[i].err;

	if (!strcmp(found.features[i].key, "packet_sockets") && (err == -EPERM || err == -EACCES))
		return "not permitted; run as root, or with CAP_NET_RAW";
	return program_reason(err);
}

static int packet_supported(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int xsk_supported(void)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void probe_kernel(void)
{
	int ring = maps_ring_supported();

	uname(&found.kernel);
	note("packet_sockets", "packet sockets (mmap)", packet_supported());
	note("btf", "BTF (not needed)", access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0);
	/* libbpf's probes cannot tell "not permitted" from "not supported". */
	if (ring == -EPERM) {
		note("bpf", "BPF", ring);
		return;
	}
	note("xdp_programs", "BPF programs, XDP",
	     libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) == 1 ? 0 : -EINVAL);
	note("tc_programs", "BPF programs, tc",
	     libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SCHED_CLS, NULL) == 1 ? 0 : -EINVAL);
	note("ring_buffer", "BPF ring buffer", ring);
	note("mapped_ring", "mapped ring", maps_mapped_supported());
	note("xdp_load_bytes", "bpf_xdp_load_bytes",
	     libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_xdp_load_bytes, NULL) == 1
		     ? 0
		     : -EINVAL);
	note("xsk", "AF_XDP (xsk)", xsk_supported());
}

/* ---- what it prints -------------------------------------------------------------------------- */

static void print_text(void)
{
	const struct interface_state *link = &found.link;

	printf("%-24s %s %s\n", "kernel", found.kernel.release, found.kernel.machine);
	if (found.interface)
		printf("%-24s %s, ARPHRD %d, LINKTYPE %d, MTU %u, %s\n", "interface",
		       found.interface, link->arphrd, link->linktype, link->mtu,
		       link->up ? "up" : "down");
	for (unsigned int i = 0; i < found.count; i++) {
		int err = found.features[i].err;

		printf("%-24s %s%s%s\n", found.features[i].name, err ? "no" : "yes",
		       err ? "   " : "", err ? reason(i) : "");
	}
}

static void print_json(void)
{
	const struct interface_state *link = &found.link;

	printf("{\"kernel\": \"%s\", \"machine\": \"%s\",\n", found.kernel.release,
	       found.kernel.machine);
	if (found.interface) {
		printf(" \"interface\": {");
		json_string("name", found.interface, IFNAMSIZ);
		printf("\"arphrd\": %d, \"linktype\": %d, \"mtu\": %u, \"up\": %s},\n",
		       link->arphrd, link->linktype, link->mtu, link->up ? "true" : "false");
	}
	printf(" \"features\": {");
	for (unsigned int i = 0; i < found.count; i++) {
		int err = found.features[i].err;

		printf("%s\n  \"%s\": {", i ? "," : "", found.features[i].key);
		if (err)
			json_string("reason", reason(i), 256);
		printf("\"supported\": %s}", err ? "false" : "true");
	}
	printf("}}\n");
}

/* ---- an interface ---------------------------------------------------------------------------- */

/* Returns 0 if at least one hook accepts the program. */
static int probe_hooks(struct attach *a)
{
	static const char *const keys[] = { "xdp_native", "xdp_generic", "tc" };
	int best = -EOPNOTSUPP, err;

	for (enum attach_hook hook = 0; hook < ATTACH_HOOKS; hook++) {
		err = attach_hook(a, hook);
		note(keys[hook], attach_hook_name(hook), err);
		best = best ? err : 0;
		attach_detach(a);
	}
	return best;
}

/* The lock keeps others away meanwhile. Attached programs of Saluki are left alone. */
static int probe_attach(struct attach *a, const struct maps *maps, struct tap_interface *interface)
{
	struct saluki_config c = { .layout = SALUKI_LAYOUT, .cpus = maps->cpus, .count = 1 };
	struct lock lock;
	int err, fd;

	lock_zero(&lock);
	err = lock_take(&lock, interface->name, "");
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
	const struct interface_state *link = &t.interfaces[0].link;
	struct attach a;
	struct maps maps;
	int err;

	tap_init(&t, NULL, &o);
	err = tap_query(&t, 0);
	if (err)
		return err;
	found.interface = interface;
	found.link = *link;
	note("xdp_vlan", "VLAN tags seen by XDP", link->strips_vlan ? -EXDEV : 0);
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
	bool json = false;
	int id, status;

	while ((id = options_next(probe_defs, argc, argv)) != -1) {
		if (id == 'h') {
			printf("Usage: saluki probe [-i IF] [--json]\n\n"
			       "Tests what this kernel and an interface support.\n\n");
			options_print(stdout, probe_defs);
			return 0;
		}
		if (id == OPT_JSON)
			json = true;
		else if (id == 'i')
			interface = optarg;
		else
			return EXIT_USAGE;
	}
	if (optind < argc) {
		log_line("probe: %s: takes no arguments; see 'saluki probe --help'", argv[optind]);
		return EXIT_USAGE;
	}
	libbpf_set_print(NULL);
	probe_kernel();
	status = interface && probe_interface(interface) ? 1 : 0;
	if (json)
		print_json();
	else
		print_text();
	return status;
}
