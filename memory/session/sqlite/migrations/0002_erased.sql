-- Scopes that were erased, by their hash. Who writes looks here first.
create table hfs_erased(scope text primary key, at integer not null) without rowid;
