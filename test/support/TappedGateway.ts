/** A gateway whose own traffic is recorded by an inspector that tests can read. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SentCall } from "../../src/plane/tap/SentCall.ts"
import { TrafficTap } from "../../src/plane/tap/TrafficTap.ts"
import type { TrafficSink } from "../../src/plane/tap/RecordedExchange.ts"
import * as Inspector from "../../src/observe/inspector/Inspector.ts"
import type { TrafficRecord } from "../../src/contract/domain/TrafficRecord.ts"
import type * as AppConfig from "../../src/platform/AppConfig.ts"
import { AppConfig as Config } from "../../src/platform/AppConfig.ts"
import * as IdGen from "../../src/platform/IdGen.ts"
import * as Timers from "../../src/platform/Timers.ts"
import * as InspectorSessionRepo from "../../src/subjects/inspector/repo.ts"
import * as PriceBook from "../../src/observe/usage/PriceBook.ts"
import { reposInMemory } from "../unit/store/fixtures.ts"
import * as TestGateway from "./TestGateway.ts"
import { eventuallyFound } from "./eventually.ts"

const inspectorLayer = Inspector.layer.pipe(
  Layer.provide(
    Layer.mergeAll(
      Layer.succeed(Config, { environment: new Map<string, string>() } as never),
      Timers.layer,
      IdGen.layerCounting("r"),
      Layer.orDie(PriceBook.layerMemory),
      InspectorSessionRepo.layer.pipe(Layer.provide(reposInMemory))
    )
  )
)

/** Number of calls of each function. */
export interface SinkCalls {
  begin: number
  update: number
  finish: number
}

export const start = (config: Partial<AppConfig.AppConfigShape> = {}) =>
  Effect.gen(function* () {
    const { built, gateway } = yield* TestGateway.startBuilt(config)
    const inspector = Context.get(yield* Layer.build(inspectorLayer), Inspector.Inspector)
    const tap = Context.get(built, TrafficTap)
    const calls: SinkCalls = { begin: 0, update: 0, finish: 0 }
    const sent = new Map<string, SentCall | null>()
    const sink: TrafficSink = {
      begin: (permission, start) => {
        calls.begin += 1
        return inspector.begin(permission, start)
      },
      update: (id, update) => {
        calls.update += 1
        inspector.update(id, update)
      },
      attribute: inspector.attribute,
      finish: (id, end, call) => {
        calls.finish += 1
        sent.set(id, call)
        inspector.finish(id, end)
      }
    }
    tap.turn(sink)
    const list = async () => {
      await Effect.runPromise(inspector.settled)
      return (await Effect.runPromise(inspector.list({}, { limit: 100 }))).requests
    }
    /** The newest exchange, once it is over. */
    const finished = (count = 1): Promise<TrafficRecord> =>
      eventuallyFound(`the record of ${count} exchanges`, async () => {
        const items = await list()
        const [newest] = items
        return newest === undefined || items.length < count || items.some(({ status }) => status === "in-flight")
          ? undefined
          : Effect.runPromise(inspector.get(newest.id, true))
      })
    return { gateway, inspector, tap, sink, calls, sent, list, finished }
  })
