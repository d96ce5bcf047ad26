-- What finds out whether anything is left in a shelf: one that is empty is not searched.
create index hfk_document_shelf on hfk_document(tenant, shelf) where chunks > 0;
