import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { EventEmitter } from "node:events"
import {
  type Channel,
  channels,
  eventFrame,
  type LiveEvent,
  readClientFrame
} from "../../../../src/entry/live/Channels.ts"
import { highWaterBytes, type LiveSocket, makeLiveClient, mostWaiting } from "../../../../src/entry/live/LiveClient.ts"
import { headersAtMain } from "../../../../src/entry/server/LivePort.ts"
import { limitOf, makeSampler, type Sampler } from "../../../../src/entry/live/Sampler.ts"
import { makeStats, mostProviders, type StatsFrame } from "../../../../src/entry/live/Stats.ts"
import { noTokens, type UsageRow } from "../../../../src/contract/domain/Usage.ts"
import { makeSources } from "../../../../src/entry/live/Sources.ts"
import type { GatewayEvent } from "../../../../src/observe/Events.ts"
import type { ProgressEvent } from "../../../../src/plane/request/RunningRequests.ts"
import { usageRow } from "../../../support/usageRow.ts"

const eventAt = (n: number, channel: LiveEvent["channel"] = "requests"): LiveEvent => ({
  channel,
  event: "request.completed",
  atMs: n,
  data: { n }
})

const admitted = (sampler: Sampler, event: LiveEvent): boolean => sampler.admit(event.channel, event.event, () => event)

describe("sampling", () => {
  it("lets the first events of a second on, and the last of the rest with how many it stands for", () => {
    const sampler = makeSampler()
    const { atOnce } = limitOf("requests")
    const onward = Array.from({ length: 50 }, (_, n) => admitted(sampler, eventAt(n))).filter(Boolean)
    assert.lengthOf(onward, atOnce)
    assert.isTrue(admitted(sampler, eventAt(50, "health")))
    const [held, ...others] = sampler.turn()
    assert.lengthOf(others, 0)
    assert.deepStrictEqual(held, { event: eventAt(49), sampled: 50 - atOnce })
    assert.deepInclude(JSON.parse(eventFrame(eventAt(49), 30)), { sampled: 30 })
    assert.isTrue(admitted(sampler, eventAt(51)))
    assert.deepStrictEqual(sampler.turn(), [])
  })

  it.prop(
    "never tells more than the limit in a second, and says of every event that it was told or stood for",
    [fc.array(fc.array(fc.tuple(fc.nat(7), fc.nat(9)), { maxLength: 200 }), { maxLength: 20 })],
    ([seconds]) => {
      const sampler = makeSampler()
      const counts = new Map<string, number>()
      const add = (kind: string, count: number): void => void counts.set(kind, (counts.get(kind) ?? 0) + count)
      let told: Array<Channel> = []
      const turn = (): boolean => {
        const held = sampler.turn()
        for (const { event, sampled } of held) add(`${event.channel} ${event.event}`, -sampled)
        told.push(...held.map(({ event }) => event.channel))
        for (const channel of channels) {
          assert.isAtMost(told.filter((each) => each === channel).length, limitOf(channel).most)
        }
        told = []
        return held.length > 0
      }
      for (const second of seconds) {
        for (const [place, kind] of second) {
          const channel = channels[place] ?? "requests"
          const name = `event.${channel === "requests" ? kind % 6 : kind}`
          add(`${channel} ${name}`, 1)
          if (!admitted(sampler, { channel, event: name, atMs: 0, data: {} })) continue
          told.push(channel)
          add(`${channel} ${name}`, -1)
        }
        turn()
      }
      while (turn());
      assert.isTrue([...counts.values()].every((count) => count === 0))
    }
  )
})

describe("sampling of channels", () => {
  it("keeps what is rare apart from what is not, and traffic below 20 frames with the sums", () => {
    const sampler = makeSampler()
    for (let n = 0; n < 1_000; n += 1) {
      admitted(sampler, eventAt(n))
      admitted(sampler, { ...eventAt(n, "health"), event: "provider.error" })
    }
    for (const channel of ["quota", "budget", "config", "jobs"] as const) {
      for (let n = 0; n < 19; n += 1) assert.isTrue(admitted(sampler, eventAt(n, channel)), channel)
    }
    assert.strictEqual(limitOf("requests").most + limitOf("health").most + 1, 20)
  })
})

describe("the sums of a second", () => {
  it("are those of all rows, by provider and in all, with the rest of the providers together", () => {
    const stats = makeStats()
    stats.begin({ inflight: 0, started: 7 })
    const rows = Array.from({ length: 500 }, (_, n) =>
      usageRow({
        provider: n % 31 === 0 ? null : `p${n % 30}`,
        outcome: (["completed", "failed", "aborted"] as const)[n % 3] ?? "completed",
        latencyMs: n + 1,
        tokens: { ...noTokens, in: n, out: 2 * n },
        costNanoUsd: n * 1_000
      })
    )
    for (const each of rows) stats.add(each)
    const frame = stats.take({ inflight: 3, started: 510 })
    assert.deepInclude(frame, { inflight: 3, started: 503, p50Ms: 250, p95Ms: 475 })
    assert.lengthOf(frame.byProvider, mostProviders)
    for (const name of ["completed", "failed", "aborted", "tokensIn", "tokensOut"] as const) {
      const parts = [...frame.byProvider, ...(frame.rest === null ? [] : [frame.rest])]
      assert.strictEqual(
        parts.reduce((sum, part) => sum + part[name], 0),
        frame[name]
      )
    }
    assert.strictEqual(frame.completed + frame.failed + frame.aborted, 500)
    assert.strictEqual(frame.tokensIn, (499 * 500) / 2)
    assert.closeTo(frame.costUsd, ((499 * 500) / 2) * 1e-6, 1e-12)
    const empty = stats.take({ inflight: 0, started: 510 })
    assert.deepInclude(empty, { started: 0, completed: 0, p50Ms: null, p95Ms: null, byProvider: [], rest: null })
  })
})

/** A socket whose client reads when it is told to. */
class SlowSocket extends EventEmitter {
  readonly OPEN = 1
  readonly readyState = 1
  bufferedAmount = 0
  readonly sent: Array<string> = []
  #flushed: Array<() => void> = []
  send(frame: string, flushed: () => void): void {
    this.sent.push(frame)
    this.bufferedAmount += frame.length
    this.#flushed.push(flushed)
  }
  /** The client takes all that waits in the socket. */
  read(): void {
    this.bufferedAmount = 0
    for (const flushed of this.#flushed.splice(0)) flushed()
  }
  close(): void {}
  terminate(): void {}
  ping(): void {}
}

describe("a slow client", () => {
  it("gets the newest frames and is told how many were dropped", () => {
    const socket = new SlowSocket()
    const client = makeLiveClient(socket as unknown as LiveSocket, () => 0)
    client.send("x".repeat(highWaterBytes))
    for (let n = 0; n < mostWaiting + 10; n += 1) client.send(String(n))
    assert.lengthOf(socket.sent, 1)
    socket.read()
    const [, dropped = "", first, ...others] = socket.sent
    assert.deepStrictEqual(JSON.parse(dropped), { type: "dropped", count: 10 })
    assert.strictEqual(first, "10")
    assert.strictEqual(others.at(-1), String(mostWaiting + 9))
    assert.lengthOf(others, mostWaiting - 1)
  })
})

describe("frames of clients", () => {
  it("are frames or problems, whatever they are", () => {
    assert.deepStrictEqual(readClientFrame('{"type":"ping"}'), { _tag: "Ping" })
    for (const text of ["", "[]", "7", "null", '{"type":"subscribe"}', '{"type":"subscribe","channels":[1]}']) {
      assert.strictEqual(readClientFrame(text)._tag, "Problem", text)
    }
  })

  it.each([
    ["channels", '{"type":"subscribe","channels":[],"channels":["health"]}'],
    ["Type", '{"type":"ping","Type":"subscribe"}']
  ])("of two readings are problems that name the member: %s", (named, text) => {
    const frame = readClientFrame(text)
    assert.include(frame._tag === "Problem" ? frame.message : "", named)
  })
})

describe("the own port", () => {
  const host = "127.0.0.1:20129"
  it("takes pages of the main port for its own, and no others", () => {
    const own = { host, origin: "http://127.0.0.1:20128", "sec-fetch-site": "same-site" }
    assert.deepStrictEqual(headersAtMain(own, 20128), { host: "127.0.0.1:20128", origin: "http://127.0.0.1:20128" })
    const foreign = { host, origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }
    assert.strictEqual(headersAtMain(foreign, 20128), foreign)
    const plain = { host }
    assert.strictEqual(headersAtMain(plain, 20128), plain)
  })
})

describe("what is listened to", () => {
  /** The services as plain lists of listeners. */
  const fakes = () => {
    const rows = new Set<(row: UsageRow) => void>()
    const appended = new Set<(row: UsageRow) => void>()
    const progress = new Set<(event: ProgressEvent) => void>()
    const events = new Set<(event: GatewayEvent) => void>()
    const adding =
      <A>(set: Set<A>) =>
      (listener: A) => {
        set.add(listener)
        return () => void set.delete(listener)
      }
    const gauges = { inflight: 0, started: 0 }
    return {
      rows,
      appended,
      progress,
      events,
      gauges,
      options: {
        events: { listen: adding(events), listenToRequests: adding(rows), wantAttention: () => {} },
        journal: { listen: adding(appended) },
        running: { count: () => gauges.inflight, started: () => gauges.started, listen: adding(progress) },
        nowMs: () => 0
      }
    }
  }

  it("is what somebody wants, and nothing while nobody listens", () => {
    const { appended, events, options, progress, rows } = fakes()
    const sources = makeSources({ ...options, send: () => {} })
    const sizes = () => [events.size, appended.size, rows.size, progress.size]
    sources.listen(new Set(["stats"]))
    assert.deepStrictEqual(sizes(), [0, 1, 0, 0])
    sources.listen(new Set(["requests"]))
    assert.deepStrictEqual(sizes(), [0, 0, 1, 1])
    sources.listen(new Set(["health", "config"]))
    assert.deepStrictEqual(sizes(), [1, 0, 0, 0])
    sources.listen(new Set(channels))
    assert.deepStrictEqual(sizes(), [1, 1, 1, 1])
    sources.listen(new Set())
    assert.deepStrictEqual(sizes(), [0, 0, 0, 0])
  })

  it.prop(
    "adds up over a minute of random traffic, in at most 20 frames each second",
    [fc.infiniteStream(fc.tuple(fc.nat(40), fc.nat(2), fc.nat(9_999))), fc.nat(3_000)],
    ([stream, perSecond]) => {
      const { appended, gauges, options, progress, rows } = fakes()
      const sent: Array<LiveEvent> = []
      const sums = { completed: 0, failed: 0, aborted: 0, tokensIn: 0, tokensOut: 0, nano: 0, started: 0 }
      const told = { ...sums }
      let stoodFor = 0
      const sources = makeSources({
        ...options,
        send: (event, sampled = 1) => {
          sent.push(event)
          if (event.channel === "requests") stoodFor += sampled
        }
      })
      sources.listen(new Set(channels))
      let happened = 0
      for (let second = 0; second < 60; second += 1) {
        const requests = second % 3 === 0 ? perSecond : second
        for (let n = 0; n < requests; n += 1) {
          const [provider, kind, tokens] = stream.next().value
          const outcome = (["completed", "failed", "aborted"] as const)[kind] ?? "completed"
          gauges.started += 1
          for (const listener of progress) listener({ type: "request.started", atMs: 0, data: () => ({}) })
          const row = usageRow({
            provider: `p${provider}`,
            outcome,
            latencyMs: tokens,
            tokens: { ...noTokens, in: tokens, out: kind },
            costNanoUsd: tokens * 10
          })
          for (const listener of [...appended, ...rows]) listener(row)
          sums[outcome] += 1
          sums.started += 1
          sums.tokensIn += tokens
          sums.tokensOut += kind
          sums.nano += tokens * 10
          happened += 2
        }
        sources.turn()
        assert.isAtMost(sent.length, 20)
        for (const { channel, data } of sent.splice(0)) {
          if (channel !== "stats") continue
          const frame = data as unknown as StatsFrame
          for (const name of ["completed", "failed", "aborted", "tokensIn", "tokensOut", "started"] as const) {
            told[name] += frame[name]
          }
          told.nano += Math.round(frame.costUsd * 1e9)
        }
      }
      assert.deepStrictEqual(told, sums)
      assert.strictEqual(stoodFor, happened)
    },
    { fastCheck: { numRuns: 5 } }
  )
})
