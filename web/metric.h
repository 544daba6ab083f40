/* SPDX-License-Identifier: GPL-2.0 */
/* Metric: writes families and samples in Prometheus' text format. */
#ifndef WEB_METRIC_H
#define WEB_METRIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define METRIC_GAUGE "gauge"
#define METRIC_COUNTER "counter"
#define METRIC_HISTOGRAM "histogram"

/* Begins the family "saluki_NAME". */
void metric_family(FILE *f, const char *name, const char *type, const char *help);
/* Writes a sample's name and its labels: pairs of names and values, then NULL. A value may have any
 * bytes. The macro takes them as its last arguments. */
void metric_sample(FILE *f, const char *name, const char *const *labels);
#define metric_labels(f, name, ...) metric_sample(f, name, (const char *const[]){ __VA_ARGS__ })
/* Whether two values look the same in a label. */
bool metric_same(const char *a, const char *b);
/* End the sample with its value. */
void metric_number(FILE *f, uint64_t n);
void metric_whole(FILE *f, int64_t n);
void metric_micro(FILE *f, int64_t millionths);
/* A family of one sample without labels. */
void metric_only(FILE *f, const char *name, const char *type, const char *help, uint64_t n);

#endif
