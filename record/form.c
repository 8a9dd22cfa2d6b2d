#include "record/form.h"

#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "A journal is little-endian, and so must this machine be."
#endif

void form_bytes(struct form *form, const void *bytes, size_t size)
{
    if (form->room - form->length < size) {
        size_t room = 2 * form->room + size + 1024;
        unsigned char *grown = realloc(form->bytes, room);

        if (!grown)
            abort();
        form->bytes = grown;
        form->room = room;
    }
    if (size)
        memcpy(form->bytes + form->length, bytes, size);
    form->length += size;
}

void form_number(struct form *form, uint64_t number)
{
    form_bytes(form, &number, sizeof number);
}

void form_real(struct form *form, double number)
{
    form_bytes(form, &number, sizeof number);
}

void form_string(struct form *form, const void *bytes, size_t size)
{
    form_number(form, size);
    form_bytes(form, bytes, size);
}

/* Bytes of a field's type that are a number, 0 for a text. */
static size_t number_bytes(enum field_type type)
{
    static const size_t sizes[] = {[FIELD_U32] = 4,
                                   [FIELD_U64] = 8,
                                   [FIELD_I64] = 8,
                                   [FIELD_F64] = 8,
                                   [FIELD_TEXT] = 0};

    return sizes[type];
}

void form_message(struct form *form, const struct msg *msg)
{
    const struct msg_info *info = msg_info(msg->kind);

    form_number(form, msg->kind);
    for (unsigned i = 0; i < info->field_count; i++) {
        const char *field = (const char *)msg + info->fields[i].offset;
        size_t size = number_bytes(info->fields[i].type);

        if (size)
            form_bytes(form, field, size);
        else
            form_string(form, field, strlen(field));
    }
}

static const unsigned char *take(struct formed *formed, size_t size)
{
    const unsigned char *at = formed->at;

    if (size > formed->left) {
        *formed = (struct formed){.bad = true};
        return NULL;
    }
    if (size) /* there may be no bytes, and no place for them */
        formed->at += size;
    formed->left -= size;
    return at;
}

static void take_to(struct formed *formed, void *to, size_t size)
{
    const unsigned char *from = take(formed, size);

    if (from)
        memcpy(to, from, size);
}

uint64_t formed_number(struct formed *formed)
{
    uint64_t number = 0;

    take_to(formed, &number, sizeof number);
    return number;
}

unsigned formed_below(struct formed *formed, unsigned limit)
{
    uint64_t number = formed_number(formed);

    if (number < limit)
        return (unsigned)number;
    formed->bad = true;
    return 0;
}

double formed_real(struct formed *formed)
{
    double number = 0;

    take_to(formed, &number, sizeof number);
    return number;
}

const unsigned char *formed_string(struct formed *formed, size_t *size)
{
    uint64_t length = formed_number(formed);
    const unsigned char *at =
        take(formed, length < SIZE_MAX ? (size_t)length : SIZE_MAX);

    *size = at ? (size_t)length : 0;
    return at;
}

void formed_text(struct formed *formed, char *text, size_t room)
{
    size_t size;
    const unsigned char *at = formed_string(formed, &size);

    if (size >= room)
        formed->bad = true;
    else if (size)
        memcpy(text, at, size);
    text[size < room ? size : 0] = '\0';
}

void formed_message(struct formed *formed, struct msg *msg)
{
    const struct msg_info *info;

    memset(msg, 0, sizeof *msg);
    msg->kind = formed_below(formed, MSG_KINDS);
    info = msg_info(msg->kind);
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *row = &info->fields[i];
        char *field = (char *)msg + row->offset;
        size_t size = number_bytes(row->type);
        uint32_t number;

        if (!size)
            formed_text(formed, field, MSG_TEXT_BYTES);
        else
            take_to(formed, field, size);
        if (!row->limit)
            continue;
        memcpy(&number, field, sizeof number);
        formed->bad |= number >= row->limit;
    }
}
