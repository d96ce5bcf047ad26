-- Scopes that were erased, by their hash. Who writes looks here first.
create table hfs_erased(scope text collate "C" primary key, at bigint not null);

-- No samples of what users said in the server's statistics.
alter table hfs_message alter column body set statistics 0;
alter table hfs_fact alter column value set statistics 0;
alter table hfs_candidate alter column value set statistics 0;
alter table hfs_pin alter column body set statistics 0;
alter table hfs_result alter column body set statistics 0;
