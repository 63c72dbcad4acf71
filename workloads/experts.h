/* experts.h - how many different experts a router's even picks are expected to hit, and the tile of an engine's grouped
 * product over them. */
#ifndef NPUSIM_WORKLOADS_EXPERTS_H
#define NPUSIM_WORKLOADS_EXPERTS_H

#include <stdint.h>

/* 1 - (1 - top / experts)^tokens of them, to the nearest: tokens pick independently, each `top` different ones. */
uint32_t experts_hit(uint32_t experts, uint32_t top, uint64_t tokens);

/* Rows and outputs of a tile and threads of its CTA, by the tokens of the step: what vLLM's Triton kernel takes where nobody tuned it
 * (model_executor/layers/fused_moe/fused_moe.py, get_default_config). */
struct experts_tile {
	uint32_t rows, outputs, threads;
};
struct experts_tile experts_tile_of(uint64_t tokens);
/* ... of 8-bit weights with a scale for 128 by 128 of them. */
struct experts_tile experts_tile_of_blocks(uint64_t tokens);

#endif
