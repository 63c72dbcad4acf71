-- A trace database as the first release wrote it (schema 2): three launches, of which the second is tied to
-- an op that began only after its call. t_tracedb_old.c reads it.
create table source(id integer primary key, file text not null, tool text not null, command text, digest text not null
	unique, profiled integer not null, base_ns integer not null, first_ns integer not null default 0, wall_ns integer);
create table name(id integer primary key, text text not null unique);
create table device(source integer not null references source, id integer not null, name text not null, sm_major
	integer not null, sm_minor integer not null, sms integer not null, mem_bytes integer not null, smem_per_sm integer
	not null, regs_per_sm integer not null, primary key(source, id)) without rowid;
create table args(id integer primary key, text text not null);
create table op(id integer primary key, source integer not null references source, parent integer references op, name
	integer not null references name, start_ns integer not null, dur_ns integer not null, thread integer not null,
	external integer not null, sequence integer, args integer references args);
create index op_external on op(source, external, start_ns);
create table call(id integer primary key, source integer not null references source, name integer not null references
	name, start_ns integer not null, dur_ns integer not null, thread integer not null, correlation integer not null, kind
	integer not null, waited integer not null default 0);
create index call_correlation on call(source, correlation, start_ns);
create index call_sync on call(source, start_ns) where kind = 2;
create table launch(id integer primary key, source integer not null references source, kind integer not null, name
	integer not null references name, start_ns integer not null, dur_ns integer not null, correlation integer not null,
	device integer not null, context integer not null, stream integer not null, grid_x integer not null, grid_y integer
	not null, grid_z integer not null, block_x integer not null, block_y integer not null, block_z integer not null,
	cluster_x integer not null, cluster_y integer not null, cluster_z integer not null, registers integer not null,
	smem_static integer not null, smem_dynamic integer not null, local integer not null, bytes integer not null, dir
	integer not null, blocking integer not null, call integer references call, op integer references op, graph integer
	not null, graph_node integer not null, at_ns integer not null);
create index launch_at on launch(source, at_ns);
create index launch_start on launch(source, start_ns);
create table range(id integer primary key, source integer not null references source, name integer not null references
	name, start_ns integer not null, dur_ns integer not null, thread integer not null, on_device integer not null,
	launches integer not null default 0, wall_ns integer);
create index range_name on range(name);
create table kernel_stat(id integer primary key, source integer not null references source, name integer not null
	references name, instances integer not null, total_ns integer not null, min_ns integer, median_ns integer, max_ns
	integer, deviation_ns integer);
create table metric(launch integer not null references launch, name integer not null references name, value real not
	null, unit text not null, primary key(launch, name)) without rowid;
create view kernel as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context, l.stream,
	l.correlation, l.graph, l.graph_node, l.op, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z,
	l.cluster_x, l.cluster_y, l.cluster_z, l.registers, l.smem_static, l.smem_dynamic, l.local from launch l join name n
	on n.id = l.name where l.kind = 0;
create view memcpy as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context, l.stream,
	l.correlation, l.op, l.bytes, l.dir, l.blocking from launch l join name n on n.id = l.name where l.kind = 1;
create view memset as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context, l.stream,
	l.correlation, l.op, l.bytes from launch l join name n on n.id = l.name where l.kind = 2;
create view sync as select c.id, c.source, n.text as name, c.start_ns, c.dur_ns, c.thread, c.correlation from call c
	join name n on n.id = c.name where c.kind = 2;
create view op_arg as select a.id as args, json_extract(j.value, '$[0]') as pos, json_extract(j.value, '$[1]') as
	list, json_extract(j.value, '$[2]') as dtype, json_extract(j.value, '$[3]') as dims, json_extract(j.value, '$[4]') as
	strides, json_extract(j.value, '$[5]') as scalar from args a, json_each(a.text) j;
insert into source values(1, 'old.json', 'kineto', null, '54dd5dc5', 1, 1000, 0, null);
insert into device values(1, 0, 'H200', 9, 0, 132, 1000000, 233472, 65536);
insert into name values(1, 'one'), (2, 'two'), (3, 'cudaLaunchKernel'), (4, 'kernel'), (5, 'step_0');
insert into op values(1, 1, null, 1, 0, 100, 1, 1, null, null), (2, 1, null, 2, 200, 100, 1, 2, null, null);
insert into call values(1, 1, 3, 50, 5, 1, 1, 1, 0), (2, 1, 3, 60, 5, 1, 2, 1, 0);
insert into launch values
	(1, 1, 0, 4, 110, 10, 1, 0, 1, 7, 1, 1, 1, 32, 1, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 50),
	(2, 1, 0, 4, 120, 20, 2, 0, 1, 7, 1, 1, 1, 32, 1, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 60),
	(3, 1, 0, 4, 250, 30, 3, 0, 1, 7, 1, 1, 1, 32, 1, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, null, 2, 0, 0, 250);
insert into range values(1, 1, 5, 0, 100, 1, 0, 2, null);
pragma application_id = 0x6e747263;
pragma user_version = 2;
pragma journal_mode = wal;
