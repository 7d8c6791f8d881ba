/** An operator's test of one connection, the same for the management API and the command line. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Connection } from "../domain/Connection.ts"
import type * as Cooldowns from "../resilience/cooldown/Cooldowns.ts"
import type * as ProviderCalls from "./ProviderCalls.ts"

export interface TestRooms {
  readonly calls: Pick<typeof ProviderCalls.ProviderCalls.Service, "test">
  readonly cooldowns: Pick<typeof Cooldowns.Cooldowns.Service, "reset" | "succeed" | "flush">
}

/** Asks it a tiny question. A good answer ends every trouble, also a terminal one, and is in the store; a bad one is only told. */
export const testConnection = ({ calls, cooldowns }: TestRooms, connection: Connection, model: string | null) =>
  Effect.tap(calls.test(connection, model), ({ ok }) =>
    ok
      ? cooldowns.reset(connection.id).pipe(
          Effect.zipRight(Clock.currentTimeMillis),
          Effect.tap((nowMs) => Effect.sync(() => cooldowns.succeed(connection.id, nowMs))),
          Effect.zipRight(cooldowns.flush)
        )
      : Effect.void
  )
