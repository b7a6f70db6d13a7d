-- The indexes that were built for the new type were kept: they have the files of before the change.
DO $$ BEGIN
    ASSERT (SELECT count(*) = 3 AND bool_and(relfilenode <> oid) FROM pg_class
        WHERE relname IN ('invoice_pkey', 'invoice_number_ulid', 'line_ulid'));
END $$;
