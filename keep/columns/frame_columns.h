/* SPDX-License-Identifier: GPL-2.0 */
/* The columns that frames and transmissions have: what the frame itself says. */
#ifndef KEEP_COLUMNS_FRAME_COLUMNS_H
#define KEEP_COLUMNS_FRAME_COLUMNS_H

#include "row.h"
#include "table.h"

/* Numbers from the first of these columns of a table on. */
enum {
	FRAME_LINKTYPE,
	FRAME_FREQUENCY,
	FRAME_SIGNAL,
	FRAME_NOISE,
	FRAME_RATE,
	FRAME_PHY,
	FRAME_MCS,
	FRAME_STREAMS,
	FRAME_AIRTIME,
	FRAME_LENGTH,
	FRAME_KEPT,
	FRAME_TYPE,
	FRAME_SUBTYPE,
	FRAME_FLAGS,
	FRAME_RETRY,
	FRAME_DURATION,
	FRAME_RECEIVER,
	FRAME_TRANSMITTER,
	FRAME_BSSID,
	FRAME_SOURCE,
	FRAME_DESTINATION,
	FRAME_TO_GROUP,
	FRAME_SEQUENCE,
	FRAME_FRAGMENT,
	FRAME_SSID,
	FRAME_ETHERTYPE,
	FRAME_BAD_FCS,
	FRAME_COLUMNS
};

/* In the order above. */
#define FRAME_COLUMN_DEFS                                                                          \
	ALWAYS("linktype", PARQUET_INT32, PARQUET_UINT16),                                         \
		OPTIONAL("frequency", PARQUET_INT32, PARQUET_UINT16),                              \
		OPTIONAL("signal", PARQUET_INT32, PARQUET_INT8),                                   \
		OPTIONAL("noise", PARQUET_INT32, PARQUET_INT8),                                    \
		OPTIONAL("rate_kbps", PARQUET_INT32, PARQUET_UINT32),                              \
		OPTIONAL("phy", PARQUET_TEXT, PARQUET_PLAIN_TYPE),                                 \
		OPTIONAL("mcs", PARQUET_INT32, PARQUET_UINT8),                                     \
		OPTIONAL("streams", PARQUET_INT32, PARQUET_UINT8),                                 \
		OPTIONAL("airtime_ns", PARQUET_INT32, PARQUET_UINT32),                             \
		ALWAYS("length", PARQUET_INT32, PARQUET_UINT32),                                   \
		ALWAYS("kept", PARQUET_INT32, PARQUET_UINT32),                                     \
		OPTIONAL("type", PARQUET_INT32, PARQUET_UINT8),                                    \
		OPTIONAL("subtype", PARQUET_INT32, PARQUET_UINT8),                                 \
		OPTIONAL("fc_flags", PARQUET_INT32, PARQUET_UINT8),                                \
		OPTIONAL("retry", PARQUET_BOOLEAN, PARQUET_PLAIN_TYPE),                            \
		OPTIONAL("duration", PARQUET_INT32, PARQUET_UINT16), ADDRESS("receiver"),          \
		ADDRESS("transmitter"), ADDRESS("bssid"), ADDRESS("source"),                       \
		ADDRESS("destination"), OPTIONAL("to_group", PARQUET_BOOLEAN, PARQUET_PLAIN_TYPE), \
		OPTIONAL("sequence", PARQUET_INT32, PARQUET_UINT16),                               \
		OPTIONAL("fragment", PARQUET_INT32, PARQUET_UINT8),                                \
		OPTIONAL("ssid", PARQUET_TEXT, PARQUET_PLAIN_TYPE),                                \
		OPTIONAL("ethertype", PARQUET_INT32, PARQUET_UINT16),                              \
		OPTIONAL("bad_fcs", PARQUET_BOOLEAN, PARQUET_PLAIN_TYPE)

/* Sets these columns. `from`: the number of the first. */
void frame_columns(struct table *t, int from, const struct row *r);

#endif
