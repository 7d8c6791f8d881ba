/**
 * Mixed faults with 200 clients at once, over the built program. Afterwards nothing may be left: no call, socket, file, place or
 * stream; and every request has exactly one usage row and one outcome. `SOAK_REQUESTS` says how many (a plain test run: a few
 * thousand); `npm run soak` prints the figures of a longer run.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { oddAnswers } from "../wall/faults/answers.ts"
import { network, streams } from "../wall/faults/breaks.ts"
import { accounts, rateLimits, requests, troubles } from "../wall/faults/statuses.ts"
import type { Fault } from "../wall/Fault.ts"
import { gauge, openFiles, settled, slope } from "./Figures.ts"
import { addFault, admin, furnish, manage, start, usageRows } from "./House.ts"
import { type Offer, type Outcome, run } from "./Load.ts"

const clients = 200
const total = Number(process.env["SOAK_REQUESTS"] ?? 4_000)
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
  timeouts: { connectMs: 5_000, firstByteMs: 400, idleMs: 400, totalMs: 10_000 },
  connectionCooldown: { apikey: { baseCooldownMs: 100, maxBackoffSteps: 1, useUpstreamRetryHints: false } },
  providerBreaker: { apikey: { resetTimeoutMs: 500 }, local: { resetTimeoutMs: 500 } }
}

const mebibyte = 1_048_576

describe("soak", () => {
  it.scopedLive(
    `${total} requests of ${clients} clients leave nothing behind`,
    () =>
      Effect.gen(function* () {
        const house = yield* start(faults)
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
          const rss = (): Promise<number | null> => gauge(url, "process_resident_memory_bytes", admin)
          const filesBefore = openFiles(program.pid)

          const memory: Array<Promise<number | null>> = []
          const every = Math.ceil(total / 40)
          const startedMs = Date.now()
          const served = await run({
            url,
            offers,
            clients,
            goesOn: (begun) => begun < total,
            progress: (done) => void (done % every === 0 && memory.push(rss()))
          })
          const tookMs = Date.now() - startedMs

          const openCalls = await settled(house.openCalls, (open) => open === 0, 5_000)
          assert.strictEqual(openCalls, 0, "calls that the gateway neither ended nor gave up")
          const { connections } = await manage(url, "GET", "/api/rate-limits")
          for (const { inUse, name, waiting } of connections) {
            assert.deepStrictEqual({ inUse, waiting }, { inUse: 0, waiting: 0 }, `places at ${name}`)
          }
          const openStreams = await settled(
            () => gauge(url, "gateway_open_streams", admin),
            (open) => open === null || open === 0,
            5_000
          )
          assert.isTrue(openStreams === null || openStreams === 0, `${openStreams} open streams`)
          // With the provider's idle sockets closed, what is still open is lost.
          const idle = provider.fake.openSockets()
          provider.fake.closeSockets()
          const spare = 10
          const files = await settled(
            () => openFiles(program.pid),
            (now) => now === null || filesBefore === null || now <= filesBefore + spare,
            10_000
          )
          if (files !== null && filesBefore !== null)
            assert.isAtMost(files, filesBefore + spare, "open files and sockets")

          const rows = await settled(
            () => usageRows(url),
            (found) => found.length >= total,
            5_000
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
          assert.strictEqual(rows.length, total, "rows for all requests")
          assert.isTrue(rows.every(({ outcome }) => /^(?:completed|failed|aborted)$/.test(outcome)))
          assert.isEmpty(
            served.filter(({ isUntrue }) => isUntrue).map(({ model }) => model),
            "successes that are not whole"
          )

          const outcomes = new Map<Outcome, number>()
          for (const { outcome } of served) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
          const sizes = (await Promise.all(memory)).filter((size) => size !== null)
          const half = sizes.slice(sizes.length / 2)
          const perThousand = (slope(half) / every) * 1_000
          process.stdout.write(
            [
              `\n${total} requests of ${clients} clients in ${tookMs} ms: ${[...outcomes].map(([name, count]) => `${count} ${name}`).join(", ")}`,
              `RSS ${Math.round((half.at(-1) ?? 0) / mebibyte)} MiB at the end, slope over the second half ${Math.round(perThousand / 1024)} KiB per 1,000 requests`,
              `idle upstream sockets ${idle}; open files before ${filesBefore}, after ${files}\n`
            ].join("\n")
          )
        })
      }),
    { timeout: 3_600_000 }
  )
})
