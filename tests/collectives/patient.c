#include "tests/collectives/patient.h"

#include <string.h>

#include "tests/check.h"

const struct msg_told *patient_told(const struct circle *circle, unsigned place)
{
    return &circle->members[place].told;
}

struct circle *patient_new(unsigned count)
{
    struct circle *circle = circle_new(MANNER_PATIENT, count);

    circle_start_all(circle);
    return circle;
}

void patient_sum(struct circle *circle, unsigned place, double value)
{
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_ALLREDUCE,
                          .scalar = SCALAR_F32,
                          .reduction = REDUCTION_SUM,
                          .bytes = 160};

    circle_floats(circle, place, 40, value);
    circle_request(circle, place, &ask);
}

void patient_settle(struct circle *circle)
{
    CHECK(circle_settle(circle, 10 * SECOND));
}

void patient_sum_all(struct circle *circle, double value)
{
    for (unsigned i = 0; i < circle->count; i++)
        patient_sum(circle, i, value + i);
    patient_settle(circle);
}

void patient_check_all(const struct circle *circle, enum ending outcome)
{
    for (unsigned i = 0; i < circle->count; i++)
        CHECK_EQUAL(outcome, patient_told(circle, i)->outcome);
}

/* A checkpoint of floats that are all `value`. */
void patient_checkpoint(struct circle *circle, unsigned place, double value)
{
    circle_floats(circle, place, 50, value);
    circle_call(circle, place, COLLECTIVE_CHECKPOINT);
}

void patient_checkpoint_all(struct circle *circle, double value)
{
    for (unsigned i = 0; i < circle->count; i++)
        patient_checkpoint(circle, i, value);
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
}

void patient_lazy_all(struct circle *circle, double value)
{
    for (unsigned i = 0; i < circle->count; i++) {
        circle_floats(circle, i, 50, value);
        circle_call(circle, i, COLLECTIVE_LAZY);
    }
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
    for (unsigned i = 0; i < circle->count; i++) {
        memcpy(circle->members[i].model, circle->members[i].in, 200);
        circle->members[i].model_bytes = 200;
    }
}

void patient_load(struct circle *circle, unsigned place)
{
    memset(circle->members[place].out, 0xee, 8);
    circle_call(circle, place, COLLECTIVE_LOAD);
}
