// SPDX-License-Identifier: GPL-2.0
/* Watermarks: see watermarks.h. */
#include "watermarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TIMEOUT_MS 2000

/* Returns the topic's ends in a list, or NULL. The stamp -1 asks for the end. */
static rd_kafka_topic_partition_list_t *ask(struct watermarks *w, rd_kafka_resp_err_t *error)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(w->partitions);
	rd_kafka_resp_err_t err;

	for (int32_t i = 0; i < w->partitions; i++)
		rd_kafka_topic_partition_list_add(list, w->topic, i)->offset = RD_KAFKA_OFFSET_END;
	err = rd_kafka_offsets_for_times(w->rk, list, TIMEOUT_MS);
	for (int i = 0; i < list->cnt && !err; i++)
		err = list->elems[i].err;
	*error = err;
	if (!err)
		return list;
	rd_kafka_topic_partition_list_destroy(list);
	return NULL;
}

/* Returns whether the topic has partitions that the reader does not have. */
static bool has_grown(struct watermarks *w)
{
	rd_kafka_topic_t *topic = rd_kafka_topic_new(w->rk, w->topic, NULL);
	const rd_kafka_metadata_t *m;
	bool grown = false;

	if (topic && !rd_kafka_metadata(w->rk, 0, topic, &m, TIMEOUT_MS)) {
		grown = m->topic_cnt && m->topics[0].partition_cnt > w->partitions;
		rd_kafka_metadata_destroy(m);
	}
	if (topic)
		rd_kafka_topic_destroy(topic);
	return grown;
}

static void answer(struct watermarks *w, const rd_kafka_topic_partition_list_t *list)
{
	uint64_t one = 1;

	for (int i = 0; i < list->cnt; i++)
		w->ends[list->elems[i].partition] = list->elems[i].offset;
	w->answered = w->begun;
	if (write(w->fd, &one, sizeof(one)) < 0) /* it is readable already */
		return;
}

/* Without an answer, asks again: ask() itself takes its time then, unless the error came at once.
 */
static void *run(void *arg)
{
	struct watermarks *w = arg;
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t error;
	struct timespec until;
	bool grown;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		if (w->asked == w->answered) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		w->begun = w->asked;
		pthread_mutex_unlock(&w->lock);
		grown = has_grown(w);
		error = RD_KAFKA_RESP_ERR_NO_ERROR;
		list = grown ? NULL : ask(w, &error);
		pthread_mutex_lock(&w->lock);
		w->grown |= grown;
		w->error = error;
		if (list) {
			answer(w, list);
			rd_kafka_topic_partition_list_destroy(list);
			continue;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		if (!w->stop)
			pthread_cond_timedwait(&w->wake, &w->lock, &until);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int watermarks_start(struct watermarks *w, rd_kafka_t *rk, const char *topic, int32_t partitions)
{
	*w = (struct watermarks){ .rk = rk, .topic = topic, .partitions = partitions };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->ends = calloc(partitions, sizeof(*w->ends));
	w->positions = calloc(partitions, sizeof(*w->positions));
	w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!w->ends || !w->positions || w->fd < 0 || pthread_create(&w->thread, NULL, run, w))
		return -ENOMEM;
	w->started = true;
	return 0;
}

uint64_t watermarks_next(struct watermarks *w)
{
	uint64_t ticket;

	pthread_mutex_lock(&w->lock);
	ticket = w->begun + 1;
	pthread_mutex_unlock(&w->lock);
	return ticket;
}

bool watermarks_grown(struct watermarks *w)
{
	bool grown;

	pthread_mutex_lock(&w->lock);
	grown = w->grown;
	pthread_mutex_unlock(&w->lock);
	return grown;
}

void watermarks_ask(struct watermarks *w, uint64_t ticket)
{
	pthread_mutex_lock(&w->lock);
	if (w->asked < ticket) {
		w->asked = ticket;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
}

void watermarks_move(struct watermarks *w, int32_t partition, int64_t offset)
{
	if (partition >= 0 && partition < w->partitions)
		w->positions[partition] = offset;
}

int64_t watermarks_skip(struct watermarks *w, int32_t partition, int64_t offset)
{
	if (partition < 0 || partition >= w->partitions)
		return offset + 1;
	if (w->positions[partition] > offset)
		offset = w->positions[partition];
	w->positions[partition] = offset + 1;
	return offset + 1;
}

uint64_t watermarks_reached(struct watermarks *w)
{
	uint64_t ticket, count;

	if (read(w->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return 0;
	pthread_mutex_lock(&w->lock);
	ticket = w->answered;
	for (int32_t i = 0; i < w->partitions; i++)
		if (w->positions[i] < w->ends[i])
			ticket = 0;
	pthread_mutex_unlock(&w->lock);
	return ticket;
}

rd_kafka_resp_err_t watermarks_error(struct watermarks *w)
{
	rd_kafka_resp_err_t error;

	pthread_mutex_lock(&w->lock);
	error = w->error;
	pthread_mutex_unlock(&w->lock);
	return error;
}

void watermarks_stop(struct watermarks *w)
{
	if (w->started) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_signal(&w->wake);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		close(w->fd);
	}
	w->started = false;
	free(w->ends);
	free(w->positions);
	w->ends = w->positions = NULL;
}
