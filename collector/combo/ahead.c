// SPDX-License-Identifier: GPL-2.0
/*
 * Ahead: see ahead.h. Always holds: a job's state says which thread uses the job's other fields. A
 * job that is FREE, DONE or TAKEN belongs to the main thread, a job that is RUNNING to the thread
 * that claimed it. All accesses to states and to `asleep` are in one order for both threads
 * (__ATOMIC_SEQ_CST), so either the unpacking thread sees a new job before it sleeps, or the main
 * thread sees that it sleeps.
 */
#include "ahead.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool state_is(const struct ahead_job *j, uint32_t state)
{
	return __atomic_load_n(&j->state, __ATOMIC_SEQ_CST) == state;
}

static void set_state(struct ahead_job *j, uint32_t state)
{
	__atomic_store_n(&j->state, state, __ATOMIC_SEQ_CST);
}

/* Moves a job from READY to another state, unless the other thread did. */
static bool claim(struct ahead_job *j, uint32_t state)
{
	uint32_t ready = AHEAD_READY;

	return state_is(j, ready) &&
	       __atomic_compare_exchange_n(&j->state, &ready, state, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Claims the first ready job after job `last`. Jobs are submitted in about this order. */
static struct ahead_job *claim_after(struct ahead *a, unsigned int last)
{
	for (unsigned int i = 1; i <= AHEAD_JOBS; i++) {
		struct ahead_job *j = &a->jobs[(last + i) % AHEAD_JOBS];

		if (claim(j, AHEAD_RUNNING))
			return j;
	}
	return NULL;
}

static void run(struct ahead_job *j, struct decompress *d)
{
	const struct ahead_combo *c = &j->combo;
	uint64_t before = monotonic_ns();

	j->valid = unpack_combo(&j->unpacked, d, c->bytes, c->len, c->id, c->count);
	j->took_ns = monotonic_ns() - before;
	set_state(j, AHEAD_DONE);
}

/* ---- the unpacking thread -------------------------------------------------------------------- */

/* Sleeps until a job is ready. Returns it, claimed, or NULL at the end. */
static struct ahead_job *wait_job(struct ahead *a, unsigned int last)
{
	struct ahead_job *j = NULL;

	pthread_mutex_lock(&a->lock);
	while (!a->ended) {
		__atomic_store_n(&a->asleep, true, __ATOMIC_SEQ_CST);
		j = claim_after(a, last);
		if (j)
			break;
		pthread_cond_wait(&a->wake, &a->lock);
	}
	__atomic_store_n(&a->asleep, false, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&a->lock);
	return j;
}

static void *unpacking_thread(void *arg)
{
	struct ahead *a = arg;
	struct ahead_job *j;
	unsigned int last = 0;

	pthread_setname_np(pthread_self(), "unpack");
	while ((j = claim_after(a, last)) || (j = wait_job(a, last))) {
		last = j - a->jobs;
		run(j, &a->decompress);
	}
	return NULL;
}

/* ---- start and end --------------------------------------------------------------------------- */

static void ahead_free(struct ahead *a)
{
	pthread_cond_destroy(&a->wake);
	pthread_mutex_destroy(&a->lock);
	decompress_free(&a->decompress);
	free(a->jobs);
	a->jobs = NULL;
}

int ahead_start_thread(struct ahead *a)
{
	int err;

	memset(a, 0, sizeof(*a));
	err = decompress_init(&a->decompress);
	if (err)
		return err;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->wake, NULL);
	a->jobs = calloc(AHEAD_JOBS, sizeof(*a->jobs));
	err = a->jobs ? -pthread_create(&a->thread, NULL, unpacking_thread, a) : -ENOMEM;
	if (err)
		ahead_free(a);
	return err;
}

void ahead_start(struct ahead *a)
{
	cpu_set_t cpus;
	int err;

	/* It fails if the machine has more CPUs than a cpu_set_t. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) < 2)
		return;
	err = ahead_start_thread(a);
	if (err)
		log_line("warning: cannot start a second thread: %s; one thread does all the work",
			 strerror(-err));
}

void ahead_stop(struct ahead *a)
{
	if (!a->jobs)
		return;
	for (unsigned int i = 0; i < AHEAD_JOBS; i++)
		claim(&a->jobs[i], AHEAD_FREE);
	pthread_mutex_lock(&a->lock);
	a->ended = true;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	ahead_free(a);
}

/* ---- the main thread ------------------------------------------------------------------------- */

/* Returns the job of a sensor's combo. The job's bytes may differ. */
static struct ahead_job *find(struct ahead *a, const struct ahead_combo *c)
{
	for (unsigned int i = 0; i < AHEAD_JOBS; i++) {
		struct ahead_job *j = &a->jobs[i];

		if (j->combo.sensor == c->sensor && j->combo.count == c->count &&
		    j->combo.len == c->len && !state_is(j, AHEAD_FREE))
			return j;
	}
	return NULL;
}

/* Frees jobs whose combo is taken, or is not among the next. A job that runs is freed later.
 * Returns how many combos after the first one have no job. */
static unsigned int free_jobs(struct ahead *a, const struct ahead_combo *next, unsigned int count)
{
	unsigned int without = 0;
	struct ahead_job *j;

	for (j = a->jobs; j < a->jobs + AHEAD_JOBS; j++)
		j->comes = false;
	for (unsigned int i = 0; i < count; i++) {
		j = find(a, &next[i]);
		if (j)
			j->comes = true;
		else if (i)
			without++;
	}
	for (j = a->jobs; j < a->jobs + AHEAD_JOBS; j++)
		if (state_is(j, AHEAD_TAKEN) || (state_is(j, AHEAD_DONE) && !j->comes))
			set_state(j, AHEAD_FREE);
		else if (!j->comes)
			claim(j, AHEAD_FREE);
	return without;
}

static struct ahead_job *free_job(struct ahead *a)
{
	for (unsigned int i = 1; i <= AHEAD_JOBS; i++) {
		unsigned int n = (a->submitted + i) % AHEAD_JOBS;

		if (state_is(&a->jobs[n], AHEAD_FREE)) {
			a->submitted = n;
			return &a->jobs[n];
		}
	}
	return NULL;
}

static bool is_asleep(const struct ahead *a)
{
	return __atomic_load_n(&a->asleep, __ATOMIC_SEQ_CST);
}

static void wake(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->asleep, false, __ATOMIC_SEQ_CST); /* one signal is enough */
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
}

void ahead_submit(struct ahead *a, const struct ahead_combo *next, unsigned int count)
{
	if (free_jobs(a, next, count) < AHEAD_WAKE && is_asleep(a))
		return;
	for (unsigned int i = 1; i < count; i++) {
		struct ahead_job *j = find(a, &next[i]) ? NULL : free_job(a);

		if (!j)
			continue;
		j->combo = next[i];
		j->combo.bytes = memcpy(j->bytes, next[i].bytes, next[i].len);
		set_state(j, AHEAD_READY);
	}
	if (is_asleep(a))
		wake(a);
}

/* While the other thread runs job `j`, this one runs others. */
static void help(struct ahead *a, const struct ahead_job *j, struct decompress *d)
{
	struct ahead_job *other;

	while (state_is(j, AHEAD_RUNNING) && (other = claim_after(a, j - a->jobs))) {
		run(other, d);
		a->spent_ns -= other->took_ns; /* its sensor's, once it is taken */
	}
}

struct unpacked *ahead_take(struct ahead *a, const struct ahead_combo *want, struct decompress *d,
			    bool *valid)
{
	struct ahead_job *j = a->jobs ? find(a, want) : NULL;

	if (!j || claim(j, AHEAD_FREE))
		return NULL;
	help(a, j, d);
	if (!state_is(j, AHEAD_DONE) || j->combo.id != want->id ||
	    memcmp(j->bytes, want->bytes, want->len))
		return NULL;
	set_state(j, AHEAD_TAKEN);
	a->spent_ns += j->took_ns;
	*valid = j->valid;
	return &j->unpacked;
}
