/** Adds sums of the compression of prompts, by day: for requests whose rows are long gone. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `day` in UTC. Tokens are those of changed requests only: the others are not counted.
  `CREATE TABLE compression_counts (
    day TEXT NOT NULL,
    mode TEXT NOT NULL,
    source TEXT NOT NULL,
    requests INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    PRIMARY KEY (day, mode, source)
  ) STRICT, WITHOUT ROWID`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
