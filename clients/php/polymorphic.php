<?php
// Polymorphic relations of models with keys of the type ulid and others, after the program of README.md.
Manager::unprepared("
    CREATE TABLE documents (id ulid PRIMARY KEY DEFAULT gen_ulid(), title text);
    CREATE TABLE notes (id bigserial PRIMARY KEY, subject_type text, subject_id text,
        subject_ulid ulid GENERATED ALWAYS AS (CASE WHEN ulid_is_valid(subject_id) THEN subject_id::ulid END) STORED);
    CREATE INDEX ON notes (subject_ulid);
");

class Note extends Model
{
    public $timestamps = false;
    public function subject() { return $this->morphTo(); }
}

class Document extends Model
{
    public $timestamps = false;
    protected $keyType = "string";
    protected $casts = ["id" => UlidCast::class];
    public function notes() { return $this->morphMany(Note::class, "subject"); }
    public function notesByUlid() { return $this->morphMany(Note::class, "subject", "subject_type", "subject_ulid"); }
}

Document::create()->notes()->create();
if (Document::whereHas("notesByUlid")->count() !== 1) throw new Exception("no note");
$plan = Document::whereHas("notesByUlid")->explain();
