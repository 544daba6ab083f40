// SPDX-License-Identifier: GPL-2.0
/* Mounts: see mounts.h. */
#include "mounts.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/tap/adopt.h"
#include "agent/interface/lock.h"
#include "agent/tap/pin.h"
#include "common/log.h"

#define NETNS_DIR "/run/netns" /* ip-netns(8) */
#define PATH_LEN 320
#define NAME_LEN 64

static bool is_same(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* ---- other processes ------------------------------------------------------------------------- */

/* Returns the first process with is(pid, arg), or 0. */
static pid_t find_process(bool (*is)(pid_t pid, const void *arg), const void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (dir && !found && (e = readdir(dir))) {
		pid_t pid = atoi(e->d_name); /* 0 for all other names */

		if (pid > 0 && pid != getpid() && is(pid, arg))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_in_our_mounts(pid_t pid, const void *arg)
{
	char path[PATH_LEN];

	(void)arg;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return is_same(path, "/proc/self/ns/mnt");
}

/* Reads a process's name. Returns its parent, or 0 if it has ended. */
static pid_t read_process(pid_t pid, char name[NAME_LEN])
{
	char path[PATH_LEN], line[512] = "", *begin, *end;
	FILE *f;
	int parent = 0;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		begin = strchr(line, '(');
		/* The name may have any characters, but the fields after it have no bracket. */
		end = strrchr(line, ')');
		if (begin && end && sscanf(end, ") %*c %d", &parent) == 1)
			snprintf(name, NAME_LEN, "%.*s", (int)(end - begin - 1), begin + 1);
	}
	if (f)
		fclose(f);
	for (char *c = name; *c; c++) /* it may be printed on a terminal */
		if (*c < ' ' || *c > '~')
			*c = '?';
	return parent;
}

static pid_t parent_of(pid_t pid)
{
	char name[NAME_LEN];

	return read_process(pid, name);
}

/* Whether we or our parents have left the machine's mount namespace. We may lack the right to read
 * the first processes. */
static bool has_left(void)
{
	bool left = false;

	for (pid_t pid = parent_of(getpid()); pid > 0; pid = parent_of(pid)) {
		char path[PATH_LEN];

		snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
		if (access(path, F_OK) == 0)
			left = !is_in_our_mounts(pid, NULL);
	}
	return left;
}

/* For an interface in our network namespace. */
static bool sees_pins(pid_t pid, const void *interface)
{
	char path[PATH_LEN], pins[PATH_LEN / 2];
	struct saluki_config c;
	bool ours;
	int fd;

	pin_path(pins, sizeof(pins), interface);
	snprintf(path, sizeof(path), "/proc/%d/root%s/config", (int)pid, pins);
	fd = bpf_obj_get(path);
	ours = fd >= 0 && config_read(fd, &c) == 0 && c.netns == lock_namespace();
	if (fd >= 0)
		close(fd);
	return ours;
}

/* A mount namespace bound to a file exists without processes. */
static bool is_bound(void)
{
	FILE *f = fopen("/proc/1/mountinfo", "re");
	char line[4096], ours[64];
	struct stat st;
	bool found = false;

	if (!f || stat("/proc/self/ns/mnt", &st))
		goto out;
	snprintf(ours, sizeof(ours), " mnt:[%llu] ", (unsigned long long)st.st_ino);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, ours);
out:
	if (f)
		fclose(f);
	return found;
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* Returns a command that enters only this network namespace. */
static void enter(char out[PATH_LEN])
{
	DIR *dir = opendir(NETNS_DIR);
	struct dirent *e;
	char path[PATH_LEN];

	snprintf(out, PATH_LEN, NETNS_DIR "/NAME");
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), NETNS_DIR "/%s", e->d_name);
		if (is_same(path, "/proc/self/ns/net"))
			snprintf(out, PATH_LEN, "%s", path);
	}
	if (dir)
		closedir(dir);
}

int mounts_last(const char *command)
{
	int mounted = pin_mount();
	char net[PATH_LEN], name[NAME_LEN], last[2 * NAME_LEN] = "";
	pid_t keeper;

	if (mounted < 0) {
		log_line("%s: cannot mount bpffs on " PIN_MOUNT ": %s%s", command,
			 strerror(-mounted), mounted == -EPERM ? "; run as root" : "");
		return mounted;
	}
	if (!mounted || !has_left())
		return 0;
	keeper = find_process(is_in_our_mounts, NULL);
	enter(net);
	if (keeper || is_bound()) {
		if (keeper && read_process(keeper, name))
			snprintf(last, sizeof(last), ", with its last process (now %s, %d)", name,
				 (int)keeper);
		log_line("%s: " PIN_MOUNT
			 " is of this mount namespace alone: what is attached ends when the "
			 "namespace does%s; to keep it longer use 'nsenter --net=%s saluki %s "
			 "...'",
			 command, last, net, command);
		return 0;
	}
	log_line("%s: " PIN_MOUNT " is of a mount namespace that ends with this command ('ip netns "
		 "exec' makes one), so that nothing would stay attached; use 'nsenter --net=%s "
		 "saluki %s ...'",
		 command, net, command);
	return -EXDEV;
}

/* A kernel thread has no program. */
static bool is_program(pid_t pid)
{
	char path[PATH_LEN], to[1];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, to, sizeof(to)) > 0;
}

static bool program_sees_pins(pid_t pid, const void *interface)
{
	return is_program(pid) && sees_pins(pid, interface);
}

static void say_where(const char *interface)
{
	pid_t pid = find_process(program_sees_pins, interface)
			    ?: find_process(sees_pins, interface);

	if (pid)
		log_line("%s: saluki captures there; its pins are in another mount namespace, see "
			 "'nsenter --mount=/proc/%d/ns/mnt saluki status -i %s'",
			 interface, (int)pid, interface);
}

void mounts_say_elsewhere(const char *interface)
{
	struct if_nameindex *all = interface ? NULL : if_nameindex();
	char net[PATH_LEN];

	if (interface)
		say_where(interface);
	for (struct if_nameindex *i = all; i && i->if_name; i++)
		say_where(i->if_name);
	if (all)
		if_freenameindex(all);
	if (pin_is_mounted() || !has_left())
		return;
	enter(net);
	log_line("status: no bpffs is mounted in this mount namespace ('ip netns exec' hides it); "
		 "what is attached is seen with 'nsenter --net=%s saluki status'",
		 net);
}
