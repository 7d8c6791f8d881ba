/** An operator's test of one connection. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Connection } from "./entity.ts"
import type * as Cooldowns from "../../plane/resilience/cooldown/Cooldowns.ts"
import type * as Events from "../../observe/Events.ts"
import type * as OperatorSpending from "./OperatorSpending.ts"
import type * as ProviderCalls from "../../plane/providers/ProviderCalls.ts"

export interface TestServices {
  readonly calls: Pick<typeof ProviderCalls.ProviderCalls.Service, "test">
  readonly spending: Pick<typeof OperatorSpending.OperatorSpending.Service, "book">
  readonly events: Pick<typeof Events.Events.Service, "publish">
  readonly cooldowns: Pick<typeof Cooldowns.Cooldowns.Service, "reset" | "succeed" | "flush">
}

/**
 * Asks a tiny question. A good answer ends a cooldown and also a terminal state, in the store too; a bad one changes nothing. What was answered is
 * booked.
 */
export const testConnection = (
  { calls, cooldowns, events, spending }: TestServices,
  connection: Connection,
  model: string | null
): Effect.Effect<ProviderCalls.TestFindings> =>
  Effect.gen(function* () {
    const { answered, ...found } = yield* calls.test(connection, model)
    yield* spending.book(answered)
    events.publish({
      type: "connection.tested",
      atMs: yield* Clock.currentTimeMillis,
      connectionId: connection.id,
      ok: found.ok,
      status: found.status,
      latencyMs: found.latencyMs
    })
    if (!found.ok) return found
    yield* cooldowns.reset(connection.id)
    cooldowns.succeed(connection.id, yield* Clock.currentTimeMillis)
    yield* cooldowns.flush
    return found
  })
