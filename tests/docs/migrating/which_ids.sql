SET timezone = 'UTC';
