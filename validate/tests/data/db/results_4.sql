create index point_config on point(config_hash);
create view v_runs as select r.id as run, r.config_name, r.config_path, c.hash as config_hash, w.source as workload,
	w.range, r.fidelity, r.start, r.seed, r.total_ps / 1e6 as latency_us, r.roofline_ps / 1e6 as roofline_us,
	r.roofline_bound, r.dram_read_bytes + r.dram_write_bytes as dram_bytes, r.dram_read_bytes, r.dram_write_bytes,
	r.dirty_bytes, r.compulsory_bytes, r.flops, r.cycles, r.events, r.carried_ps / 1e6 as carried_us, w.kernel_ns / 1e3
	as measured_kernel_us, w.measured_ns / 1e3 as measured_us, w.wall_ns / 1e3 as measured_wall_us, r.build from run r
	join config c on c.id = r.config join workload w on w.id = r.workload;
create view v_run_stats as select run, name, value, unit, level from stat;
create view v_run_resources as select run, name, stall_ps / 1e6 as stall_us, peak_ps / 1e6 as peak_us from resource;
create view v_stalls as select run, op, resource, ppm / 1e6 as share from op_stall;
create view v_resources as select sweep, point, name, stall_ps / 1e6 as stall_us, peak_ps / 1e6 as peak_us from
	point_resource;
pragma user_version = 4;
