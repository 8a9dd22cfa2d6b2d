/* What json-c lacks for files that were read: members of a type. */
#ifndef STORE_JSON_H
#define STORE_JSON_H

#include <json-c/json.h>
#include <stddef.h>

/* The member of an object, if it has that type, or NULL; the object's. What is
 * no object has no members. */
static inline struct json_object *
json_member(struct json_object *json, const char *name, enum json_type type)
{
    struct json_object *found = NULL;

    if (!json_object_object_get_ex(json, name, &found) ||
        !json_object_is_type(found, type))
        return NULL;
    return found;
}

#endif
