-- Cached results. A table with rowid: without it, bodies of a few KB would fill overflow pages.
create table hf_cache(tenant text not null, hash blob not null, until integer not null, body blob not null);
create unique index hf_cache_place on hf_cache(tenant, hash);
create index hf_cache_until on hf_cache(until);
