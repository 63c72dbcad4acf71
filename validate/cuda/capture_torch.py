"""capture_torch.py - a decode loop in PyTorch to record: capture_torch.py [--steps N] [--shapes | --kineto]

A small decoder (8 layers, hidden 1024, 16 heads of 64, 4096 wide, 512 tokens in the cache, vocabulary 32000, bf16, batch 1,
random weights), eager; NVTX ranges decode_step_0... are around the steps, behind 3 steps of warm-up. --shapes runs them
under emit_nvtx(record_shapes=True); --kineto under PyTorch's own profiler, whose kernels it counts. Prints name,value."""
import statistics, sys, time
import torch
import torch.nn.functional as F

LAYERS, D, HEADS, WIDE, CONTEXT, VOCABULARY, WARM = 8, 1024, 16, 4096, 512, 32000, 3


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(D, 3 * D, bias=False), torch.nn.Linear(D, D, bias=False)
        self.up, self.down = torch.nn.Linear(D, WIDE, bias=False), torch.nn.Linear(WIDE, D, bias=False)
        self.n1, self.n2 = torch.nn.RMSNorm(D), torch.nn.RMSNorm(D)
        self.register_buffer("k", torch.randn(1, HEADS, CONTEXT, D // HEADS))
        self.register_buffer("v", torch.randn(1, HEADS, CONTEXT, D // HEADS))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).view(1, 1, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, torch.cat((self.k, k), 2), torch.cat((self.v, v), 2))
        x = x + self.out(a.transpose(1, 2).reshape(1, 1, D))
        return x + self.down(F.silu(self.up(self.n2(x))))


def main():
    steps = int(sys.argv[sys.argv.index("--steps") + 1]) if "--steps" in sys.argv else 3
    torch.manual_seed(1)
    layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS)).cuda().bfloat16()
    head = torch.nn.Linear(D, VOCABULARY, bias=False).cuda().bfloat16()
    embed = torch.randn(VOCABULARY, D, device="cuda", dtype=torch.bfloat16)
    token, wall = torch.zeros(1, 1, dtype=torch.long, device="cuda"), []

    def step(token):
        x = embed[token]
        for layer in layers:
            x = layer(x)
        return head(x).argmax(-1)

    def loop(token, steps, name):
        for i in range(steps):
            torch.cuda.nvtx.range_push(f"{name}_{i}")
            t = time.perf_counter()
            token = step(token)
            token.item()
            wall.append((time.perf_counter() - t) * 1e6)
            torch.cuda.nvtx.range_pop()
        return token

    with torch.no_grad():
        token = loop(token, WARM, "warm_up")
        wall.clear()
        if "--shapes" in sys.argv:
            with torch.autograd.profiler.emit_nvtx(record_shapes=True):
                loop(token, steps, "decode_step")
        elif "--kineto" in sys.argv:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as p:
                loop(token, steps, "decode_step")
            k = [e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA and not e.name.startswith(("Mem", "decode_step"))]
            print(f"kernels,{len(k)}\nkernel_us,{sum(e.time_range.elapsed_us() for e in k):.3f}")
        else:
            loop(token, steps, "decode_step")
    print(f"steps,{steps}\nwall_us,{statistics.median(wall):.1f}")


main()
