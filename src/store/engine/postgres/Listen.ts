/**
 * Listens on a channel (LISTEN) over a connection of its own. Neither this module nor the driver reports that the connection is lost: the caller
 * sends a notification to itself from time to time, and connects anew when it does not come back.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import * as Stream from "effect/Stream"
import { usualOptions } from "./Client.ts"

export interface ListenOptions {
  readonly url: Redacted.Redacted
  readonly channel: string
  /** Name of the connection in `pg_stat_activity`. */
  readonly name: string
}

/** Calls `heard` with each text on the channel, as long as the scope is open. */
export const listen = (
  { channel, name, url }: ListenOptions,
  heard: (text: string) => void
): Effect.Effect<void, SqlError, Scope> =>
  Effect.gen(function* () {
    const driver = yield* PgClient.make({
      url,
      maxConnections: 1,
      connectTimeout: usualOptions.connectTimeoutMs,
      applicationName: name
    })
    const hearing = Stream.runForEach(driver.listen(channel), (text) => Effect.sync(() => heard(text)))
    yield* Effect.forkScoped(Effect.ignore(hearing))
  }).pipe(Effect.provide(Reactivity.layer))
