create schema hf_golden_format2;
set search_path to hf_golden_format2;
set time zone 'UTC';
create table hf_version(n int not null primary key, applied timestamptz not null default clock_timestamp());

-- Refuses a write from inside a pipeline: what follows in the same transaction is not done.
create function hf_must(ok boolean, code text) returns boolean language plpgsql as
  $$ begin if ok is not true then raise exception 'holdfast: refused' using errcode = code; end if; return ok; end $$;

-- One row per thread. A free thread has no nonce. Names are compared and ordered byte by byte, whatever the database's locale.
create table hf_thread(
  tenant text collate "C" not null check (tenant <> ''), thread text collate "C" not null check (thread <> ''),
  epoch bigint not null, nonce bytea, released bytea, lease_until timestamptz, holder bytea,
  takeovers int not null, inbox bigint not null, active int not null, branches int not null,
  run text collate "C" not null, status smallint not null, graph text collate "C" not null, owner text collate "C" not null,
  created timestamptz not null, updated timestamptz not null,
  primary key (tenant, thread)) with (fillfactor = 70);
create index hf_thread_status on hf_thread(status, tenant, thread);
create index hf_thread_held on hf_thread(tenant, thread) where nonce is not null;

-- The only index is the key. Bodies are not compressed: they may be encrypted, and the time counts.
create table hf_record(
  tenant text collate "C" not null, thread text collate "C" not null, branch int not null, ns bytea not null, pos bigint not null,
  ord bigint not null, by bigint not null, base bigint not null, step bigint not null, kind smallint not null,
  at timestamptz not null, body bytea not null,
  primary key (tenant, thread, branch, ns, pos));
alter table hf_record alter column body set storage external;

create table hf_branch(
  tenant text collate "C" not null, thread text collate "C" not null, n int not null, name text collate "C" not null,
  origin int not null, ord bigint not null, reason text not null,
  primary key (tenant, thread, n));
create unique index hf_branch_name on hf_branch(tenant, thread, name);

create table hf_run(
  tenant text collate "C" not null, thread text collate "C" not null, run text collate "C" not null,
  request text collate "C" not null, status smallint not null, graph text collate "C" not null, started_by text not null,
  error bytea not null, started timestamptz not null, ended timestamptz,
  primary key (tenant, thread, run));
create unique index hf_run_request on hf_run(tenant, thread, request) where request <> '';

create table hf_meta(
  tenant text collate "C" not null, thread text collate "C" not null, run text collate "C" not null,
  name text collate "C" not null, value text collate "C" not null,
  primary key (tenant, thread, run, name));
create index hf_meta_value on hf_meta(name, value);

-- state: 0 open, 1 answered, 2 closed
create table hf_question(
  tenant text collate "C" not null, thread text collate "C" not null, id text collate "C" not null, branch int not null,
  ns bytea not null, run text not null, task text not null, state smallint not null, asked timestamptz not null,
  deadline timestamptz, shown bytea not null, not_by text not null, body bytea not null,
  answer bytea not null, answered_by text not null, answered timestamptz,
  primary key (tenant, thread, id));
create index hf_question_open on hf_question(asked, tenant, thread, id) where state = 0;
create index hf_question_answered on hf_question(asked, tenant, thread, id) where state = 1;
create index hf_question_open_tenant on hf_question(tenant, asked, thread, id) where state = 0;

create table hf_inbox(
  tenant text collate "C" not null, thread text collate "C" not null, n bigint not null, kind smallint not null,
  request text collate "C" not null, at timestamptz not null, body bytea not null,
  primary key (tenant, thread, n));
create unique index hf_inbox_request on hf_inbox(tenant, thread, request) where request <> '';

-- These policies sleep until row-level security is switched on. No tenant, or an empty one, sees and writes nothing.
create policy hf_tenant on hf_thread using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
create policy hf_tenant on hf_record using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
create policy hf_tenant on hf_branch using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
create policy hf_tenant on hf_run using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
create policy hf_tenant on hf_meta using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
create policy hf_tenant on hf_question using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
create policy hf_tenant on hf_inbox using (tenant = nullif(current_setting('holdfast.tenant', true), ''));

-- Cached results of nodes, until their time has passed by the clock of the database.
create table hf_cache(
  tenant text collate "C" not null check (tenant <> ''), hash bytea not null, until timestamptz not null, body bytea not null,
  primary key (tenant, hash));
alter table hf_cache alter column body set storage external;
create index hf_cache_until on hf_cache(until);

create policy hf_tenant on hf_cache using (tenant = nullif(current_setting('holdfast.tenant', true), ''));

insert into hf_version(n, applied) values ('1', '2026-11-30 04:13:56.042901+00');
insert into hf_version(n, applied) values ('2', '2026-11-30 04:13:56.084054+00');
insert into hf_cache(tenant, hash, until, body) values ('tenant', E'\\x0700000000000000000000000000000000000000000000000000000000000000', '2126-11-06 04:13:56.207971+00', E'\\x6361636865642000ff');
insert into hf_thread(tenant, thread, epoch, nonce, released, lease_until, holder, takeovers, inbox, active, branches, run, status, graph, owner, created, updated) values ('tenant', 'thread', '1', E'\\x01020304050607080900000000000000', NULL, '2076-11-17 04:13:56.1254+00', E'\\x7b22686f7374223a22686f7374222c22626f6f74223a22626f6f74222c22706964223a372c227374617274223a227374617274227d', '0', '2', '0', '2', 'run', '2', 'graph', 'owner', '2026-11-30 04:13:56.114769+00', '2026-11-30 04:13:56.189544+00');
insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body) values ('tenant', 'thread', '0', E'\\x', '0', '4294967296', '36311929895191428', '0', '0', '73', '2026-11-30 04:13:56.123539+00', E'\\x626f64792000ff30');
insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body) values ('tenant', 'thread', '0', E'\\x', '1', '4294967297', '36311929895191428', '0', '1', '80', '2026-11-30 04:13:56.188783+00', E'\\x626f64792000ff31');
insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body) values ('tenant', 'thread', '0', E'\\x016d056368696c64', '0', '4294967298', '36311929895191428', '0', '0', '69', '2026-11-30 04:13:56.188797+00', E'\\x626f64792000ff32');
insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, at, body) values ('tenant', 'thread', '1', E'\\x', '0', '4294967299', '36311929895191428', '0', '0', '70', '2026-11-30 04:13:56.188801+00', E'\\x626f64792000ff33');
insert into hf_branch(tenant, thread, n, name, origin, ord, reason) values ('tenant', 'thread', '1', 'fork', '0', '4294967296', 'fork');
insert into hf_run(tenant, thread, run, request, status, graph, started_by, error, started, ended) values ('tenant', 'thread', 'run', 'request', '2', 'graph', 'ann', E'\\x77616974732000', '2026-11-30 04:13:56.125494+00', NULL);
insert into hf_meta(tenant, thread, run, name, value) values ('tenant', 'thread', 'run', 'kind', 'refund');
insert into hf_meta(tenant, thread, run, name, value) values ('tenant', 'thread', 'run', 'quote', E'''"\\');
insert into hf_question(tenant, thread, id, branch, ns, run, task, state, asked, deadline, shown, not_by, body, answer, answered_by, answered) values ('tenant', 'thread', 'answered', '0', E'\\x', 'run', '1.1', '1', '2026-11-30 04:13:56.189155+00', NULL, E'\\x', '', E'\\x737572653f', E'\\x74727565', 'bob', '2026-11-30 04:13:56.196567+00');
insert into hf_question(tenant, thread, id, branch, ns, run, task, state, asked, deadline, shown, not_by, body, answer, answered_by, answered) values ('tenant', 'thread', 'open', '0', E'\\x016d056368696c64', 'run', '1.0', '0', '2026-11-30 04:13:56.18887+00', '2096-10-02 07:06:40+00', E'\\x00ff', 'ann', E'\\x7061793f', E'\\x', '', NULL);
insert into hf_inbox(tenant, thread, n, kind, request, at, body) values ('tenant', 'thread', '1', '105', 'next', '2026-11-30 04:13:56.176264+00', E'\\x696e707574');
