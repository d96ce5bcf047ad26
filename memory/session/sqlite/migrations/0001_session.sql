-- Times are microseconds since 1970.
create table hfs_conversation(
  tenant text not null check (tenant <> ''), usr text not null check (usr <> ''), id text not null check (id <> ''),
  created integer not null, updated integer not null, messages integer not null,
  primary key (tenant, usr, id)) without rowid;
create index hfs_conversation_created on hfs_conversation(tenant, usr, created desc, id);

-- Tables with large bodies have a rowid: without it, bodies of a few KB would fill overflow pages.
create table hfs_message(
  tenant text not null, usr text not null, conversation text not null, seq integer not null, id text not null,
  role text not null, at integer not null, body blob not null,
  primary key (tenant, usr, conversation, seq));
create unique index hfs_message_id on hfs_message(tenant, usr, conversation, id);

-- How a tool call ended, and which message says so.
create table hfs_call(
  tenant text not null, usr text not null, conversation text not null, id text not null, ok integer not null, seq integer not null,
  primary key (tenant, usr, conversation, id)) without rowid;

-- Facts are added, never changed. The current one of a field has the highest version; no value is a withdrawal.
create table hfs_fact(
  tenant text not null, usr text not null, conversation text not null, field text not null, version integer not null,
  value text not null, origin text not null, ref text not null, candidate text not null, at integer not null,
  primary key (tenant, usr, conversation, field, version)) without rowid;
create index hfs_fact_ref on hfs_fact(tenant, usr, conversation, ref);

create table hfs_candidate(
  tenant text not null, usr text not null, conversation text not null, id text not null, field text not null, value text not null,
  ref text not null, since integer not null, at integer not null, expires integer not null, standing text not null,
  settled_by text not null,
  primary key (tenant, usr, conversation, id)) without rowid;

-- Standing pins have no conversation.
create table hfs_pin(
  tenant text not null, usr text not null, conversation text not null, id text not null,
  at integer not null, lifted integer not null, settled_by text not null, body blob not null,
  primary key (tenant, usr, conversation, id));

create table hfs_result(
  tenant text not null, usr text not null, conversation text not null, id text not null,
  call text not null, name text not null, at integer not null, body blob not null,
  primary key (tenant, usr, id));
create index hfs_result_conversation on hfs_result(tenant, usr, conversation);
