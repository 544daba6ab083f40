// SPDX-License-Identifier: GPL-2.0
/* Limit: see limit.h. */
#include "limit.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collector/model/rate_limit.h"
#include "common/log.h"

#define LOG_NS 60000000000ULL

void files_limit_init(struct files_limit *l)
{
	struct rlimit r;

	/* At the start, as system calls are limited later. */
	*l = (struct files_limit){ .last = -1, .rlimit = UINT64_MAX };
	if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
		l->rlimit = r.rlim_cur;
}

void files_limit_free(struct files_limit *l)
{
	if (l->last >= 0)
		close(l->last);
	l->last = -1;
}

static bool refuse(struct files_limit *l, const char *what, uint64_t now_ns)
{
	l->refused++;
	if (l->logged_ns && now_ns - l->logged_ns < LOG_NS)
		return false;
	l->logged_ns = now_ns;
	log_line("warning: the receiving process asks for more %s than it needs (%llu requests "
		 "were refused); was it taken over?",
		 what, (unsigned long long)l->refused);
	return false;
}

/* ---- output files ---------------------------------------------------------------------------- */

/* Compares the last file's blocks on the disk, as its size may come from a hole. */
static bool last_is_large(const struct files_limit *l)
{
	struct stat st;

	return l->last >= 0 && fstat(l->last, &st) == 0 &&
	       (uint64_t)st.st_blocks * 512 >= l->full_bytes / FILES_SIZE_PART;
}

static bool size_take(struct files_limit *l, uint64_t now_ns)
{
	uint64_t step_ns = l->full_bytes / FILES_SIZE_RATE;

	return last_is_large(l) &&
	       rate_limit_spaced(&l->size_until_ns, step_ns, step_ns + FILES_SIZE_NS, now_ns);
}

/* File systems that do not count inodes report 0. */
static bool few_inodes(struct files_limit *l, int fd, const char *option, uint64_t now_ns)
{
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) || fs.f_ffree >= fs.f_files / FILES_INODES_PART)
		return false;
	if (!l->few_logged_ns || now_ns - l->few_logged_ns >= LOG_NS) {
		l->few_logged_ns = now_ns;
		log_line("warning: no file is begun, as %llu of %llu inodes are free on the file "
			 "system of %s; delete files",
			 (unsigned long long)fs.f_ffree, (unsigned long long)fs.f_files, option);
	}
	return true;
}

int files_limit_output(struct files_limit *l, const struct collector_options *series,
		       uint64_t now_ns)
{
	bool granted = !l->opened, rotates = series && (series->rotate_bytes || series->rotate_s);

	if (!granted && series && few_inodes(l, l->last, "-w", now_ns))
		return -ENOSPC;
	if (!granted && series)
		granted = size_take(l, now_ns);
	if (!granted && rotates)
		granted = rate_limit_spaced(&l->spare_until_ns, FILES_SPARE_NS,
					    FILES_SPARE_MAX * FILES_SPARE_NS, now_ns);
	l->opened = true;
	return granted || refuse(l, "output files", now_ns) ? 0 : FILES_TOO_MANY;
}

/* Returns the largest offset in this file: the file system refuses to seek beyond it. */
static uint64_t offset_max(int fd)
{
	uint64_t most = 0;

	for (int bit = 62; bit >= 0; bit--)
		if (lseek(fd, most | 1ULL << bit, SEEK_SET) >= 0)
			most |= 1ULL << bit;
	lseek(fd, 0, SEEK_SET);
	return most;
}

uint64_t files_limit_opened(struct files_limit *l, const struct collector_options *o, int fd)
{
	uint64_t most = offset_max(fd);

	files_limit_free(l);
	l->last = dup(fd);
	most = l->rlimit < most ? l->rlimit : most;
	l->full_bytes = o->rotate_bytes && o->rotate_bytes < most ? o->rotate_bytes : most;
	return most;
}

/* ---- files of events ------------------------------------------------------------------------- */

void files_limit_sensors(struct files_limit *l, uint64_t sensors)
{
	if (sensors * FILES_SENSOR_MODULES > l->modules_max)
		l->modules_max = sensors * FILES_SENSOR_MODULES;
}

void files_limit_sensors_file(struct files_limit *l, int fd)
{
	uint64_t lines = 1;
	char text[4096];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += text[i] == '\n';
	lseek(fd, 0, SEEK_SET);
	files_limit_sensors(l, lines);
}

void files_limit_moved(struct files_limit *l)
{
	l->modules = 0;
}

int files_limit_module(struct files_limit *l, int folder, uint64_t now_ns)
{
	if (few_inodes(l, folder, "--events", now_ns))
		return -ENOSPC;
	if (l->modules >= l->modules_max) {
		refuse(l, "files of events", now_ns);
		return FILES_TOO_MANY;
	}
	l->modules++;
	return 0;
}
