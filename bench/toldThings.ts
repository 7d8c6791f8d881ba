/**
 * Time from something that one gateway has learned until another one has applied it over Valkey, the time for which it is gathered (50 ms) included.
 * Start: node node_modules/vite-node/vite-node.mjs bench/toldThings.ts postgres://… redis://…
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { performance } from "node:perf_hooks"
import { valkeyAddressOf } from "../src/platform/ValkeyAddress.ts"
import * as Timers from "../src/platform/Timers.ts"
import * as NodeReplica from "../src/plane/workers/NodeReplica.ts"
import * as ValkeyTelling from "../src/plane/workers/ValkeyTelling.ts"
import { connect } from "../src/store/engine/postgres/Client.ts"
import { open } from "../src/store/postgres/Database.ts"
import * as Secrets from "../src/store/secrets/Secrets.ts"
import { emptySchema } from "../test/support/postgres/Schemas.ts"

const rounds = 200
const [, , database = "", valkey = ""] = process.argv

const program = Effect.gen(function* () {
  const options = yield* emptySchema(database)
  yield* open(options)
  const address = valkeyAddressOf(Redacted.make(valkey))
  if (address === null) return
  const secrets = yield* Effect.provide(Secrets.Secrets, Secrets.layerTest)
  const start = (node: string) =>
    Effect.gen(function* () {
      const reach = ValkeyTelling.unasked(address)
      let isReached = (): boolean => false
      const replica = yield* NodeReplica.make(node, (heard) =>
        Effect.tap(ValkeyTelling.open({ address, key: "bench", node, reach, secrets }, heard), (channel) =>
          Effect.sync(() => {
            isReached = channel.isReached
          })
        )
      ).pipe(
        Effect.provideService(SqlClient.SqlClient, yield* connect(options)),
        Effect.provide(Layer.merge(Timers.layer, Secrets.layerTest))
      )
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => isReached() })
      return replica
    })
  const [one, two] = [yield* start("one"), yield* start("two")]
  let heardAt = 0
  const told = one.functions.shared("told", () => {})
  two.functions.shared("told", () => {
    heardAt = performance.now()
  })
  const times: Array<number> = []
  for (let round = 0; round < rounds; round += 1) {
    heardAt = 0
    const began = performance.now()
    told()
    yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => heardAt > 0 })
    times.push(heardAt - began)
  }
  times.sort((a, b) => a - b)
  const at = (part: number): string => `${(times[Math.floor(part * (times.length - 1))] ?? 0).toFixed(1)} ms`
  yield* Effect.log(`${rounds} things: median ${at(0.5)}, 90 % ${at(0.9)}, 99 % ${at(0.99)}, most ${at(1)}`)
})

await Effect.runPromise(Effect.scoped(program))
