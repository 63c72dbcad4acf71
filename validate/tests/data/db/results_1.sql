-- A results database as the first release wrote it (schema 1): a run of two ops, one of which no rule knew. The files
-- results_N.sql after it are what each schema added, to run in order; t_res_old.c reads all of them.
create table workload(id integer primary key, source text not null, digest text not null, range text, rules text not
	null, content text not null unique, ops integer not null, kernel_ns integer not null, measured_ns integer not null,
	opaque_ns integer not null, wall_ns integer);
create table op_stream(workload integer not null references workload, op integer not null, name text not null, kind
	text not null, family text not null, rule text not null, layer integer not null, launches integer not null, launch
	integer, measured_ns integer not null, read_bytes integer not null, write_bytes integer not null, flops integer not
	null, primary key(workload, op)) without rowid;
create table config(hash text not null, text text not null, id integer primary key, unique(hash, text));
create table run(id integer primary key, identity text not null, config integer not null references config,
	config_name text not null, config_path text not null, workload integer not null references workload, build text not
	null, fidelity text not null, start text not null, seed integer not null, reuse_ppm integer not null, host_us integer
	not null, total_ps integer not null, cycles integer not null, roofline_ps integer not null, roofline_bound text not
	null, carried_ps integer not null, dram_read_bytes integer not null, dram_write_bytes integer not null, dirty_bytes
	integer not null, compulsory_bytes integer not null, flops integer not null, events integer not null);
create index run_identity on run(identity);
create table op_result(run integer not null references run, op integer not null, span_ps integer, start_ps integer,
	limit_ps integer, bound text, dram_bytes integer, mem_bytes integer, flops integer, primary key(run, op)) without
	rowid;
create table op_stall(run integer not null, op integer not null, resource text not null, ppm integer not null, primary
	key(run, op, resource), foreign key(run, op) references op_result(run, op)) without rowid;
create table resource(run integer not null references run, name text not null, place integer not null, stall_ps
	integer not null, peak_ps integer not null, primary key(run, name)) without rowid;
create table stat(run integer not null references run, place integer not null, name text not null, unit text not null,
	value integer not null, level integer not null, primary key(run, place)) without rowid;
insert into workload values(1, 't.json one', '54dd5dc5', 'one', 'fedcba9876543210', '00000000000000aa', 2, 6063, 6963,
	900, 11340000);
insert into op_stream values(1, 0, 'gemv 1x8x4', 'gemm', 'gemv', 'nvjet', 0, 2, 17, 6063, 80, 8, 64);
insert into op_stream values(1, 1, 'who', 'opaque', 'unknown', '', -1, 1, null, 900, 0, 0, 0);
insert into config values('deadbeefcafef00d', 'name: small', 1);
insert into run values(1, '00000000000000bb', 1, 'small', 'configs/small.yaml', 1, 'abc release', 'event', 'steady', 7,
	93750, 5000, 4000000, 5600, 3600000, 'dram', 900000, 80, 8, 16, 72, 64, 99);
insert into op_result values(1, 0, 4000000, 0, 3500000, 'dram', 80, 88, 64);
insert into op_result values(1, 1, null, null, null, null, null, null, null);
insert into op_stall values(1, 0, 'dram', 750000);
insert into op_stall values(1, 0, 'gemv', 250000);
insert into resource values(1, 'dram', 0, 4000000, 3600000);
insert into stat values(1, 0, 'l2.hit_bytes', 'bytes', 80, 0);
pragma application_id = 0x6e726573;
pragma user_version = 1;
pragma journal_mode = wal;
