/**
 * The gateway's own traffic: what clients send to the inference routes, what they are answered, and what was sent upstream. Off, a request
 * costs the reading of `isOn`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import type { Head } from "../../contract/domain/TrafficRecord.ts"
import * as Timers from "../../platform/Timers.ts"
import * as DecisionLog from "../routing/records/DecisionLog.ts"
import type { Exchange } from "../request/Exchange.ts"
import { type RecordedFacts, recorded, type RecordingServices, type TrafficSink } from "./RecordedExchange.ts"

export class TrafficTap extends Context.Tag("gateway/plane/tap/TrafficTap")<
  TrafficTap,
  {
    /** True when requests of clients are recorded. Changed by `turn` only. */
    readonly isOn: boolean
    /** Sets the sink of their records; null: they are no longer recorded. */
    readonly turn: (sink: TrafficSink | null) => void
    /** Hot: a client's request, recorded; asked for only where `isOn`. `path`: where that of the exchange is a pattern. */
    readonly tapped: (exchange: Exchange, scheme: Head["scheme"], path?: string) => Exchange
    /** A request that is recorded whatever `isOn` says. */
    readonly recorded: (exchange: Exchange, facts: RecordedFacts, sink: TrafficSink) => Exchange
  }
>() {}

/** Hot: a request of a client that came by this scheme, recorded where that is on. */
export const tappedWhereOn = (
  tap: Pick<typeof TrafficTap.Service, "isOn" | "tapped">,
  exchange: Exchange,
  scheme: Head["scheme"]
): Exchange => (tap.isOn ? tap.tapped(exchange, scheme) : exchange)

class Tap {
  isOn = false
  readonly #services: Omit<RecordingServices, "sink">
  #own: RecordingServices | null = null

  constructor(services: Omit<RecordingServices, "sink">) {
    this.#services = services
  }

  readonly turn = (sink: TrafficSink | null): void => {
    this.#own = sink === null ? null : { ...this.#services, sink }
    this.isOn = sink !== null
  }

  readonly tapped = (exchange: Exchange, scheme: Head["scheme"], path = exchange.path): Exchange =>
    this.#own === null
      ? exchange
      : recorded(
          exchange,
          { source: "gateway", scheme, host: headerOf(exchange.headers, "host") ?? "localhost", path },
          this.#own
        )

  readonly recorded = (exchange: Exchange, facts: RecordedFacts, sink: TrafficSink): Exchange =>
    recorded(exchange, facts, { ...this.#services, sink })
}

export const make = Effect.gen(function* () {
  const timers = yield* Timers.Timers
  const decisions = yield* DecisionLog.DecisionLog
  return TrafficTap.of(new Tap({ timers, decisionOf: decisions.entry }))
})

export const layer: Layer.Layer<TrafficTap, never, Timers.Timers | DecisionLog.DecisionLog> = Layer.effect(
  TrafficTap,
  make
)
