#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {
    setenv("TZ", "UTC0", 1);
    tzset();
    time_t t = 1234567890;
    struct tm *tm = gmtime(&t), made = {.tm_year = 123, .tm_mon = 1, .tm_mday = 30, .tm_hour = 25};
    char text[100];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %j %U", tm);
    printf("%s | %s", text, asctime(tm));
    time_t back = mktime(&made);
    printf("%ld %d %d %d\n", (long)back, made.tm_mon, made.tm_mday, made.tm_wday);
    tm = localtime(&back);
    printf("%02d:%02d %.0f %d\n", tm->tm_hour, tm->tm_min, difftime(back, t), time(0) > t);
    struct timespec now;
    printf("%d\n", clock_gettime(CLOCK_MONOTONIC, &now));
    return 0;
}
