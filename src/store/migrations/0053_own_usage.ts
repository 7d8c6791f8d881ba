/** Gives keys of earlier versions the scope that new ones have: to read their own usage. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`UPDATE api_keys SET scopes = json_insert(scopes, '$[#]', 'self:usage')
    WHERE NOT EXISTS (SELECT 1 FROM json_each(api_keys.scopes) WHERE value = 'self:usage')`)
)
