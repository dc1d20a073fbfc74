-- The tables and queries of a ledger, for SQLite and PostgreSQL. {blob} is the type of bytes.

-- tables
CREATE TABLE contentgen_users (name TEXT PRIMARY KEY, record {blob} NOT NULL);
CREATE TABLE contentgen_requests (name TEXT, key TEXT, fingerprint TEXT NOT NULL, attempt TEXT,
    lease DOUBLE PRECISION NOT NULL, reserve DOUBLE PRECISION NOT NULL, parts {blob}, body {blob},
    changed DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, key));
CREATE INDEX contentgen_running ON contentgen_requests (name) WHERE lease > 0;
CREATE INDEX contentgen_changes ON contentgen_requests (changed);
CREATE TABLE contentgen_attempts (attempt TEXT PRIMARY KEY, name TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, month TEXT NOT NULL, texts BIGINT NOT NULL,
    failed BIGINT NOT NULL, calls BIGINT NOT NULL, input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL, cost DOUBLE PRECISION);
CREATE INDEX contentgen_recent ON contentgen_attempts (name, at);
CREATE INDEX contentgen_costs ON contentgen_attempts (month, name, cost)

-- users
SELECT name, record FROM contentgen_users

-- add_user
INSERT INTO contentgen_users VALUES (:name, :record)

-- drop_users
DELETE FROM contentgen_users

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
WHERE contentgen_requests.body IS NULL AND (contentgen_requests.lease <= :expired_before
    OR contentgen_requests.fingerprint = excluded.fingerprint)

-- update
UPDATE contentgen_requests
SET lease = :lease, parts = coalesce(:parts, parts), changed = :now
WHERE name = :user AND key = :key AND attempt = :attempt AND body IS NULL

-- drop_requests
DELETE FROM contentgen_requests WHERE changed < :before AND lease < :now

-- count
-- The whole usage of an attempt so far, so that it counts once, however often it is counted.
INSERT INTO contentgen_attempts VALUES (:attempt, :user, :now, :month, :texts, :failed, :calls,
    :input_tokens, :output_tokens, :cost)
ON CONFLICT (attempt) DO UPDATE SET month = excluded.month, texts = excluded.texts,
    failed = excluded.failed, calls = excluded.calls, input_tokens = excluded.input_tokens,
    output_tokens = excluded.output_tokens, cost = excluded.cost

-- withdraw
DELETE FROM contentgen_attempts WHERE attempt = :attempt

-- recent
SELECT count(*), min(at), (SELECT count(*) FROM contentgen_requests
    WHERE name = :user AND lease > 0 AND lease > :expired_before)
FROM (SELECT at FROM contentgen_attempts
    WHERE name = :user AND at > :now - 60 AND at <= :now ORDER BY at DESC LIMIT :most) AS newest

-- costs
-- In one query, so that a text that ends meanwhile is either reserved or has cost something.
SELECT (SELECT coalesce(sum(cost), 0.0) FROM contentgen_attempts
        WHERE month = :month AND :user IN ('', name)),
    (SELECT coalesce(sum(reserve), 0.0) FROM contentgen_requests
        WHERE lease > 0 AND lease > :expired_before AND :user IN ('', name))

-- spent
SELECT name, coalesce(sum(cost), 0.0) FROM contentgen_attempts WHERE month = :month GROUP BY name

-- usage
SELECT month, name, CAST(sum(texts) AS BIGINT), CAST(sum(failed) AS BIGINT),
    CAST(sum(calls) AS BIGINT), CAST(sum(input_tokens) AS BIGINT),
    CAST(sum(output_tokens) AS BIGINT), CASE WHEN count(*) = count(cost) THEN sum(cost) END
FROM contentgen_attempts WHERE texts + failed + calls > 0 GROUP BY month, name
