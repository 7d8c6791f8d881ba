/** Gives keys of earlier versions the scope that new ones have: to read their own usage. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"

const sqlite = `UPDATE api_keys SET scopes = json_insert(scopes, '$[#]', 'self:usage')
  WHERE NOT EXISTS (SELECT 1 FROM json_each(api_keys.scopes) WHERE value = 'self:usage')`

const postgres = `UPDATE api_keys SET scopes = (scopes::jsonb || '["self:usage"]'::jsonb)::text
  WHERE NOT jsonb_exists(scopes::jsonb, 'self:usage')`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
