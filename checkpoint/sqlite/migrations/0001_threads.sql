-- One row per thread. A free thread has an empty nonce.
create table hf_thread(
  tenant text not null check (tenant <> ''), thread text not null check (thread <> ''),
  epoch integer not null, nonce blob not null, released blob not null, lease_until integer not null, holder blob not null,
  takeovers integer not null, inbox integer not null, active integer not null, branches integer not null,
  run text not null, status integer not null, graph text not null, owner text not null,
  created integer not null, updated integer not null,
  primary key (tenant, thread)) without rowid;
create index hf_thread_status on hf_thread(status, tenant, thread);
create index hf_thread_held on hf_thread(tenant, thread) where nonce <> x'';

-- A table with rowid: without it, bodies of a few KB would fill overflow pages.
create table hf_record(
  tenant text not null, thread text not null, branch integer not null, ns blob not null, pos integer not null,
  ord integer not null, by integer not null, base integer not null, step integer not null, kind integer not null,
  at integer not null, body blob not null);
create unique index hf_record_place on hf_record(tenant, thread, branch, ns, pos);

create table hf_branch(
  tenant text not null, thread text not null, n integer not null, name text not null,
  origin integer not null, ord integer not null, reason text not null,
  primary key (tenant, thread, n)) without rowid;
create unique index hf_branch_name on hf_branch(tenant, thread, name);

create table hf_run(
  tenant text not null, thread text not null, run text not null, request text not null, status integer not null,
  graph text not null, started_by text not null, error blob not null, started integer not null, ended integer not null,
  primary key (tenant, thread, run)) without rowid;
create unique index hf_run_request on hf_run(tenant, thread, request) where request <> '';

create table hf_meta(
  tenant text not null, thread text not null, run text not null, name text not null, value text not null,
  primary key (tenant, thread, run, name)) without rowid;
create index hf_meta_value on hf_meta(name, value);

-- state: 0 open, 1 answered, 2 closed
create table hf_question(
  tenant text not null, thread text not null, id text not null, branch integer not null, ns blob not null,
  run text not null, task text not null, state integer not null, asked integer not null, deadline integer not null,
  shown blob not null, not_by text not null, body blob not null,
  answer blob not null, answered_by text not null, answered integer not null);
create unique index hf_question_id on hf_question(tenant, thread, id);
create index hf_question_open on hf_question(asked, tenant, thread, id) where state = 0;
create index hf_question_answered on hf_question(asked, tenant, thread, id) where state = 1;
create index hf_question_open_tenant on hf_question(tenant, asked, thread, id) where state = 0;

create table hf_inbox(
  tenant text not null, thread text not null, n integer not null, kind integer not null, request text not null,
  at integer not null, body blob not null);
create unique index hf_inbox_n on hf_inbox(tenant, thread, n);
create unique index hf_inbox_request on hf_inbox(tenant, thread, request) where request <> '';
