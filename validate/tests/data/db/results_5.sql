create table run_limit(run integer not null references run, place integer not null, key text not null, now text not
	null, next text not null, step real not null, per_ppm integer not null, total_ps integer, refused text, primary
	key(run, place)) without rowid;
create view v_limits as select l.run, l.key, l.now, l.next, l.step, l.total_ps / 1e6 as latency_us, l.per_ppm / 1e6 as
	per, (r.total_ps - l.total_ps) * 1.0 / r.total_ps / l.step * l.per_ppm / 1e6 as gain, l.refused from run_limit l join
	run r on r.id = l.run;
insert into run_limit values(1, 0, 'l2.size', '4 MiB', '8 MiB', 1.0, 1000000, 3000000, null);
pragma user_version = 5;
