create table hfs_version(n int not null primary key, applied timestamptz not null default clock_timestamp());

-- Times are microseconds since 1970. Names are compared and ordered byte by byte, whatever the database's locale.
create table hfs_conversation(
  tenant text collate "C" not null check (tenant <> ''), usr text collate "C" not null check (usr <> ''),
  id text collate "C" not null check (id <> ''),
  created bigint not null, updated bigint not null, messages bigint not null,
  primary key (tenant, usr, id));
create index hfs_conversation_created on hfs_conversation(tenant, usr, created desc, id);

-- Bodies are not compressed: they may be encrypted, and the time counts.
create table hfs_message(
  tenant text collate "C" not null, usr text collate "C" not null, conversation text collate "C" not null, seq bigint not null,
  id text collate "C" not null,
  role text collate "C" not null, at bigint not null, body bytea not null,
  primary key (tenant, usr, conversation, seq));
create unique index hfs_message_id on hfs_message(tenant, usr, conversation, id);

-- How a tool call ended, and which message says so.
create table hfs_call(
  tenant text collate "C" not null, usr text collate "C" not null, conversation text collate "C" not null, id text collate "C" not null,
  ok smallint not null, seq bigint not null,
  primary key (tenant, usr, conversation, id));

-- Facts are added, never changed. The current one of a field has the highest version; no value is a withdrawal.
create table hfs_fact(
  tenant text collate "C" not null, usr text collate "C" not null, conversation text collate "C" not null, field text collate "C" not null,
  version bigint not null,
  value text collate "C" not null, origin text collate "C" not null, ref text collate "C" not null, candidate text collate "C" not null,
  at bigint not null,
  primary key (tenant, usr, conversation, field, version));
create index hfs_fact_ref on hfs_fact(tenant, usr, conversation, ref);

create table hfs_candidate(
  tenant text collate "C" not null, usr text collate "C" not null, conversation text collate "C" not null, id text collate "C" not null,
  field text collate "C" not null, value text collate "C" not null,
  ref text collate "C" not null, since bigint not null, at bigint not null, expires bigint not null, standing text collate "C" not null,
  settled_by text collate "C" not null,
  primary key (tenant, usr, conversation, id));

-- Standing pins have no conversation.
create table hfs_pin(
  tenant text collate "C" not null, usr text collate "C" not null, conversation text collate "C" not null, id text collate "C" not null,
  at bigint not null, lifted smallint not null, settled_by text collate "C" not null, body bytea not null,
  primary key (tenant, usr, conversation, id));

create table hfs_result(
  tenant text collate "C" not null, usr text collate "C" not null, conversation text collate "C" not null, id text collate "C" not null,
  call text collate "C" not null, name text collate "C" not null, at bigint not null, body bytea not null,
  primary key (tenant, usr, id));
create index hfs_result_conversation on hfs_result(tenant, usr, conversation);

alter table hfs_message alter column body set storage external;
alter table hfs_result alter column body set storage external;
