create table hfk_version(n int not null primary key, applied timestamptz not null default clock_timestamp());

-- Names are compared and ordered byte by byte, whatever the database's locale. Times are microseconds since 1970; the lowest number is always, the highest
-- never. Who writes what a tenant has locks its row.
create table hfk_tenant(tenant text collate "C" not null primary key check (tenant <> ''));

-- Versions of documents. One that has no chunks is in force no more; its row says that it was there.
create table hfk_document(
  tenant text collate "C" not null, document text collate "C" not null check (document <> ''), version text collate "C" not null check (version <> ''),
  seq bigint not null, shelf text collate "C" not null, since bigint not null, ended bigint not null, first_no bigint not null, chunks bigint not null,
  hash text collate "C" not null, space text collate "C" not null, body bytea not null, content bytea not null,
  primary key (tenant, document, version));
create index hfk_document_ended on hfk_document(tenant, ended) where chunks > 0;
create index hfk_document_space on hfk_document(tenant, space) where chunks > 0;

create table hfk_chunk(
  tenant text collate "C" not null, shelf text collate "C" not null, no bigint not null, document text collate "C" not null, version text collate "C" not null,
  body bytea not null,
  primary key (tenant, shelf, no));

-- Chunks that the same roles may read are in one shelf.
create table hfk_shelf(tenant text collate "C" not null, name text collate "C" not null, next bigint not null, primary key (tenant, name));
create table hfk_role(
  tenant text collate "C" not null, role text collate "C" not null, shelf text collate "C" not null, primary key (tenant, role, shelf));

-- The words of the chunks of a shelf, in blocks. Rows are kept whole and as they are: they would hardly get smaller.
create table hfk_index(
  tenant text collate "C" not null, shelf text collate "C" not null, term bytea not null, block bigint not null, data bytea not null,
  primary key (tenant, shelf, term, block));

-- The keys are what names of nodes are compared by.
create table hfk_relation(
  tenant text collate "C" not null, document text collate "C" not null, source text collate "C" not null, name text collate "C" not null,
  target text collate "C" not null, version text collate "C" not null, source_key text collate "C" not null, target_key text collate "C" not null,
  primary key (tenant, document, source, name, target, version));
create index hfk_relation_source on hfk_relation(tenant, source_key);
create index hfk_relation_target on hfk_relation(tenant, target_key);

alter table hfk_index alter column data set storage external;
alter table hfk_index set (toast_tuple_target = 8160);
