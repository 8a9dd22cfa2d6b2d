/* Reviews on the training thread: parameters of others, evaluated between two
 * iterations or while there is nothing else to do. */
#include "node/library/inside.h"

void link_start_review(struct star_link *link, uint64_t number,
                       struct blob *values)
{
    blob_unref(&link->to_examine);
    link->to_examine = blob_ref(values);
    link->examined = number;
}

bool link_review(struct star_link *link)
{
    struct msg msg = {.kind = MSG_LOCAL_REVIEWED};
    struct blob *values = link->to_examine;
    nanos begin = net_now(), end;

    if (!values)
        return false;
    link->to_examine = NULL;
    msg.local_reviewed.number = link->examined;
    (void)pthread_mutex_unlock(&link->shell.lock);
    msg.local_reviewed.made =
        link->options.evaluate(link->options.context, blob_floats(values),
                               &msg.local_reviewed.loss,
                               &msg.local_reviewed.error) == 0;
    blob_unref(&values);
    shell_post(&link->shell, &msg, NULL);
    (void)pthread_mutex_lock(&link->shell.lock);
    end = net_now();
    training_spend_apart(&link->training, SPENT_COMPUTE, end - begin, end);
    link->examining += end - begin;
    return true;
}
