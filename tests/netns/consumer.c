// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer for tests, for any module: prints each event, and the map `counts` if the module has
 * one. With --attack it first tries forbidden actions, one line each. With --lie it reports a false
 * read position and then stands still.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <saluki/consumer.h>

static struct consumer c;

static void tried(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
}

static void *map_pages(int fd, int rights, off_t at)
{
	return mmap(NULL, sysconf(_SC_PAGESIZE), rights, MAP_SHARED, fd, at);
}

static void tried_map(const char *what, void *p)
{
	tried(what, p == MAP_FAILED ? -1 : 0);
}

static void attack_map(int fd)
{
	__u64 key = 0, values[512] = { 0 };
	__u32 id = 0, len = sizeof(struct bpf_map_info);
	struct bpf_map_info info = { 0 };
	char path[32];

	tried("update", bpf_map_update_elem(fd, &key, values, BPF_ANY));
	tried("delete", bpf_map_delete_elem(fd, &key));
	tried("freeze", bpf_map_freeze(fd));
	tried("pin", bpf_obj_pin(fd, "/sys/fs/bpf/saluki/mine"));
	tried_map("map to write", map_pages(fd, PROT_READ | PROT_WRITE, 0));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tried("open again", open(path, O_RDWR));
	tried("ask", bpf_obj_get_info_by_fd(fd, &info, &len));
	tried("next id", bpf_map_get_next_id(0, &id));
	tried("open by id", bpf_map_get_fd_by_id(info.id));
}

static void attack_ring(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;

	tried_map("map the end to write", map_pages(c.ring_fd, PROT_READ | PROT_WRITE, page));
	tried_map("map records to write", map_pages(c.ring_fd, PROT_READ | PROT_WRITE, 2 * page));
	p = map_pages(c.ring_fd, PROT_READ, 2 * page);
	tried("make records writable", mprotect(p, page, PROT_READ | PROT_WRITE));
}

static void attack(void)
{
	int map = consumer_map(&c, "counts");

	if (map >= 0)
		attack_map(map);
	attack_ring();
	tried("become root", setresuid(0, 0, 0));
	tried("open the pins", open("/sys/fs/bpf/saluki/tap0", O_RDONLY));
	fflush(stdout);
}

/* Sets the read position far behind the write position, far ahead, or anywhere, until the program
 * ends. */
static void lie(void)
{
	struct pollfd end = { .fd = c.end_fd, .events = POLLIN };

	for (__u64 i = 0; !poll(&end, 1, 0); i++) {
		__u64 written = __atomic_load_n(c.written_up_to, __ATOMIC_ACQUIRE);
		const __u64 lies[] = {
			0, ~0ULL, written, written + 8, written - 8, i * 0x9e3779b9
		};

		__atomic_store_n(c.read_up_to, lies[i % 6], __ATOMIC_RELEASE);
	}
}

static void print(const struct consumer_event *e)
{
	printf("%llu %llu %u ", e->time_ns, e->serial, e->direction);
	for (__u32 i = 0; i < e->len; i++)
		printf("%02x", ((const __u8 *)e->data)[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct consumer_event e;
	int err = consumer_open(&c, getenv(SALUKI_ENV_MODULE) ?: "each");

	if (err)
		return 1;
	if (!strcmp(how, "--attack"))
		attack();
	fprintf(stderr, "ready\n");
	if (!strcmp(how, "--lie"))
		lie();
	else if (!strcmp(how, "--still"))
		while (!c.ended)
			poll(&(struct pollfd){ .fd = c.end_fd, .events = POLLIN }, 1, -1),
				c.ended = true;
	else
		while ((err = consumer_next(&c, &e, -1)) >= 0)
			if (err == 1)
				print(&e);
	fprintf(stderr, "ended: %s, %llu bad lines\n", strerrorname_np(-err) ?: "0", c.bad_lines);
	consumer_close(&c);
	return !err || err == -ENODATA ? 0 : 1;
}
