#include "study/compute.h"

static enum status recorded_open(struct computing *computing, struct why *why)
{
    (void)computing;
    return because(why, STATUS_CONFIG, "--compute recorded is not there yet");
}

static void recorded_close(struct computing *computing)
{
    (void)computing;
}

const struct compute_type compute_recorded = {.kind = COMPUTE_RECORDED,
                                              .open = recorded_open,
                                              .close = recorded_close};
