#include "train/outcome.h"

static const struct pair {
    enum star_trainer_outcome outcome;
    enum status status;
} pairs[] = {
    {STAR_TRAINER_OK, STATUS_OK},
    {STAR_TRAINER_BAD_SPEC, STATUS_USAGE},
    {STAR_TRAINER_CANNOT_READ, STATUS_IO},
    {STAR_TRAINER_BAD_DATA, STATUS_MALFORMED},
    {STAR_TRAINER_MISFIT, STATUS_CONFIG},
    {STAR_TRAINER_NO_MEMORY, STATUS_NO_MEMORY},
    {STAR_TRAINER_FAILED, STATUS_BUG},
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

enum status outcome_status(enum star_trainer_outcome outcome)
{
    for (unsigned i = 0; i < PAIRS; i++)
        if (pairs[i].outcome == outcome)
            return pairs[i].status;
    return STATUS_BUG;
}

enum star_trainer_outcome outcome_of(enum status status)
{
    for (unsigned i = 0; i < PAIRS; i++)
        if (pairs[i].status == status)
            return pairs[i].outcome;
    return STAR_TRAINER_FAILED;
}
