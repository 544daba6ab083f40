// SPDX-License-Identifier: GPL-2.0
/* Local collector: see local_collector.h. In: the options. Out: the collector's process, and a
 * socket to it. */
#include "local_collector.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/child.h"
#include "common/find_program.h"
#include "common/log.h"

#define COLLECTOR "saluki-collector"
#define ARGUMENTS_MAX 32
/* The sensor has waited longer for the last frames before it gave any up. */
#define PATIENCE_NS 5000000000ULL
#define STOP_PATIENCE_NS 10000000000ULL
#define SOCKET_BYTES (4 * 1024 * 1024) /* datagrams on the way, as the kernel counts them */

/* ---- its program ---------------------------------------------------------------------------- */

/* Prefers the collector in this program's folder, which has the same version. */
static bool collector_beside(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof("/" COLLECTOR));
	char *slash;

	if (n < 0)
		return false;
	path[n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash + 1, COLLECTOR);
	return access(path, X_OK) == 0;
}

int local_collector_check(void)
{
	char path[PATH_MAX];

	if (collector_beside(path) || find_program(COLLECTOR, NULL))
		return 0;
	log_line("capture: " COLLECTOR " is not installed; install the package " COLLECTOR
		 ", or 'make install' where saluki was built");
	return -ENOENT;
}

/* ---- its process ----------------------------------------------------------------------------- */

/* argv, and memory for its texts. */
struct arguments {
	char *list[ARGUMENTS_MAX];
	int count;
	char listen[24], key[32], sensors[32], report[12];
};

static void add(struct arguments *a, const char *option, const char *value)
{
	if (!value)
		return;
	a->list[a->count++] = (char *)option;
	a->list[a->count++] = (char *)value;
}

static void set_arguments(struct arguments *a, int sock, const struct local_keys *k,
			  const struct local_collector_options *o)
{
	memset(a, 0, sizeof(*a));
	snprintf(a->listen, sizeof(a->listen), "fd:%d", sock);
	snprintf(a->key, sizeof(a->key), "/dev/fd/%d", k->collector);
	snprintf(a->sensors, sizeof(a->sensors), "/dev/fd/%d", k->sensors);
	a->list[a->count++] = COLLECTOR;
	add(a, "--listen", a->listen);
	add(a, "--key", a->key);
	add(a, "--sensors", a->sensors);
	add(a, "-w", o->write);
	add(a, "-C", o->size);
	add(a, "-G", o->time);
	add(a, "-W", o->files);
	add(a, "--user", o->user);
	add(a, "--control", "none");
	add(a, "--live", "none");
	add(a, "--board", "none");
	add(a, "--state", "none"); /* no other process will have these keys */
	snprintf(a->report, sizeof(a->report), "%d", o->report);
	add(a, "--report", o->report ? a->report : NULL);
	if (o->quiet)
		a->list[a->count++] = "-q";
}

static void keep_open(int fd)
{
	fcntl(fd, F_SETFD, 0);
}

static void run(int sock, const struct local_keys *k, const struct local_collector_options *o)
{
	struct arguments a;
	char path[PATH_MAX];

	child_own_signals();
	/* Since Linux 5.11. Our own descriptors have CLOEXEC, so this is for inherited ones. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (o->output >= 0)
		dup2(o->output, STDOUT_FILENO);
	keep_open(sock);
	keep_open(k->collector);
	keep_open(k->sensors);
	if (o->report)
		keep_open(o->report);
	set_arguments(&a, sock, k, o);
	if (collector_beside(path))
		execv(path, a.list);
	execvp(COLLECTOR, a.list);
	log_line("capture: cannot start " COLLECTOR ": %s", strerror(errno));
}

int local_collector_connect(struct local_collector *c)
{
	int socks[2], size = SOCKET_BYTES;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, socks)) {
		log_line("capture: cannot make a socket pair: %s", strerror(errno));
		return -errno;
	}
	for (int i = 0; i < 2; i++)
		if (setsockopt(socks[i], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
			setsockopt(socks[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	*c = (struct local_collector){ .sock = socks[0], .far = socks[1] };
	return 0;
}

int local_collector_start(struct local_collector *c, const struct local_keys *k,
			  const struct local_collector_options *o)
{
	pid_t pid = fork();

	if (pid == 0) {
		run(c->far, k, o);
		_exit(1);
	}
	if (pid < 0) {
		log_line("capture: cannot start a second process: %s", strerror(errno));
		return -errno;
	}
	close(c->far);
	c->far = -1;
	c->pid = pid;
	return 0;
}

/* It has seen the sensor's end, but may have been stopped, or write to a pipe that nobody reads. */
static void hurry(pid_t pid)
{
	if (child_wait_patiently(pid, PATIENCE_NS))
		return;
	log_line("the collector has not ended yet: it is continued and told to stop");
	kill(-pid, SIGTERM);
	kill(-pid, SIGCONT);
	if (child_wait_patiently(pid, STOP_PATIENCE_NS))
		return;
	log_line("the collector does not stop and is killed: frames that it has not written are "
		 "lost");
	kill(-pid, SIGKILL);
}

int local_collector_wait(const struct local_collector *c)
{
	if (!c->pid)
		return 0;
	hurry(c->pid);
	return child_wait(c->pid, "the collector");
}
