alter table run_limit add column move text not null default 'more';
alter table run_limit add column base_ps integer;
alter table run_limit add column fidelity text;
drop view v_limits;
create view v_limits as select l.run, l.move, l.key, l.now, l.next, l.step, l.total_ps / 1e6 as latency_us, l.per_ppm
	/ 1e6 as per, (coalesce(l.base_ps, r.total_ps) - l.total_ps) * 1.0 / coalesce(l.base_ps, r.total_ps) / case when
	l.step > 0 then l.step / l.per_ppm * 1e6 else 1 end as gain, l.refused, coalesce(l.fidelity, r.fidelity) as fidelity,
	coalesce(l.base_ps, r.total_ps) / 1e6 as base_us from run_limit l join run r on r.id = l.run;
insert into run_limit values(1, 1, 'l2.size', '4 MiB', '2 MiB', 0.5, 1000000, 5000000, null, 'less', 4100000,
	'analytic');
pragma user_version = 7;
