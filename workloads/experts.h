/* experts.h - how many different experts a router's even picks are expected to hit. */
#ifndef NPUSIM_WORKLOADS_EXPERTS_H
#define NPUSIM_WORKLOADS_EXPERTS_H

#include <stdint.h>

/* 1 - (1 - top / experts)^tokens of them, to the nearest: tokens pick independently, each `top` different ones. */
uint32_t experts_hit(uint32_t experts, uint32_t top, uint64_t tokens);

#endif
