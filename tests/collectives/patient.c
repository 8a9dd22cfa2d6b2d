#include "tests/collectives/patient.h"

#include <string.h>

#include "tests/check.h"

struct virtual_group *patient_new(unsigned count)
{
    struct virtual_group *group = virtual_new(MANNER_PATIENT, count);

    virtual_start_all(group);
    return group;
}

void patient_sum(struct virtual_group *group, unsigned place, double value)
{
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_ALLREDUCE,
                          .scalar = SCALAR_F32,
                          .reduction = REDUCTION_SUM,
                          .bytes = 160};

    virtual_floats(group, place, 40, value);
    virtual_request(group, place, &ask);
}

void patient_settle(struct virtual_group *group)
{
    CHECK(virtual_settle(group, 10 * SECOND));
}

void patient_sum_all(struct virtual_group *group, double value)
{
    for (unsigned i = 0; i < group->count; i++)
        patient_sum(group, i, value + i);
    patient_settle(group);
}

void patient_check_all(const struct virtual_group *group, enum ending outcome)
{
    for (unsigned i = 0; i < group->count; i++)
        CHECK_EQUAL(outcome, virtual_told(group, i)->outcome);
}

/* A checkpoint of floats that are all `value`. */
void patient_checkpoint(struct virtual_group *group, unsigned place,
                        double value)
{
    virtual_floats(group, place, 50, value);
    virtual_call(group, place, COLLECTIVE_CHECKPOINT);
}

void patient_checkpoint_all(struct virtual_group *group, double value)
{
    for (unsigned i = 0; i < group->count; i++)
        patient_checkpoint(group, i, value);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
}

void patient_lazy_all(struct virtual_group *group, double value)
{
    for (unsigned i = 0; i < group->count; i++) {
        virtual_floats(group, i, 50, value);
        virtual_call(group, i, COLLECTIVE_LAZY);
    }
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    for (unsigned i = 0; i < group->count; i++) {
        memcpy(group->members[i].model, group->members[i].in, 200);
        group->members[i].model_bytes = 200;
    }
}

void patient_load(struct virtual_group *group, unsigned place)
{
    memset(group->members[place].out, 0xee, 8);
    virtual_call(group, place, COLLECTIVE_LOAD);
}
