-- Schema 3.25: cluster and graph columns, no table of GPUs, inline NVTX text as torch.autograd.profiler.emit_nvtx
-- writes it, a graph's nodes under one launch call, a set.
CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES(1, 'mm_kernel'), (2, 'cudaLaunchKernelExC_v11060'), (3, 'cudaGraphLaunch_v10000'),
	(4, 'cudaMemsetAsync_v3020');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
	globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
	(130, 140, 1, 16777217, 1, 2, 0), (310, 320, 1, 16777217, 2, 3, 0), (330, 340, 1, 16777217, 3, 4, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
	contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
	globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL,
	gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
	blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, graphNodeId INTEGER, graphId INTEGER, clusterX INTEGER,
	clusterY INTEGER, clusterZ INTEGER, tensorSizeMinusOneElements TEXT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
	(1000, 1100, 1, 1, 0, 7, 1, 16777216, 1, 1, 168, 16, 1, 1, 384, 1, 1, NULL, 0, 2, 1, 1, '[]'),
	(2000, 2010, 1, 1, 0, 7, 2, 16777216, 1, 1, 168, 16, 1, 1, 384, 1, 1, 4294967301, 21, 0, 0, 0, '[]'),
	(2020, 2030, 1, 1, 0, 7, 2, 16777216, 1, 1, 168, 16, 1, 1, 384, 1, 1, 4294967302, NULL, 0, 0, 0, '[]');
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
	contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
	value INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(3000, 3005, 1, 1, 7, 3, 16777216, 0, 4, 2);
CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
	globalTid INTEGER, textId INTEGER);
INSERT INTO NVTX_EVENTS VALUES
	(50, 400, 59, 'decode_1', 16777217, NULL),
	(100, 200, 59, 'aten::linear, seq = 12, op_id = 7, sizes = [[4, 8], [16, 8], []]', 16777217, NULL),
	(120, 150, 59, 'aten::mm, op_id = 8, sizes = [[4, 8], [8, 16]]', 16777217, NULL),
	(300, 360, 59, 'aten::zero_, op_id = 9', 16777217, NULL);
