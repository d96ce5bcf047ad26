create table hfl_version(n int not null primary key, applied timestamptz not null default clock_timestamp());

-- Names are compared and ordered byte by byte, whatever the database's locale. Times are microseconds since 1970, 0 for none. Who writes what a user has locks the row of the scope.
create table hfl_scope(
  tenant text collate "C" not null check (tenant <> ''), usr text collate "C" not null check (usr <> ''),
  primary key (tenant, usr));

-- What holds about a subject has state 0. An item that is in the index has a shelf and a number in it.
create table hfl_item(
  tenant text collate "C" not null, usr text collate "C" not null, id text collate "C" not null,
  shelf text collate "C" not null, no bigint not null, namespace text collate "C" not null, label bigint not null, kind text collate "C" not null, subject text collate "C" not null,
  hash text collate "C" not null, replaces text collate "C" not null, depends text collate "C" not null, state bigint not null,
  since bigint not null, ended bigint not null, expires bigint not null, body bytea not null,
  primary key (tenant, usr, id));
create index hfl_item_place on hfl_item(tenant, usr, shelf, no);
create index hfl_item_subject on hfl_item(tenant, usr, subject) where subject > '';
create index hfl_item_hash on hfl_item(tenant, usr, hash) where hash > '';
create index hfl_item_replaces on hfl_item(tenant, usr, replaces) where replaces > '';
create index hfl_item_kind on hfl_item(tenant, usr, state, kind, since, id);

-- Which item follows from which.
create table hfl_depend(
  tenant text collate "C" not null, usr text collate "C" not null, item text collate "C" not null, on_item text collate "C" not null,
  primary key (tenant, usr, item, on_item));
create index hfl_depend_on on hfl_depend(tenant, usr, on_item);

create table hfl_shelf(
  tenant text collate "C" not null, usr text collate "C" not null, name text collate "C" not null, namespace text collate "C" not null, label bigint not null, next bigint not null,
  items bigint not null,
  primary key (tenant, usr, name));

-- The words of the items of a shelf, in blocks. Rows are kept whole and as they are: they would hardly get smaller.
create table hfl_index(
  tenant text collate "C" not null, usr text collate "C" not null, shelf text collate "C" not null, term bytea not null, block bigint not null, data bytea not null,
  primary key (tenant, usr, shelf, term, block));

create table hfl_job(
  tenant text collate "C" not null, usr text collate "C" not null, id text collate "C" not null,
  state text collate "C" not null, queued bigint not null, due bigint not null, done bigint not null, holder text collate "C" not null, held bigint not null,
  body bytea not null, open bigint not null,
  primary key (tenant, usr, id));
create index hfl_job_due on hfl_job(due, id) where open = 1;

alter table hfl_index alter column data set storage external;
alter table hfl_index set (toast_tuple_target = 8160);
