/**
 * Mixed faults with 200 clients at once, over the built program. Afterwards nothing may be left: no call, and of sockets, files, places,
 * streams, timers and fibers no more than before; and every request has exactly one usage row and one outcome. `SOAK_REQUESTS` says
 * how many (a slow test run: a few thousand); `npm run soak` prints the figures of a longer run.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { lastWithin } from "../../support/eventually.ts"
import { oddAnswers } from "../wall/faults/answers.ts"
import { network, streams } from "../wall/faults/breaks.ts"
import { accounts, rateLimits, requests, troubles } from "../wall/faults/statuses.ts"
import type { Fault } from "../wall/Fault.ts"
import { grown, type Look, look, slope, steady, table } from "./Figures.ts"
import { addFault, furnish, manage, start, usageRows } from "./House.ts"
import { type Offer, type Outcome, run } from "./Load.ts"

const clients = 200
const total = Number(process.env["SOAK_REQUESTS"] ?? 4_000)
/** A run that is not through by then ends with what it has. */
const mostMinutes = Number(process.env["SOAK_MINUTES"] ?? 50)
const wires = ["chat", "messages", "responses"] as const

const names = new Set([
  "reset-before-headers",
  "no-response",
  "headers-then-silence",
  "half-then-silence",
  "429",
  "429-retry-after-seconds",
  "402",
  "404-model",
  "400",
  "500",
  "503",
  "502-html",
  "200-error-body",
  "200-empty-answer",
  "gzip-garbage",
  "usage-missing",
  "opening-then-silence",
  "error-event-first",
  "error-event-midway",
  "cut-mid-text",
  "socket-destroyed-mid-text",
  "no-finish-reason",
  "terminator-then-silence",
  "byte-by-byte"
])
const known: ReadonlyArray<Fault> = [
  ...network,
  ...rateLimits,
  ...accounts,
  ...requests,
  ...troubles,
  ...oddAnswers,
  ...streams
]
const faults = known.filter(({ name }) => names.has(name))

/** Trouble is short, so that the accounts come back and fail again. */
const settings = {
  timeouts: { connectMs: 5_000, firstByteMs: 1_000, idleMs: 1_000, totalMs: 10_000 },
  connectionCooldown: { apikey: { baseCooldownMs: 100, maxBackoffSteps: 1, useUpstreamRetryHints: false } },
  providerBreaker: { apikey: { resetTimeoutMs: 500 }, local: { resetTimeoutMs: 500 } }
}

const mebibyte = 1_048_576
/** In a shorter run the memory still finds its size. */
const tellingRun = 50_000
const mostGrowthBytes = 64 * mebibyte

describe("soak", () => {
  it.scopedLive(
    `${total} requests of ${clients} clients leave nothing behind`,
    () =>
      Effect.gen(function* () {
        const house = yield* start(faults, false)
        const { program, provider } = house
        const { url } = program
        yield* Effect.promise(async () => {
          await manage(url, "PATCH", "/api/resilience", settings)
          const offers: Array<Offer> = []
          for (const offer of await furnish(house, wires))
            offers.push(...Array.from({ length: faults.length }, () => offer))
          for (const [index, fault] of faults.entries()) {
            const { alone, pair } = await addFault(house, fault, wires[index % wires.length]!)
            offers.push(alone, pair, pair)
          }
          // Answers without usage are counted by a thread that goes on waiting for the next: it is there before the first look, too.
          const warmUp = await fetch(`${url}/v1/messages/count_tokens`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ model: offers[0]?.model, messages: [{ role: "user", content: "Hi" }] })
          })
          assert.strictEqual(warmUp.status, 200, await warmUp.text())
          const seen = (): Promise<Look> =>
            look(url, program.pid, async () => (await manage(url, "GET", "/api/rate-limits")).connections)
          const figures = async () => (await seen()).figures
          const before = await steady(figures, 10_000)
          assert.includeMembers([...before.keys()], ["open_streams", "live_timers", "fibers", "requests_in_flight"])

          const looks: Array<Promise<Look & { readonly done: number }>> = []
          const every = Math.ceil(total / 200)
          const startedMs = Date.now()
          const served = await run({
            url,
            offers,
            clients,
            goesOn: (begun) => begun < total && Date.now() - startedMs < mostMinutes * 60_000,
            progress: (done) => void (done % every === 0 && looks.push(seen().then((now) => ({ ...now, done }))))
          })
          const tookMs = Date.now() - startedMs
          const during = await Promise.all(looks)

          const openCalls = await lastWithin(house.openCalls, (open) => open === 0, { everyMs: 50, withinMs: 5_000 })
          assert.strictEqual(openCalls, 0, "calls that the gateway neither ended nor gave up")
          // With the provider's idle sockets closed, what is still there is lost.
          const idle = provider.fake.openSockets()
          provider.fake.closeSockets()
          const after = await lastWithin(figures, (now) => grown(before, now).length === 0, {
            everyMs: 50,
            withinMs: 15_000
          })
          process.stdout.write(
            `\n${table(
              before,
              during.map((one) => one.figures),
              after
            )}\n`
          )
          assert.strictEqual(grown(before, after).join("; "), "", "more than before the load")

          const rows = await lastWithin(
            () => usageRows(url),
            (found) => found.length >= served.length,
            { everyMs: 50, withinMs: 5_000 }
          )
          const counted = new Map<string, number>()
          for (const { requestId } of rows) counted.set(requestId, (counted.get(requestId) ?? 0) + 1)
          assert.isEmpty(
            [...counted].filter(([, count]) => count !== 1),
            "requests with more than one row"
          )
          const heard = served.flatMap(({ requestId }) => (requestId === null ? [] : [requestId]))
          assert.isEmpty(
            heard.filter((id) => !counted.has(id)),
            "answered requests without a row"
          )
          assert.strictEqual(rows.length, served.length, "rows for all requests")
          assert.isTrue(rows.every(({ outcome }) => /^(?:completed|failed|aborted)$/.test(outcome)))
          assert.isEmpty(
            served.filter(({ isUntrue }) => isUntrue).map(({ model }) => model),
            "successes that are not whole"
          )

          const outcomes = new Map<Outcome, number>()
          for (const { outcome } of served) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
          const half = during.slice(during.length / 2).map(({ done, rssBytes }) => ({ x: done, y: rssBytes }))
          const bytesPerRequest = slope(half)
          // What is garbage comes and goes: what is kept shows where the memory is smallest.
          const least = (points: typeof half): number => Math.min(...points.map(({ y }) => y))
          const growthBytes = least(half.slice(half.length / 2)) - least(half.slice(0, half.length / 2))
          const perMinute = (bytesPerRequest * served.length * 60_000) / tookMs
          process.stdout.write(
            [
              `${served.length} requests of ${clients} clients in ${tookMs} ms: ${[...outcomes].map(([name, count]) => `${count} ${name}`).join(", ")}`,
              `RSS ${Math.round((half.at(-1)?.y ?? 0) / mebibyte)} MiB at the end; over the second half ${Math.round((bytesPerRequest * 1_000) / 1024)} KiB per 1,000 requests, ${Math.round(perMinute / 1024)} KiB per minute`,
              `least RSS of the last quarter against the one before: ${(growthBytes / mebibyte).toFixed(1)} MiB`,
              `idle upstream sockets ${idle}; ${rows.length} usage rows, one per request\n`
            ].join("\n")
          )
          if (served.length >= tellingRun) assert.isBelow(growthBytes, mostGrowthBytes, "memory that was kept")
        })
      }),
    { timeout: 3_600_000 }
  )
})
