create table hfa_version(n int not null primary key, applied timestamptz not null default clock_timestamp());

-- Where the chain of a tenant ends, and the hash before what is kept of it. Names are compared byte by byte, whatever the database's locale.
create table hfa_chain(
  tenant text collate "C" not null primary key check (tenant <> ''),
  n bigint not null, hash text collate "C" not null, trimmed bigint not null, base text collate "C" not null);

-- Times are microseconds since 1970. Entries are added, never changed. usr is a pseudonym.
create table hfa_entry(
  tenant text collate "C" not null, n bigint not null, at bigint not null, usr text collate "C" not null, agent text collate "C" not null,
  box text collate "C" not null, verb text collate "C" not null, writes smallint not null, conversation text collate "C" not null,
  items text collate "C" not null, more bigint not null, result text collate "C" not null, hash text collate "C" not null,
  primary key (tenant, n));
create index hfa_entry_usr on hfa_entry(tenant, usr, n);

-- Whose a pseudonym is, and what ids of that user are sealed with. Without a row nobody can say.
create table hfa_name(
  tenant text collate "C" not null, token text collate "C" not null, name text collate "C" not null, secret bytea not null,
  primary key (tenant, token));
create unique index hfa_name_name on hfa_name(tenant, name);

-- Scopes that were forgotten, by their hash: their users get no name any more.
create table hfa_erased(
  tenant text collate "C" not null, scope text collate "C" not null, at bigint not null, primary key (tenant, scope));

-- No samples of users in the server's statistics.
alter table hfa_name alter column name set statistics 0;
alter table hfa_name alter column secret set statistics 0;
