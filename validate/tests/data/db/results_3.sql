create table build(id integer primary key, text text not null unique);
create table sweep(id integer primary key, identity text not null unique, name text not null, text text not null,
	base_path text not null, base_text text not null, workload integer not null references workload, fidelity text not
	null, start text not null, seed integer not null, reuse_ppm integer not null, configs text not null, points integer
	not null);
create table sweep_axis(sweep integer not null references sweep, place integer not null, key text not null, unit text
	not null, primary key(sweep, place)) without rowid;
create table point(sweep integer not null references sweep, point integer not null, build integer not null references
	build, config_hash text not null, status text not null, reason text, total_ps integer, cycles integer, roofline_ps
	integer, roofline_bound text, carried_ps integer, dram_read_bytes integer, dram_write_bytes integer, dirty_bytes
	integer, compulsory_bytes integer, flops integer, events integer, primary key(sweep, point)) without rowid;
create table point_value(sweep integer not null, point integer not null, place integer not null, value text not null,
	number real, primary key(sweep, point, place), foreign key(sweep, point) references point(sweep, point) on delete
	cascade) without rowid;
create table point_kind(sweep integer not null, point integer not null, kind text not null, ops integer not null,
	span_ps integer not null, limit_ps integer not null, dram_bytes integer not null, mem_bytes integer not null, flops
	integer not null, primary key(sweep, point, kind), foreign key(sweep, point) references point(sweep, point) on delete
	cascade) without rowid;
create table point_resource(sweep integer not null, point integer not null, place integer not null, name text not
	null, stall_ps integer not null, peak_ps integer not null, primary key(sweep, point, place), foreign key(sweep,
	point) references point(sweep, point) on delete cascade) without rowid;
create table stat_name(id integer primary key, name text not null unique, unit text not null, level integer not null);
create table point_stat(sweep integer not null, point integer not null, place integer not null, stat integer not null
	references stat_name, value integer not null, primary key(sweep, point, place), foreign key(sweep, point) references
	point(sweep, point) on delete cascade) without rowid;
create view v_sweeps as select s.id as sweep, s.name, w.source as workload, w.range, s.fidelity, s.start, s.seed,
	s.points, (select count(*) from point p where p.sweep = s.id and p.status = 'done') as done, (select count(*) from
	point p where p.sweep = s.id and p.status = 'failed') as failed from sweep s join workload w on w.id = s.workload;
create view v_points as select p.sweep, p.point, (select group_concat(t, ', ') from (select a.key || '=' || v.value as
	t from point_value v join sweep_axis a on a.sweep = v.sweep and a.place = v.place where v.sweep = p.sweep and v.point
	= p.point order by v.place)) as settings, p.status, p.reason, p.total_ps / 1e6 as latency_us, p.roofline_ps / 1e6 as
	roofline_us, p.roofline_bound, p.dram_read_bytes + p.dram_write_bytes as dram_bytes, p.dram_read_bytes,
	p.dram_write_bytes, p.dirty_bytes, p.compulsory_bytes, p.flops, p.cycles, p.events, p.carried_ps / 1e6 as carried_us,
	p.config_hash, b.text as build from point p join build b on b.id = p.build;
create view v_values as select v.sweep, v.point, a.key, v.value, v.number, a.unit from point_value v join sweep_axis a
	on a.sweep = v.sweep and a.place = v.place;
create view v_stats as select v.sweep, v.point, n.name, v.value, n.unit, n.level from point_stat v join stat_name n on
	n.id = v.stat;
create view v_kinds as select sweep, point, kind, ops, span_ps / 1e6 as us, limit_ps / 1e6 as limit_us, dram_bytes,
	mem_bytes, flops from point_kind;
create view v_ops as select o.run, o.op, s.name, s.kind, s.family, s.layer, o.span_ps / 1e6 as us, o.start_ps / 1e6 as
	start_us, o.limit_ps / 1e6 as limit_us, o.bound, o.dram_bytes, o.mem_bytes, o.flops, s.measured_ns / 1e3 as
	measured_us from op_result o join run r on r.id = o.run join op_stream s on s.workload = r.workload and s.op = o.op;
insert into build values(1, 'abc release');
insert into sweep values(1, '00000000000000cc', 's.yaml', 'sweep: 1', 'configs/small.yaml', 'name: small', 1, 'event',
	'steady', 7, 93750, '00000000000000dd', 2);
insert into sweep_axis values(1, 0, 'l2.size', 'bytes');
insert into point values(1, 0, 1, '00000000000000e0', 'done', null, 5000000, 7000, 3600000, 'dram', 900000, 80, 8, 16,
	72, 64, 99);
insert into point values(1, 1, 1, '00000000000000e1', 'failed', 'it does not fit', null, null, null, null, null, null,
	null, null, null, null, null);
insert into point_value values(1, 0, 0, '4 MiB', 4194304);
insert into point_value values(1, 1, 0, '8 MiB', 8388608);
insert into point_kind values(1, 0, 'gemm', 1, 5000000, 3500000, 80, 88, 64);
insert into point_resource values(1, 0, 0, 'dram', 5000000, 3600000);
insert into stat_name values(1, 'l2.hit_bytes', 'bytes', 0);
insert into point_stat values(1, 0, 0, 1, 80);
pragma user_version = 3;
