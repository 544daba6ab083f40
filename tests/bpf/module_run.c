// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a module on a capture file's frames, each at its time in the file, in the kernel but without
 * an interface: hours of traffic take seconds, and the same file gives the same events. In: a
 * module's object and a capture. Out: its events as the collector writes them, one line of JSON
 * each, then the requested maps, as {"map": NAME, "values": [HEX, ...]}, one value per entry
 * (per-CPU maps: all CPUs' values; hashes: the key first).
 *
 *     module_run [--out MAC] [--sensor NAME] [--map NAME]... [--fill "MAP KEY VALUE"]... MODULE.o
 * FILE
 *
 * --fill puts an entry into a map first, both as hexadecimal digits, as `saluki module fill` does.
 * Frames from MAC are outgoing, all others incoming. The view is filled as by bpf/view.h, with
 * everything shown except the label, which is 0.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <saluki/linktype.h>

#include "agent/module/shim.h"
#include "agent/module/splice.h"
#include "common/pcap_read.h"
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* clang's, for BPF */
#include "bpf/view.h"

#define MAPS_MAX 8

static struct {
	const char *sensor, *maps[MAPS_MAX], *fills[MAPS_MAX];
	unsigned int map_count, fill_count;
	uint8_t out[6];
	bool has_out;
	char name[MODULE_NAME_MAX + 1];
} options = { .sensor = "test" };

static struct bpf_object *object;
static int program_fd, view_fd, cpus;
static struct frame_view *views; /* per CPU: only the present CPU's counts */

static void fail(const char *what, int err)
{
	fprintf(stderr, "module_run: %s: %s\n", what, strerror(err));
	exit(1);
}

/* ---- the module ------------------------------------------------------------------------------ */

static void add(struct bpf_linker *linker, const uint8_t *data, size_t len)
{
	int fd = memfd_create("shim", 0), err;
	char path[64];

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		fail("shim", errno);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = bpf_linker__add_file(linker, path, NULL);
	if (err)
		fail("shim", -err);
	close(fd);
}

static struct bpf_object *link_and_open(const char *path)
{
	struct module_shim shim = module_shim(MODULE_XDP);
	char linked[] = "/tmp/module_run.XXXXXX";
	int fd = mkstemp(linked), err;
	struct bpf_linker *linker;
	struct bpf_object *o;

	if (fd < 0)
		fail(linked, errno);
	linker = bpf_linker__new(linked, NULL);
	if (!linker)
		fail(linked, errno);
	add(linker, shim.data, shim.len);
	err = bpf_linker__add_file(linker, path, NULL) ?: bpf_linker__finalize(linker);
	bpf_linker__free(linker);
	o = err ? NULL : bpf_object__open(linked);
	unlink(linked);
	close(fd);
	if (!o)
		fail(path, err ? -err : errno);
	return o;
}

static void load(const char *path)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = splice_module);
	struct bpf_program *prog;
	cpu_set_t one;
	int err;

	err = libbpf_register_prog_handler(module_shim(MODULE_XDP).section, BPF_PROG_TYPE_XDP,
					   BPF_XDP, &opts);
	if (err < 0)
		fail("handler", -err);
	object = link_and_open(path);
	prog = bpf_object__next_program(object, NULL);
	err = bpf_object__load(object);
	if (err)
		fail(path, -err);
	program_fd = bpf_program__fd(prog);
	view_fd = bpf_object__find_map_fd_by_name(object, "saluki_view");
	cpus = libbpf_num_possible_cpus();
	views = calloc(cpus, sizeof(*views));
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (!views || sched_setaffinity(0, sizeof(one), &one))
		fail("CPU", errno);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void fill(struct frame_view *v, const struct pcap_frame *f)
{
	struct frame bytes = { .data = f->data,
			       .end = f->data + f->cap_len,
			       .orig_len = f->orig_len };
	struct view_walk w = { .v = v, .f = &bytes };

	memset(v, 0, sizeof(*v));
	v->time_ns = f->time_ns;
	v->frame_len = f->orig_len;
	v->linktype = f->linktype;
	v->direction =
		options.has_out && f->cap_len >= 12 && !memcmp(f->data + 6, options.out, 6) ? 2 : 1;
	view_fill(&w, f->linktype);
	if (w.ssid && v->ssid_len && w.ssid + v->ssid_len <= f->cap_len)
		memcpy(v->ssid, f->data + w.ssid, v->ssid_len);
	if (w.payload && w.payload < f->cap_len && v->payload_len) {
		v->payload_seen = parse_min(parse_min(v->payload_len, f->cap_len - w.payload),
					    MODULE_PAYLOAD_MAX);
		v->has |= VIEW_PAYLOAD;
		memcpy(v->payload, f->data + w.payload, v->payload_seen);
	}
}

static void print_hex(const uint8_t *data, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++)
		printf("%02x", data[i]);
	putchar('"');
}

static void print_event(const struct frame_view *v)
{
	printf("{\"sensor\": \"%s\", \"interface\": \"test0\", \"module\": \"%s\", \"serial\": 1, "
	       "\"time_ns\": %" PRIu64 ", \"direction\": \"%s\", \"data\": ",
	       options.sensor, options.name, (uint64_t)v->time_ns,
	       v->direction == 2 ? "out" : "in");
	print_hex(v->event, v->event_len);
	printf("}\n");
}

/* Gives it a view and takes its events, as bpf/modules.bpf.c does. */
static void run(const struct pcap_frame *f)
{
	uint8_t packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));
	uint32_t zero = 0;
	uint64_t time_ns;

	fill(&views[0], f);
	time_ns = views[0].time_ns;
	for (int i = 1; i < cpus; i++)
		views[i] = views[0];
	if (bpf_map_update_elem(view_fd, &zero, views, BPF_ANY) ||
	    bpf_prog_test_run_opts(program_fd, &opts) || bpf_map_lookup_elem(view_fd, &zero, views))
		fail("a frame", errno);
	for (int i = 0; i < cpus; i++) {
		if (!views[i].event_len)
			continue;
		views[i].time_ns = time_ns;
		views[i].direction = views[0].direction;
		print_event(&views[i]);
	}
}

static void run_all(const char *path)
{
	struct pcap_reader r;
	struct pcap_frame f;
	int err = pcap_open(&r, open(path, O_RDONLY | O_CLOEXEC));

	while (!err && (err = pcap_next(&r, &f)) == 1) {
		run(&f);
		err = 0;
	}
	if (err) {
		fprintf(stderr, "module_run: %s: %s\n", path, r.why ?: strerror(-err));
		exit(1);
	}
	pcap_close(&r);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static void print_hash(struct bpf_map *map)
{
	size_t key_len = bpf_map__key_size(map), value_len = bpf_map__value_size(map);
	uint8_t *entry = calloc(2, key_len + value_len), *last = NULL;
	const char *before = "";

	while (entry && !bpf_map_get_next_key(bpf_map__fd(map), last, entry)) {
		last = entry + key_len + value_len;
		memcpy(last, entry, key_len);
		if (bpf_map_lookup_elem(bpf_map__fd(map), entry, entry + key_len))
			fail(bpf_map__name(map), errno);
		printf("%s", before);
		print_hex(entry, key_len + value_len);
		before = ", ";
	}
	printf("]}\n");
	free(entry);
}

static void print_map(const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	bool each_cpu = map && bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;
	size_t len = map ? bpf_map__value_size(map) : 0;
	uint8_t *value;

	if (!map)
		fail(name, ENOENT);
	len = each_cpu ? (len + 7) / 8 * 8 * cpus : len;
	printf("{\"map\": \"%s\", \"values\": [", name);
	if (bpf_map__type(map) == BPF_MAP_TYPE_HASH ||
	    bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH) {
		print_hash(map);
		return;
	}
	value = calloc(1, len);
	for (uint32_t i = 0; i < bpf_map__max_entries(map); i++) {
		if (!value || bpf_map_lookup_elem(bpf_map__fd(map), &i, value))
			fail(name, errno);
		printf("%s", i ? ", " : "");
		print_hex(value, len);
	}
	printf("]}\n");
	free(value);
}

static uint8_t *bytes_of(const char *digits, size_t len)
{
	uint8_t *bytes = calloc(1, len + 1);

	for (size_t i = 0; bytes && i < len; i++)
		if (sscanf(digits + 2 * i, "%2" SCNx8, &bytes[i]) != 1)
			fail("--fill: digits", EINVAL);
	return bytes;
}

static void fill_map(const char *entry)
{
	char *text = strdup(entry), *name = strtok(text, " "), *key = strtok(NULL, " "),
	     *value = strtok(NULL, " \n");
	struct bpf_map *map = name ? bpf_object__find_map_by_name(object, name) : NULL;
	uint8_t *k, *v;

	if (!map || !key || !value || strlen(key) != 2 * bpf_map__key_size(map) ||
	    strlen(value) != 2 * bpf_map__value_size(map))
		fail("--fill: map or lengths", EINVAL);
	k = bytes_of(key, bpf_map__key_size(map));
	v = bytes_of(value, bpf_map__value_size(map));
	if (!k || !v || bpf_map_update_elem(bpf_map__fd(map), k, v, BPF_ANY))
		fail(name, errno);
	free(k);
	free(v);
	free(text);
}

/* ---------------------------------------------------------------------------------------------- */

static void usage(void)
{
	fprintf(stderr, "Usage: module_run [--out MAC] [--sensor NAME] [--map NAME]... [--fill "
			"\"MAP KEY VALUE\"]... MODULE.o FILE\n");
	exit(2);
}

static void read_options(int argc, char **argv)
{
	static const struct option defs[] = { { "out", 1, NULL, 'o' },
					      { "sensor", 1, NULL, 's' },
					      { "map", 1, NULL, 'm' },
					      { "fill", 1, NULL, 'f' },
					      { 0 } };
	uint8_t *o = options.out;
	const char *base;

	for (int c; (c = getopt_long(argc, argv, "", defs, NULL)) != -1;) {
		if (c == 'o')
			options.has_out = sscanf(optarg,
						 "%" SCNx8 ":%" SCNx8 ":%" SCNx8 ":%" SCNx8
						 ":%" SCNx8 ":%" SCNx8,
						 o, o + 1, o + 2, o + 3, o + 4, o + 5) == 6;
		else if (c == 's')
			options.sensor = optarg;
		else if (c == 'm' && options.map_count < MAPS_MAX)
			options.maps[options.map_count++] = optarg;
		else if (c == 'f' && options.fill_count < MAPS_MAX)
			options.fills[options.fill_count++] = optarg;
		else
			usage();
	}
	if (argc - optind != 2)
		usage();
	base = strrchr(argv[optind], '/') ?: argv[optind] - 1;
	snprintf(options.name, sizeof(options.name), "%.*s", (int)strcspn(base + 1, "."), base + 1);
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	load(argv[optind]);
	for (unsigned int i = 0; i < options.fill_count; i++)
		fill_map(options.fills[i]);
	run_all(argv[optind + 1]);
	for (unsigned int i = 0; i < options.map_count; i++)
		print_map(options.maps[i]);
	bpf_object__close(object);
	free(views);
	return fflush(stdout) ? 1 : 0;
}
