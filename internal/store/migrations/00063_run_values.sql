-- +goose Up
-- compatible: yes

-- Values of the run that answered an authorization request, which claims of its application read. They belong to the
-- session of the tokens: see refresh_families.
CREATE TABLE run_values (
    request_id TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    contents   TEXT NOT NULL, -- JSON
    PRIMARY KEY (request_id, session_id)
);
CREATE INDEX run_values_session ON run_values (session_id);
