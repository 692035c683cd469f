/* Days and microseconds since 1970, civil dates, and ISO 8601 text. */
#ifndef TYPEDBYTES_DATES_H
#define TYPEDBYTES_DATES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MICROSECONDS_OF_DAY INT64_C(86400000000)

typedef struct {
    int year, month, day, hour, minute, second, microsecond;
    int has_zone;
    int zone_minutes;    /* east of Greenwich */
} civil_time;

static inline int64_t floor_div(int64_t number, int64_t divisor) {
    int64_t quotient = number / divisor;
    return quotient - (quotient * divisor > number);
}

/* A year starts in March here, and day 0 is the first of March of the year 0: the day of a leap year is its last one.
 * Nothing is negative then: 32 bits without a sign are the fastest to divide. */
#define FIRST_OF_1970 719468

static inline int64_t days_from_civil(int year, int month, int day) {
    uint32_t y = (uint32_t)year - (month <= 2), m = (uint32_t)(month > 2 ? month - 3 : month + 9);
    uint32_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + (uint32_t)day - 1;
    return (int64_t)days - FIRST_OF_1970;
}

/* 0: before year 1 or after 9999. */
static inline int civil_from_days(int64_t days, civil_time *c) {
    /* By Neri and Schneider, "Euclidean affine functions and their application to calendar algorithms": quotients and
     * remainders by one product each. */
    uint32_t quarters, century, of_century, of_year, months;
    uint64_t product;
    if (days < -719162 || days > 2932896) return 0;
    quarters = 4 * (uint32_t)(days + FIRST_OF_1970) + 3;
    century = quarters / 146097;
    of_century = quarters % 146097 | 3;
    product = (uint64_t)2939745 * of_century;
    of_year = (uint32_t)product / 2939745 / 4;
    months = 2141 * of_year + 197913;
    c->year = (int)(100 * century + (uint32_t)(product >> 32) + (of_year >= 306));
    c->month = (int)(months >> 16) - (of_year >= 306 ? 12 : 0);
    c->day = (int)((months & 0xffff) / 2141 + 1);
    return 1;
}

/* Of 0 to MICROSECONDS_OF_DAY - 1. */
static inline void clock_from_microseconds(int64_t microseconds, civil_time *c) {
    uint32_t seconds = (uint32_t)((uint64_t)microseconds / 1000000);
    c->microsecond = (int)((uint64_t)microseconds % 1000000);
    c->second = (int)(seconds % 60);
    c->minute = (int)(seconds / 60 % 60);
    c->hour = (int)(seconds / 3600);
}

static inline int days_of_month(int year, int month) {
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/* A number of n digits; -1: others are among them. */
static inline int digits_at(const unsigned char *p, ptrdiff_t n) {
    int number = 0;
    while (n-- > 0) {
        unsigned value = *p++ - (unsigned)'0';
        if (value > 9) return -1;
        number = 10 * number + (int)value;
    }
    return number;
}

/* 0: there is something else, or it is out of range. What takes a cursor moves it past what it has read. */

static int parse_date(const unsigned char **cursor, const unsigned char *end, civil_time *c) {
    const unsigned char *p = *cursor;
    if (end - p < 10 || p[4] != '-' || p[7] != '-') return 0;
    c->year = digits_at(p, 4);
    c->month = digits_at(p + 5, 2);
    c->day = digits_at(p + 8, 2);
    *cursor = p + 10;
    return c->year >= 1 && c->month >= 1 && c->month <= 12 && c->day >= 1 && c->day <= days_of_month(c->year, c->month);
}

/* One to six digits, and then zeros: nothing is lost. */
static int parse_fraction(const unsigned char **cursor, const unsigned char *end, int *microsecond) {
    const unsigned char *p = *cursor;
    int number = 0, n = 0;
    for (; p < end && *p - (unsigned)'0' <= 9; p++, n++) {
        if (n < 6) number = 10 * number + (*p - '0');
        else if (*p != '0') return 0;
    }
    if (n == 0) return 0;
    for (; n < 6; n++) number *= 10;
    *microsecond = number;
    *cursor = p;
    return 1;
}

/* HH:MM:SS and a fraction. */
static int parse_clock(const unsigned char **cursor, const unsigned char *end, civil_time *c) {
    const unsigned char *p = *cursor;
    c->microsecond = 0;
    if (end - p < 8 || p[2] != ':' || p[5] != ':') return 0;
    c->hour = digits_at(p, 2);
    c->minute = digits_at(p + 3, 2);
    c->second = digits_at(p + 6, 2);
    p += 8;
    if (p < end && *p == '.') {
        p++;
        if (!parse_fraction(&p, end, &c->microsecond)) return 0;
    }
    *cursor = p;
    return c->hour >= 0 && c->hour < 24 && c->minute >= 0 && c->minute < 60 && c->second >= 0 && c->second < 60;
}

/* Z, +HH:MM, +HHMM or nothing. */
static int parse_zone(const unsigned char **cursor, const unsigned char *end, civil_time *c) {
    const unsigned char *p = *cursor;
    int hours, minutes, negative;
    c->has_zone = p < end;
    c->zone_minutes = 0;
    if (p == end) return 1;
    if (*p == 'Z') {
        *cursor = p + 1;
        return 1;
    }
    negative = *p == '-';
    if ((!negative && *p != '+') || end - p < 5) return 0;
    hours = digits_at(p + 1, 2);
    p += 3;
    if (*p == ':') p++;
    if (end - p < 2) return 0;
    minutes = digits_at(p, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return 0;
    c->zone_minutes = (negative ? -1 : 1) * (60 * hours + minutes);
    *cursor = p + 2;
    return 1;
}

static int parse_iso_date(const unsigned char *p, ptrdiff_t nbytes, civil_time *c) {
    const unsigned char *end = p + nbytes;
    return parse_date(&p, end, c) && p == end;
}

static int parse_iso_time(const unsigned char *p, ptrdiff_t nbytes, civil_time *c) {
    const unsigned char *end = p + nbytes;
    return parse_clock(&p, end, c) && parse_zone(&p, end, c) && p == end;
}

static int parse_iso_datetime(const unsigned char *p, ptrdiff_t nbytes, civil_time *c) {
    const unsigned char *end = p + nbytes;
    if (!parse_date(&p, end, c) || p == end || (*p != 'T' && *p != ' ')) return 0;
    p++;
    return parse_clock(&p, end, c) && parse_zone(&p, end, c) && p == end;
}

/* A duration: P1DT2H3.5S, with D, H, M and S in their order, each once at most, and a sign in front.
 * Its parts are within int64. */
static int parse_iso_duration(const unsigned char *p, ptrdiff_t nbytes, int64_t *days, int64_t *seconds,
                              int *microsecond) {
    static const char units[] = "DHMS";
    static const int64_t sizes[] = {1, 3600, 60, 1};
    const unsigned char *end = p + nbytes;
    int negative = 0, unit = 0, in_time = 0, nparts = 0;
    *days = *seconds = 0;
    *microsecond = 0;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    if (p == end || *p++ != 'P') return 0;
    while (p < end) {
        int64_t number = 0;
        int has_fraction = 0;
        const unsigned char *start = p;
        if (*p == 'T' && !in_time) {
            in_time = 1;
            if (++p == end) return 0;
            continue;
        }
        for (; p < end && *p - (unsigned)'0' <= 9; p++) {
            if (number > 99999999999999) return 0;
            number = 10 * number + (*p - '0');
        }
        if (p == start) return 0;
        if (p < end && *p == '.') {
            p++;
            has_fraction = 1;
            if (!parse_fraction(&p, end, microsecond)) return 0;
        }
        if (p == end) return 0;
        while (units[unit] && units[unit] != (char)*p) unit++;
        if (!units[unit] || in_time != (unit >= 1) || (has_fraction && units[unit] != 'S')) return 0;
        if (unit >= 1) *seconds += number * sizes[unit];
        else *days += number * sizes[unit];
        unit++;
        nparts++;
        p++;
    }
    if (negative) {
        *days = -*days;
        *seconds = -*seconds;
        *microsecond = -*microsecond;
    }
    return nparts > 0;
}

/* Each put_ function returns the end of what it has written, each format_ function how many bytes, 40 at most. */

static inline unsigned char *put_digits(unsigned char *out, int number, int n) {
    for (int i = n - 1; i >= 0; i--, number /= 10) out[i] = (unsigned char)('0' + number % 10);
    return out + n;
}

static inline unsigned char *put_date(unsigned char *out, int year, int month, int day) {
    out = put_digits(out, year, 4);
    *out++ = '-';
    out = put_digits(out, month, 2);
    *out++ = '-';
    return put_digits(out, day, 2);
}

static inline unsigned char *put_clock(unsigned char *out, int hour, int minute, int second, int microsecond) {
    out = put_digits(out, hour, 2);
    *out++ = ':';
    out = put_digits(out, minute, 2);
    *out++ = ':';
    out = put_digits(out, second, 2);
    if (microsecond) {
        *out++ = '.';
        out = put_digits(out, microsecond, 6);
    }
    return out;
}

#endif
