#!/bin/sh
# mknsys.sh N OUT.sqlite - a Nsight Systems export of N kernels, each with its runtime call, for measuring the import
# and the commands that read what comes of it. 64 kernel names of some 300 characters come round; every 20th call is
# followed by a copy.
set -eu

[ $# -eq 2 ] || { echo "usage: mknsys.sh N OUT.sqlite" >&2; exit 2; }
rm -f "$2"
sqlite3 "$2" <<SQL
pragma journal_mode = off;
pragma synchronous = off;
begin;
create table StringIds(id integer primary key, value text not null);
create table TARGET_INFO_GPU(id integer, name text, computeMajor integer, computeMinor integer, smCount integer,
 totalMemory integer, maxShmemPerSm integer, maxRegistersPerSm integer);
create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, eventClass integer, globalTid integer,
 correlationId integer, nameId integer, returnValue integer, callchainId integer);
create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, contextId integer,
 greenContextId integer, streamId integer, correlationId integer, globalPid integer, demangledName integer,
 shortName integer, mangledName integer, launchType integer, cacheConfig integer, registersPerThread integer,
 gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer, blockZ integer,
 staticSharedMemory integer, dynamicSharedMemory integer, localMemoryPerThread integer, localMemoryTotal integer,
 gridId integer, sharedMemoryExecuted integer, graphNodeId integer, sharedMemoryLimitConfig integer);
create table CUPTI_ACTIVITY_KIND_MEMCPY(start integer, end integer, deviceId integer, contextId integer,
 streamId integer, correlationId integer, globalPid integer, bytes integer, copyKind integer, srcKind integer,
 dstKind integer);
insert into TARGET_INFO_GPU values(0, 'NVIDIA H200', 9, 0, 132, 150754820096, 233472, 65536);
insert into StringIds values(1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpyAsync_v3020');
with recursive k(i) as (select 0 union all select i + 1 from k where i < 63)
insert into StringIds select 100 + i, case i % 4
 when 0 then 'void at::native::vectorized_elementwise_kernel<' || (1 + i)
 when 1 then 'void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, float, ' || (1 + i)
 when 2 then 'void at::native::reduce_kernel<' || (1 + i)
 else 'void flash::flash_fwd_splitkv_kernel<' || (1 + i) end
 || replace(hex(zeroblob(60)), '00', ', std::') || '>(int, T2)' from k;
insert into StringIds select id + 100, substr(value, 6, 24) from StringIds where id between 100 and 163;
with recursive k(i) as (select 0 union all select i + 1 from k where i < $1 - 1)
insert into CUPTI_ACTIVITY_KIND_RUNTIME select i * 5000, i * 5000 + 3000, 0, 281475000000000, i + 1,
 iif(i % 20 = 19, 2, 1), 0, null from k;
with recursive k(i) as (select 0 union all select i + 1 from k where i < $1 - 1)
insert into CUPTI_ACTIVITY_KIND_KERNEL select i * 5000 + 4000, i * 5000 + 5500 + i * 37 % 3000, 0, 1, null, 7, i + 1,
 281474976710656, 100 + i * 7 % 64, 200 + i * 7 % 64, null, 2, 0, 32, 1 + i % 512, 1, 1, 128, 1, 1, 0, 0, 0, 0, i, 0,
 null, 0 from k;
insert into CUPTI_ACTIVITY_KIND_MEMCPY select start + 1, end, 0, 1, 7, correlationId, 281474976710656, 4096, 1, 1, 2
 from CUPTI_ACTIVITY_KIND_KERNEL where correlationId % 20 = 0;
commit;
SQL
