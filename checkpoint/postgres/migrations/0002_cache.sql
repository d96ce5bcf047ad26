-- Cached results of nodes, until their time has passed by the clock of the database.
create table hf_cache(
  tenant text collate "C" not null check (tenant <> ''), hash bytea not null, until timestamptz not null, body bytea not null,
  primary key (tenant, hash));
alter table hf_cache alter column body set storage external;
create index hf_cache_until on hf_cache(until);

create policy hf_tenant on hf_cache using (tenant = nullif(current_setting('holdfast.tenant', true), ''));
