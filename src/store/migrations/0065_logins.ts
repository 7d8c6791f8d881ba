/**
 * Logins at the command line that wait for a person in a browser: what asks, and what has become of it. Of what proves something only hashes are kept. A row
 * lives for ten minutes, and goes when it is used.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const tableOf = (textType: string, whole: string): string => `CREATE TABLE login_requests (
    id_hash ${textType} PRIMARY KEY,
    code_hash ${textType} NOT NULL UNIQUE,
    way ${textType} NOT NULL,
    state ${textType} NOT NULL,
    machine ${textType} NOT NULL,
    address ${textType} NOT NULL,
    port ${whole},
    challenge ${textType},
    client_state ${textType},
    grant_hash ${textType},
    shown_to ${textType},
    user_id ${textType},
    issuer_id ${textType},
    interval_ms ${whole} NOT NULL,
    polled_at_ms ${whole},
    created_at_ms ${whole} NOT NULL,
    expires_at_ms ${whole} NOT NULL
  )`

const index = "CREATE INDEX login_requests_expires ON login_requests (expires_at_ms)"

const sqlite: ReadonlyArray<string> = [`${tableOf("TEXT", "INTEGER")} STRICT`, index]
const postgres: ReadonlyArray<string> = [tableOf(text, "BIGINT"), index]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(byEngine(sql, { sqlite, postgres }), (statement) => sql.unsafe(statement), { discard: true })
)
