alter table run_limit add column within integer not null default 0;
drop view v_limits;
create view v_limits as select l.run, l.move, l.key, l.now, l.next, l.step, l.total_ps / 1e6 as latency_us, l.per_ppm
	/ 1e6 as per, (coalesce(l.base_ps, r.total_ps) - l.total_ps) * 1.0 / coalesce(l.base_ps, r.total_ps) / case when
	l.step > 0 then l.step / l.per_ppm * 1e6 else 1 end as gain, l.within as within_error, l.refused,
	coalesce(l.fidelity, r.fidelity) as fidelity, coalesce(l.base_ps, r.total_ps) / 1e6 as base_us from run_limit l join
	run r on r.id = l.run;
update run_limit set within = 1 where place = 1;
pragma user_version = 9;
