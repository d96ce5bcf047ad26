-- Where the chain of a tenant ends, and the hash before what is kept of it.
create table hfa_chain(
  tenant text not null primary key check (tenant <> ''),
  n integer not null, hash text not null, trimmed integer not null, base text not null) without rowid;

-- Times are microseconds since 1970. Entries are added, never changed. usr is a pseudonym.
create table hfa_entry(
  tenant text not null, n integer not null, at integer not null, usr text not null, agent text not null, box text not null, verb text not null,
  writes integer not null, conversation text not null, items text not null, more integer not null, result text not null, hash text not null,
  primary key (tenant, n)) without rowid;
create index hfa_entry_usr on hfa_entry(tenant, usr, n);

-- Whose a pseudonym is, and what ids of that user are sealed with. Without a row nobody can say.
create table hfa_name(
  tenant text not null, token text not null, name text not null, secret blob not null,
  primary key (tenant, token)) without rowid;
create unique index hfa_name_name on hfa_name(tenant, name);

-- Scopes that were forgotten, by their hash: their users get no name any more.
create table hfa_erased(
  tenant text not null, scope text not null, at integer not null, primary key (tenant, scope)) without rowid;
