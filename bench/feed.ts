/**
 * What the live feed costs: CPU of the gateway per request while nobody listens, with one client that wants the sums alone, and with one that wants
 * all; and how many frames that client gets at 10,000 requests a second. The parts of the feed are the program's own.
 * Start: node node_modules/vite-node/vite-node.mjs bench/feed.ts
 */
import * as Effect from "effect/Effect"
import { setImmediate as turn } from "node:timers/promises"
import { type Channel, channels, eventFrame } from "../src/entry/live/Channels.ts"
import { makeSources } from "../src/entry/live/Sources.ts"
import type { UsageRow } from "../src/contract/domain/Usage.ts"
import { makeSignal } from "../src/kernel/collections/Signal.ts"
import * as Events from "../src/observe/Events.ts"
import * as Timers from "../src/platform/Timers.ts"
import type { Work } from "../src/plane/request/Exchange.ts"
import * as RunningRequests from "../src/plane/request/RunningRequests.ts"
import { Trail } from "../src/plane/request/Trail.ts"
import type { AttemptRecord } from "../src/subjects/routing/entity.ts"
import { usageRow } from "../test/support/usageRow.ts"

const perSecond = 10_000
const seconds = 30
const rounds = 5

const target = { account: { spec: { id: "openai" }, connection: { id: "c1" } }, model: "gpt-4o-mini" }

const workOf = (id: string): Work =>
  ({
    exchange: { requestId: id, receivedMs: 0, startedMs: 0, principal: { _tag: "Anonymous" }, hooks: undefined },
    envelope: { model: "auto", stream: true },
    decision: { strategy: "auto", order: [target] },
    resolution: { combo: null, targets: [target] },
    trail: new Trail()
  }) as unknown as Work

const attempt: AttemptRecord = {
  provider: "openai",
  connectionId: "c1",
  model: "gpt-4o-mini",
  status: 200,
  outcome: "completed",
  reason: "ok",
  startedMs: 0,
  latencyMs: 1
}

const row = usageRow()

/** CPU in microseconds per request, and frames of a second. */
const measured = (wanted: ReadonlyArray<Channel>) =>
  Effect.gen(function* () {
    const events = yield* Events.make
    const running = yield* RunningRequests.make
    let frames = 0
    let bytes = 0
    const journal = makeSignal<UsageRow>()
    const sources = makeSources({
      events,
      journal,
      running,
      nowMs: () => 0,
      send: (event, sampled) => {
        frames += 1
        bytes += eventFrame(event, sampled).length
      }
    })
    if (wanted.length > 0) sources.listen(new Set(wanted))
    const request = (n: number): void => {
      const work = workOf(String(n))
      const place = running.enter(work)
      const number = work.trail.begins(work.decision.order[0] as never)
      if (running.watch.isOn) running.begun(work, number, work.decision.order[0] as never)
      if (work.trail.streams() && running.watch.isOn) running.streams(work)
      work.trail.called(attempt)
      if (running.watch.isOn) running.ended(work, number, attempt)
      running.leave(place, work)
      journal.tell(row)
      events.ended(row)
    }
    const second = (): void => {
      for (let n = 0; n < perSecond; n += 1) request(n)
      sources.turn()
    }
    for (let n = 0; n < 5; n += 1) second()
    frames = 0
    bytes = 0
    const before = process.cpuUsage()
    for (let n = 0; n < seconds; n += 1) {
      second()
      yield* Effect.promise(() => turn())
    }
    const { system, user } = process.cpuUsage(before)
    return { cpuUs: (user + system) / (seconds * perSecond), frames: frames / seconds, bytes: bytes / seconds }
  })

const cases: ReadonlyArray<readonly [string, ReadonlyArray<Channel>]> = [
  ["nobody listens", []],
  ["one client, stats", ["stats"]],
  ["one client, all channels", channels]
]

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

await Effect.runPromise(
  Effect.gen(function* () {
    const found = new Map<string, Array<{ cpuUs: number; frames: number; bytes: number }>>()
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, wanted] of cases) {
        found.set(name, [...(found.get(name) ?? []), yield* measured(wanted)])
      }
    }
    const base = median((found.get("nobody listens") ?? []).map(({ cpuUs }) => cpuUs))
    console.log(`${perSecond} requests a second, median of ${rounds} rounds of ${seconds} s`)
    for (const [name, all] of found) {
      const cpuUs = median(all.map((each) => each.cpuUs))
      const share = ((cpuUs - base) * perSecond) / 10_000
      const { bytes = 0, frames = 0 } = all[0] ?? {}
      console.log(
        `${name.padEnd(26)} ${cpuUs.toFixed(3)} µs per request, ${share.toFixed(2)} % of a core more, ${frames.toFixed(1)} frames and ${Math.round(bytes)} bytes a second`
      )
    }
  }).pipe(Effect.provide(Timers.layer))
)
