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
