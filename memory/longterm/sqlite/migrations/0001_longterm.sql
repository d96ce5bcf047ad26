-- Times are microseconds since 1970, 0 for none. Who writes what a user has locks the row of the scope.
create table hfl_scope(
  tenant text not null check (tenant <> ''), usr text not null check (usr <> ''),
  primary key (tenant, usr)) without rowid;

-- What holds about a subject has state 0. An item that is in the index has a shelf and a number in it.
create table hfl_item(
  tenant text not null, usr text not null, id text not null,
  shelf text not null, no integer not null, namespace text not null, label integer not null, kind text not null, subject text not null,
  hash text not null, replaces text not null, depends text not null, state integer not null,
  since integer not null, ended integer not null, expires integer not null, body blob not null,
  primary key (tenant, usr, id));
create index hfl_item_place on hfl_item(tenant, usr, shelf, no);
create index hfl_item_subject on hfl_item(tenant, usr, subject) where subject > '';
create index hfl_item_hash on hfl_item(tenant, usr, hash) where hash > '';
create index hfl_item_replaces on hfl_item(tenant, usr, replaces) where replaces > '';
create index hfl_item_kind on hfl_item(tenant, usr, state, kind, since, id);

-- Which item follows from which.
create table hfl_depend(
  tenant text not null, usr text not null, item text not null, on_item text not null,
  primary key (tenant, usr, item, on_item)) without rowid;
create index hfl_depend_on on hfl_depend(tenant, usr, on_item);

create table hfl_shelf(
  tenant text not null, usr text not null, name text not null, namespace text not null, label integer not null, next integer not null,
  items integer not null,
  primary key (tenant, usr, name)) without rowid;

-- The words of the items of a shelf, in blocks. A row is mostly shorter than its key.
create table hfl_index(
  tenant text not null, usr text not null, shelf text not null, term blob not null, block integer not null, data blob not null,
  primary key (tenant, usr, shelf, term, block)) without rowid;

create table hfl_job(
  tenant text not null, usr text not null, id text not null,
  state text not null, queued integer not null, due integer not null, done integer not null, holder text not null, held integer not null,
  body blob not null, open integer not null,
  primary key (tenant, usr, id));
create index hfl_job_due on hfl_job(due, id) where open = 1;
