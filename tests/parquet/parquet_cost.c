// SPDX-License-Identifier: GPL-2.0
/*
 * parquet_cost [FILE [GROUPS [SORTED]]]: writes rows like those of frames, and prints bytes and
 * nanoseconds a row. Columns: time and offset ascend; the sequence numbers of some hundred
 * stations; five addresses of ~500 texts, which depend on each other as in 802.11; lengths and
 * durations; and columns with one value or a few. Row groups of PARQUET_ROWS rows of 20 sensors;
 * SORTED: the writer is told their order by sensor and time, else they are in this order.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "keep/parquet/parquet.h"

#define TEXTS 600
#define SENSORS 20
#define ROWS PARQUET_ROWS

enum {
	TIME,
	SENSOR,
	INTERFACE,
	FREQUENCY,
	SIGNAL,
	NOISE,
	RATE,
	MCS,
	LENGTH,
	KEPT,
	TYPE,
	SUBTYPE,
	FLAGS,
	DURATION,
	RECEIVER,
	TRANSMITTER,
	BSSID,
	SOURCE,
	DESTINATION,
	SEQUENCE,
	SSID,
	ETHERTYPE,
	BAD_FCS,
	UNSETTLED,
	RUN,
	COMBO,
	NUMBER,
	FILENAME,
	OFFSET,
	CHANNEL,
	ANTENNA,
	RETRY,
	COLUMNS
};

#define ADDRESS(name)                                                                              \
	{                                                                                          \
		name, PARQUET_TEXT, PARQUET_PLAIN_TYPE, true, true                                 \
	}
#define INT(name, logical, optional)                                                               \
	{                                                                                          \
		name, PARQUET_INT32, logical, optional, false                                      \
	}
#define LONG(name, logical)                                                                        \
	{                                                                                          \
		name, PARQUET_INT64, logical, false, false                                         \
	}
#define TEXT(name, optional)                                                                       \
	{                                                                                          \
		name, PARQUET_TEXT, PARQUET_PLAIN_TYPE, optional, false                            \
	}
#define FLAG(name)                                                                                 \
	{                                                                                          \
		name, PARQUET_BOOLEAN, PARQUET_PLAIN_TYPE, false, false                            \
	}

static const struct parquet_column columns[COLUMNS] = {
	[TIME] = LONG("time", PARQUET_TIMESTAMP_NS),
	[SENSOR] = TEXT("sensor", false),
	[INTERFACE] = TEXT("interface", false),
	[FREQUENCY] = INT("frequency", PARQUET_UINT16, true),
	[SIGNAL] = INT("signal", PARQUET_INT8, true),
	[NOISE] = INT("noise", PARQUET_INT8, true),
	[RATE] = INT("rate_kbps", PARQUET_UINT32, true),
	[MCS] = INT("mcs", PARQUET_UINT8, true),
	[LENGTH] = INT("length", PARQUET_UINT32, false),
	[KEPT] = INT("kept", PARQUET_UINT32, false),
	[TYPE] = INT("type", PARQUET_UINT8, true),
	[SUBTYPE] = INT("subtype", PARQUET_UINT8, true),
	[FLAGS] = INT("flags", PARQUET_UINT8, true),
	[DURATION] = INT("duration", PARQUET_UINT16, true),
	[RECEIVER] = ADDRESS("receiver"),
	[TRANSMITTER] = ADDRESS("transmitter"),
	[BSSID] = ADDRESS("bssid"),
	[SOURCE] = ADDRESS("source"),
	[DESTINATION] = ADDRESS("destination"),
	[SEQUENCE] = INT("sequence", PARQUET_UINT16, true),
	[SSID] = TEXT("ssid", true),
	[ETHERTYPE] = INT("ethertype", PARQUET_UINT16, true),
	[BAD_FCS] = FLAG("bad_fcs"),
	[UNSETTLED] = FLAG("unsettled"),
	[RUN] = LONG("run", PARQUET_UINT64),
	[COMBO] = LONG("combo", PARQUET_UINT64),
	[NUMBER] = INT("number", PARQUET_UINT16, false),
	[FILENAME] = TEXT("file", false),
	[OFFSET] = LONG("offset", PARQUET_UINT64),
	[CHANNEL] = INT("channel", PARQUET_UINT16, true),
	[ANTENNA] = INT("antenna", PARQUET_UINT8, true),
	[RETRY] = FLAG("retry"),
};

static int64_t longs[COLUMNS][ROWS];
static int32_t ints[COLUMNS][ROWS]; /* and codes */
static uint8_t flags[COLUMNS][ROWS], present[COLUMNS][ROWS];
static uint32_t order[ROWS], of_sensor[ROWS];
static char bytes[TEXTS][20];
static struct parquet_text texts[TEXTS];
static uint64_t state = 1;

static uint32_t chance(uint32_t below)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((state >> 32) * below >> 32);
}

/* Some stations send most. */
static uint32_t station(void)
{
	double x = (chance(1 << 20) + 1.0) / (1 << 20);

	return 20 + (uint32_t)(480 * x * x * x) % 480;
}

static void make_row(uint32_t i, uint32_t sensor, int64_t *now, int64_t *offset, uint16_t *sequence)
{
	uint32_t kind = chance(100), sta = station(), ap = sta % 20, up = chance(2);
	uint32_t from = up ? sta : ap, to = up ? ap : sta;
	bool beacon = kind < 30, ack = kind >= 30 && kind < 50;
	static uint32_t number[SENSORS], combo[SENSORS];

	*now += 1 + chance(2000000);
	if (beacon) {
		from = ap;
		to = TEXTS - 1;
	}
	longs[TIME][i] = *now;
	ints[LENGTH][i] = beacon ? 280 + (int)ap * 3
			  : ack	 ? 14 + 18
				 : 60 + (int)(chance(4) ? chance(200) : chance(1500));
	ints[KEPT][i] = beacon ? 192 : ack ? 32 : 60;
	*offset += ints[KEPT][i] + 32 + (ints[KEPT][i] & 3);
	longs[OFFSET][i] = *offset;
	ints[SENSOR][i] = (int)sensor;
	ints[INTERFACE][i] = 20 + (int)(sensor % 2);
	ints[FREQUENCY][i] = ints[CHANNEL][i] = 2412 + (int)(i / 3000 % 3) * 25;
	ints[SIGNAL][i] = -40 - (int)(from % 40) - (int)chance(4);
	ints[NOISE][i] = -95;
	ints[RATE][i] = beacon ? 1000 : ack ? 24000 : 6000 * (1 + (int)chance(8));
	present[RATE][i] = beacon || ack || up;
	present[MCS][i] = !present[RATE][i];
	ints[MCS][i] = (int)chance(8);
	ints[TYPE][i] = beacon ? 0 : ack ? 1 : 2;
	ints[SUBTYPE][i] = beacon ? 8 : ack ? 13 : 8;
	ints[FLAGS][i] = beacon || ack ? 0 : up ? 0x41 : 0x42;
	ints[DURATION][i] = beacon || ack ? 0 : 44 + (int)chance(3) * 4;
	ints[RECEIVER][i] = (int)to;
	ints[TRANSMITTER][i] = ints[SOURCE][i] = (int)from;
	ints[BSSID][i] = (int)ap;
	ints[DESTINATION][i] = beacon ? (int)to : (int)(chance(3) ? to : station());
	ints[SEQUENCE][i] = beacon || !ack ? sequence[from]++ & 4095 : 0;
	for (int c = TRANSMITTER; c <= SEQUENCE; c++)
		present[c][i] = !ack;
	present[SSID][i] = beacon;
	ints[SSID][i] = 550 + (int)(ap % 5);
	longs[RUN][i] = 0x123456789abcdef + (int64_t)sensor * 77777777777;
	if (++number[sensor] > 200 + sensor) {
		number[sensor] = 0;
		combo[sensor]++;
	}
	longs[COMBO][i] = 1000 + combo[sensor];
	ints[NUMBER][i] = (int)number[sensor];
	ints[FILENAME][i] = 599;
}

static int by_sensor(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return of_sensor[x] != of_sensor[y] ? (of_sensor[x] < of_sensor[y] ? -1 : 1)
	       : x < y			    ? -1
					    : 1;
}

/* Rows in the order of their sensors if `sorted`. */
static void make_rows(int64_t *now, int64_t *offset, uint16_t *sequence, bool sorted)
{
	for (uint32_t i = 0; i < ROWS; i++)
		of_sensor[i] = sorted ? chance(SENSORS) : i / (ROWS / SENSORS + 1);
	for (uint32_t i = 0; i < ROWS; i++)
		make_row(i, of_sensor[i], now, offset, sequence);
	for (uint32_t i = 0; i < ROWS; i++)
		order[i] = i;
	qsort(order, ROWS, sizeof(*order), by_sensor);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		      0666);
	int groups = argc > 2 ? atoi(argv[2]) : 20, err = 0;
	bool sorted = argc > 3;
	struct parquet_values values[COLUMNS];
	int64_t now = 1700000000000000000, offset = 0;
	uint16_t sequence[TEXTS] = { 0 };
	double spent = 0, begin;
	struct parquet *f;
	struct stat st;

	for (int i = 0; i < TEXTS; i++) {
		texts[i].bytes = bytes[i];
		texts[i].len = (uint32_t)snprintf(bytes[i], sizeof(bytes[i]),
						  "02:%02x:%02x:%02x:%02x:%02x", chance(256),
						  chance(256), chance(256), i >> 8, i & 255);
	}
	memset(present, 1, sizeof(present));
	memset(present[ETHERTYPE], 0, sizeof(present[ETHERTYPE]));
	for (int c = 0; c < COLUMNS; c++) {
		values[c] = (struct parquet_values){ .present = columns[c].optional ? present[c]
										    : NULL };
		values[c].values = columns[c].type == PARQUET_INT64	? (void *)longs[c]
				   : columns[c].type == PARQUET_BOOLEAN ? (void *)flags[c]
									: (void *)ints[c];
		values[c].texts = texts;
		values[c].text_count = columns[c].type == PARQUET_TEXT ? TEXTS : 0;
	}
	if (fd < 0 || parquet_open(&f, fd, columns, COLUMNS))
		return 1;
	for (int g = 0; g < groups && !err; g++) {
		make_rows(&now, &offset, sequence, sorted);
		begin = cpu_ns();
		err = parquet_row_group(f, values, sorted ? order : NULL, ROWS);
		spent += cpu_ns() - begin;
	}
	if (parquet_close(f, NULL, 0, "parquet_cost") || err || fstat(fd, &st))
		return 1;
	printf("%.1f ns and %.2f bytes a row\n", spent / groups / ROWS,
	       (double)st.st_size / groups / ROWS);
	return 0;
}
