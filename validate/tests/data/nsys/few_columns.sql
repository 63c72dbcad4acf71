-- As little as other people's tools write: no process, no registers, no block.
CREATE TABLE StringIds(id INTEGER, value TEXT);
INSERT INTO StringIds VALUES(1, 'short_kernel');
CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);
INSERT INTO TARGET_INFO_GPU VALUES(0, 'NVIDIA H100');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
	shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 30, 0, 7, 1), (40, 41, 0, 7, 1);
