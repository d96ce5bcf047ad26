-- Scopes that were erased, by their hash. Who writes looks here first.
create table hfl_erased(scope text collate "C" primary key, at bigint not null);

-- No samples of what users said in the server's statistics.
alter table hfl_item alter column body set statistics 0;
alter table hfl_index alter column data set statistics 0;
alter table hfl_job alter column body set statistics 0;
