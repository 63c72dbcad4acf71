alter table op_result add column macs_ps integer;
alter table op_result add column pins_ps integer;
drop view v_ops;
create view v_ops as select o.run, o.op, s.name, s.kind, s.family, s.layer, o.span_ps / 1e6 as us, o.start_ps / 1e6 as
	start_us, o.limit_ps / 1e6 as limit_us, o.bound, o.dram_bytes, o.mem_bytes, o.flops, s.measured_ns / 1e3 as
	measured_us, case when o.span_ps > 0 then min(o.macs_ps, o.span_ps) * 1.0 / o.span_ps end as mfu, case when o.span_ps
	> 0 then min(o.pins_ps, o.span_ps) * 1.0 / o.span_ps end as bandwidth_use from op_result o join run r on r.id = o.run
	join op_stream s on s.workload = r.workload and s.op = o.op;
create table run_warning(run integer not null references run, place integer not null, what text not null, text text
	not null, primary key(run, place)) without rowid;
create view v_warnings as select run, what, text from run_warning;
update op_result set macs_ps = 12, pins_ps = 3400000 where op = 0;
insert into run_warning values(1, 0, 'dma', 'the DMA carries 1 GB/s, DRAM 2');
pragma user_version = 6;
