// SPDX-License-Identifier: GPL-2.0
/* Forward: see forward.h. */
#include "forward.h"

#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>

#define HEAD_MAX (PUT_HEAD_LEN + PUT_KEY_MAX + 255)

struct forward {
	uint64_t records; /* sent */
	struct mmsghdr packets[COLLECTOR_BATCH];
	struct iovec pieces[COLLECTOR_BATCH][2];
	uint8_t heads[COLLECTOR_BATCH][HEAD_MAX];
	uint64_t numbers[COLLECTOR_BATCH];
};

struct forward *forward_new(void)
{
	return calloc(1, sizeof(struct forward));
}

void forward_free(struct forward *f)
{
	free(f);
}

static void write_packet(struct forward *f, unsigned int n, const struct put *p)
{
	f->pieces[n][0] = (struct iovec){ f->heads[n], put_write(f->heads[n], p) };
	f->pieces[n][1] = (struct iovec){ (void *)p->value, p->value_len };
	f->packets[n].msg_hdr = (struct msghdr){ .msg_iov = f->pieces[n], .msg_iovlen = 2 };
}

static int send_record(struct forward *f, struct collector *c, struct records *records,
		       const struct record *r)
{
	const struct put p = { .number = FORWARD_RECORD | f->records,
			       .topic = PUT_SENSORS,
			       .time_ms = r->time_ms,
			       .key = r->key,
			       .key_len = r->key_len,
			       .value = r->value,
			       .value_len = r->value_len };
	int n;

	write_packet(f, 0, &p);
	n = collector_send_batch(c, f->packets, 1);
	if (n <= 0)
		return n ?: -EAGAIN;
	f->records++;
	records_sent(records);
	return 0;
}

static void write_message(struct forward *f, unsigned int n, uint64_t number,
			  const rd_kafka_message_t *m)
{
	struct put p = { .number = number,
			 .topic = PUT_COMBOS,
			 .key = m->key,
			 .key_len = m->key_len,
			 .value = m->payload,
			 .value_len = m->len };
	rd_kafka_timestamp_type_t type;
	int64_t time_ms = rd_kafka_message_timestamp(m, &type);
	rd_kafka_headers_t *headers;

	p.time_ms = time_ms > 0 ? time_ms : 0;
	if (!rd_kafka_message_headers(m, &headers))
		rd_kafka_header_get_last(headers, PUT_HEADER_NAME, &p.header, &p.header_len);
	f->numbers[n] = number;
	write_packet(f, n, &p);
}

static int send_messages(struct forward *f, struct collector *c, struct offsets *o)
{
	const struct offsets_item *i;
	unsigned int count = 0;
	uint64_t number;
	int n;

	while (count < COLLECTOR_BATCH && (i = offsets_peek(o, &number))) {
		write_message(f, count++, number, i->message);
		offsets_sent(o);
	}
	if (!count)
		return 0;
	n = collector_send_batch(c, f->packets, count);
	if (n < (int)count)
		offsets_back(o, f->numbers[n < 0 ? 0 : n]);
	if (n < 0)
		return n;
	return n == (int)count ? 1 : -EAGAIN;
}

int forward_send(struct forward *f, struct collector *c, struct records *records,
		 struct offsets *offsets)
{
	const struct record *r;
	int err = 0;

	while (!err && (r = records_peek(records)))
		err = send_record(f, c, records, r);
	while (!err) {
		err = send_messages(f, c, offsets);
		if (!err)
			break;
		err = err > 0 ? 0 : err;
	}
	return err;
}
