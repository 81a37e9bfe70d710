/* SPDX-License-Identifier: MIT */
/* A preload library with nothing in it but a constructor: what loading alone costs. */
static __attribute__((constructor)) void start(void)
{
}
