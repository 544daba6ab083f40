// SPDX-License-Identifier: GPL-2.0
/*
 * Prints each protocol's frames from count.bpf.c: once a second if any has changed, ordered by
 * protocol number. In: the map `counts`. Out: one line of standard output.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <saluki/consumer.h>

#define PROTOCOLS 256
#define INTERVAL_MS 1000

static int sum(__u64 *total, int map, __u32 protocol, __u64 *each, int cpus)
{
	*total = 0;
	if (bpf_map_lookup_elem(map, &protocol, each))
		return -errno;
	for (int cpu = 0; cpu < cpus; cpu++)
		*total += each[cpu];
	return 0;
}

static int report(int map, __u64 *seen, __u64 *each, int cpus)
{
	__u64 total;
	bool changed = false;

	for (__u32 protocol = 0; protocol < PROTOCOLS; protocol++) {
		int err = sum(&total, map, protocol, each, cpus);

		if (err) {
			fprintf(stderr, "count: cannot read its map: %s\n", strerror(-err));
			return err;
		}
		changed |= total != seen[protocol];
		seen[protocol] = total;
	}
	for (__u32 protocol = 0; changed && protocol < PROTOCOLS; protocol++)
		if (seen[protocol])
			printf("%u %llu ", protocol, seen[protocol]);
	if (changed && (printf("\n"), fflush(stdout)))
		return -EIO;
	return 0;
}

int main(void)
{
	static struct consumer c;
	static __u64 seen[PROTOCOLS];
	struct consumer_event e;
	int cpus = libbpf_num_possible_cpus(), err = consumer_open(&c, "count"), map;
	__u64 *each = calloc(cpus > 0 ? cpus : 1, sizeof(*each));

	map = err ? err : consumer_map(&c, "counts");
	if (map == -ENOENT)
		fprintf(stderr, "count: has no map: run it by 'saluki module consume'\n");
	err = map < 0 || cpus < 0 || !each ? -EINVAL : 0;
	while (!err) {
		int ended = consumer_next(&c, &e, INTERVAL_MS);

		err = report(map, seen, each, cpus);
		err = err ? err : ended < 0 ? ended : 0;
	}
	free(each);
	consumer_close(&c);
	return err == -ENODATA ? 0 : 1;
}
