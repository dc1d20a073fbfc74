-- The tables and statements of a ledger, for SQLite and PostgreSQL. {blob} is the type of bytes.

-- tables
CREATE TABLE contentgen_users (name TEXT PRIMARY KEY, record {blob} NOT NULL);
CREATE TABLE contentgen_requests (name TEXT, key TEXT, fingerprint TEXT NOT NULL, attempt TEXT,
    lease DOUBLE PRECISION NOT NULL, reserve DOUBLE PRECISION NOT NULL, parts {blob}, body {blob},
    changed DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, key));
CREATE INDEX contentgen_running ON contentgen_requests (name) WHERE lease > 0;
CREATE INDEX contentgen_changes ON contentgen_requests (changed);
CREATE TABLE contentgen_starts (attempt TEXT PRIMARY KEY, name TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, has_ended INTEGER NOT NULL, counted {blob} NOT NULL);
CREATE INDEX contentgen_recent ON contentgen_starts (name, at);
CREATE TABLE contentgen_usage (month TEXT, name TEXT, texts BIGINT NOT NULL,
    failed BIGINT NOT NULL, calls BIGINT NOT NULL, input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL, unpriced BIGINT NOT NULL, cost DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (month, name))

-- users
SELECT name, record FROM contentgen_users

-- user
SELECT record FROM contentgen_users WHERE name = :name

-- add_user
INSERT INTO contentgen_users VALUES (:name, :record)

-- drop_user
DELETE FROM contentgen_users WHERE name = :name

-- request
SELECT fingerprint, body, lease, parts FROM contentgen_requests WHERE name = :user AND key = :key

-- put
-- A lease of 0 is that of a text that nobody writes.
INSERT INTO contentgen_requests VALUES
    (:user, :key, :fingerprint, :attempt, :lease, :reserve, NULL, :body, :now)
ON CONFLICT (name, key) DO UPDATE SET fingerprint = excluded.fingerprint,
    attempt = excluded.attempt, lease = excluded.lease, reserve = excluded.reserve,
    parts = CASE WHEN excluded.body IS NULL
        AND contentgen_requests.fingerprint = excluded.fingerprint
        THEN contentgen_requests.parts END,
    body = excluded.body, changed = excluded.changed
WHERE contentgen_requests.body IS NULL AND (contentgen_requests.lease <= :dead
    OR contentgen_requests.fingerprint = excluded.fingerprint)

-- renew
UPDATE contentgen_requests SET lease = :lease
WHERE name = :user AND key = :key AND attempt = :attempt AND body IS NULL

-- release
UPDATE contentgen_requests SET lease = 0, parts = CASE WHEN :keeps THEN parts END
WHERE name = :user AND key = :key AND attempt = :attempt AND body IS NULL

-- save_parts
UPDATE contentgen_requests SET parts = :parts, changed = :now
WHERE name = :user AND key = :key AND attempt = :attempt AND body IS NULL

-- running
SELECT count(*) FILTER (WHERE name = :user), coalesce(sum(reserve) FILTER (WHERE name = :user), 0.0),
    coalesce(sum(reserve), 0.0)
FROM contentgen_requests WHERE lease > 0 AND lease > :dead

-- drop_requests
DELETE FROM contentgen_requests WHERE changed < :before AND lease < :now

-- start
INSERT INTO contentgen_starts VALUES (:attempt, :user, :at, 0, :counted)

-- recent_starts
SELECT count(*), min(at) FROM (SELECT at FROM contentgen_starts
    WHERE name = :user AND at > :since AND at <= :now ORDER BY at DESC LIMIT :most) AS newest

-- counted
SELECT has_ended, counted FROM contentgen_starts WHERE attempt = :attempt

-- end_start
UPDATE contentgen_starts SET has_ended = :ended, counted = :counted WHERE attempt = :attempt

-- drop_start
DELETE FROM contentgen_starts WHERE attempt = :attempt

-- drop_starts
DELETE FROM contentgen_starts WHERE at < :before

-- costs
SELECT coalesce(sum(cost) FILTER (WHERE name = :user), 0.0), coalesce(sum(cost), 0.0)
FROM contentgen_usage WHERE month = :month

-- usage
SELECT month, name, texts, failed, calls, input_tokens, output_tokens,
    CASE WHEN unpriced = 0 THEN cost END
FROM contentgen_usage

-- add_usage
INSERT INTO contentgen_usage VALUES (:month, :user, :texts, :failed, :calls, :input_tokens,
    :output_tokens, :unpriced, :cost)
ON CONFLICT (month, name) DO UPDATE SET
    texts = contentgen_usage.texts + excluded.texts,
    failed = contentgen_usage.failed + excluded.failed,
    calls = contentgen_usage.calls + excluded.calls,
    input_tokens = contentgen_usage.input_tokens + excluded.input_tokens,
    output_tokens = contentgen_usage.output_tokens + excluded.output_tokens,
    unpriced = contentgen_usage.unpriced + excluded.unpriced,
    cost = contentgen_usage.cost + excluded.cost
