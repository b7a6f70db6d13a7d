-- Stops a page that says that no table is rewritten, if one is.
CREATE FUNCTION no_rewrite() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'table % is rewritten', pg_event_trigger_table_rewrite_oid()::regclass;
END $$;
CREATE EVENT TRIGGER no_rewrite ON table_rewrite EXECUTE FUNCTION no_rewrite();
