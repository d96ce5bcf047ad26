-- Times are microseconds since 1970; the lowest number is always, the highest never. Who writes what a tenant has locks its row.
create table hfk_tenant(tenant text not null primary key check (tenant <> '')) without rowid;

-- Versions of documents. One that has no chunks is in force no more; its row says that it was there.
create table hfk_document(
  tenant text not null, document text not null check (document <> ''), version text not null check (version <> ''), seq integer not null,
  shelf text not null, since integer not null, ended integer not null, first_no integer not null, chunks integer not null,
  hash text not null, space text not null, body blob not null, content blob not null,
  primary key (tenant, document, version));
create index hfk_document_ended on hfk_document(tenant, ended) where chunks > 0;
create index hfk_document_space on hfk_document(tenant, space) where chunks > 0;

create table hfk_chunk(
  tenant text not null, shelf text not null, no integer not null, document text not null, version text not null, body blob not null,
  primary key (tenant, shelf, no)) without rowid;

-- Chunks that the same roles may read are in one shelf.
create table hfk_shelf(tenant text not null, name text not null, next integer not null, primary key (tenant, name)) without rowid;
create table hfk_role(tenant text not null, role text not null, shelf text not null, primary key (tenant, role, shelf)) without rowid;

-- The words of the chunks of a shelf, in blocks. A row is mostly shorter than its key.
create table hfk_index(
  tenant text not null, shelf text not null, term blob not null, block integer not null, data blob not null,
  primary key (tenant, shelf, term, block)) without rowid;

-- The keys are what names of nodes are compared by.
create table hfk_relation(
  tenant text not null, document text not null, source text not null, name text not null, target text not null, version text not null,
  source_key text not null, target_key text not null,
  primary key (tenant, document, source, name, target, version)) without rowid;
create index hfk_relation_source on hfk_relation(tenant, source_key);
create index hfk_relation_target on hfk_relation(tenant, target_key);
