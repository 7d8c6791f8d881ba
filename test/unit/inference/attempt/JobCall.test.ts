/** Jobs of a provider: submit, poll, fetch, cancel. Time is the test's own, the provider is a script. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as TestClock from "effect/TestClock"
import { noSecrets } from "../../../../src/kernel/secrets/SentSecrets.ts"
import { transportFailure } from "../../../../src/net/egress/TransportFailure.ts"
import { type PublicFetchError, RedirectRefused, UrlBlocked } from "../../../../src/net/egress/PublicFetch.ts"
import {
  type RequestError,
  ResponseTooLarge,
  type UpstreamRequest,
  type UpstreamResponse
} from "../../../../src/net/egress/Upstream.ts"
import { fromRaw } from "../../../../src/net/egress/UpstreamHeaders.ts"
import type { AttemptResult } from "../../../../src/plane/attempt/AttemptResult.ts"
import { type JobCallInput, type JobClients, runJob, unobserved } from "../../../../src/plane/attempt/JobCall.ts"
import type { JobTicket, PolledJob } from "../../../../src/wire/PolledJob.ts"
import { openAiJob } from "../../../../src/wire/media/jobs/OpenAiStyle.ts"
import { codecs } from "../../../../src/wire/Codec.ts"

type Given = unknown | PublicFetchError

const answer = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): UpstreamResponse => ({
  status,
  headers: fromRaw(Object.entries(headers).flatMap(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
  body: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))
})

const isAnswer = (given: Given): given is UpstreamResponse =>
  typeof given === "object" && given !== null && "status" in given && "body" in given

const isFailure = (given: Given): given is RequestError =>
  typeof given === "object" && given !== null && "_tag" in given

const isBarred = (given: Given): given is UrlBlocked | RedirectRefused =>
  given instanceof UrlBlocked || given instanceof RedirectRefused

const origin = "https://provider.test"
const hour = 3_600_000

interface Asked {
  readonly line: string
  readonly authorization: string | null
  readonly atMs: number
}

/** Answers in their order; the last again and again. `never` does not answer. */
const setUp = (script: ReadonlyArray<Given>, more: Partial<JobCallInput> = {}) => {
  const asked: Array<Asked> = []
  const fetched: Array<string> = []
  const answers = [...script]
  const next = (): Effect.Effect<UpstreamResponse, RequestError> => {
    const given = answers.length > 1 ? answers.shift() : answers[0]
    if (given === "never") return Effect.never
    if (isAnswer(given)) return Effect.succeed(given)
    return isFailure(given) ? Effect.fail(given) : Effect.succeed(answer(200, given))
  }
  const clients: JobClients = {
    upstream: {
      request: (request: UpstreamRequest) =>
        Effect.flatMap(
          Effect.clockWith((clock) => clock.currentTimeMillis),
          (atMs) => {
            const mark = request.headers.indexOf("authorization")
            asked.push({
              line: `${request.method} ${request.origin}${request.path}`,
              authorization: mark < 0 ? null : (request.headers[mark + 1] ?? null),
              atMs
            })
            return request.method === "DELETE" ? Effect.succeed(answer(204, "")) : next()
          }
        )
    },
    publicFetch: {
      get: (url) => {
        fetched.push(url)
        const [given] = answers
        return isBarred(given) ? Effect.fail(given) : next()
      }
    }
  }
  const input: JobCallInput = {
    job: openAiJob,
    call: {
      request: {
        origin,
        path: "/v1/videos",
        method: "POST",
        headers: ["authorization", "Bearer k", "content-type", "application/json"],
        body: "{}",
        secrets: noSecrets,
        owner: null
      },
      wire: "chat",
      codec: codecs.chat,
      sameWire: false,
      hideUsage: false,
      dropped: [],
      dialect: { wireRules: [] } as never,
      toolNames: null,
      callIds: null
    },
    timeouts: { firstByteMs: 180_000 },
    leftMs: hour,
    reader: () => {
      const chunks: Array<Buffer> = []
      return {
        data: (chunk) => chunks.push(chunk) > 0,
        end: () => ({ _tag: "Completed", body: Buffer.concat(chunks).toString() }) as unknown as AttemptResult,
        broken: () => assert.fail("broken"),
        report: () => assert.fail("report"),
        release: () => {},
        firstContentMs: () => null
      }
    },
    onHeaders: () => {},
    observer: unobserved,
    ...more
  }
  const run = Effect.withRandom(runJob(clients, input), Random.fixed([0.5]))
  return { asked, fetched, run }
}

/** The result after as much time as it takes. */
const result = (run: Effect.Effect<AttemptResult>, forMs = hour) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(run)
    yield* TestClock.adjust(forMs)
    return yield* Fiber.join(fiber)
  })

const waiting = { id: "job/1", status: "queued" }
const running = { id: "job/1", status: "in_progress", progress: 40 }
const done = { id: "job/1", status: "completed", seconds: "4" }
const lines = (asked: ReadonlyArray<Asked>): ReadonlyArray<string> => asked.map(({ line }) => line)

const job = "https://provider.test/v1/videos/job%2F1"

const failureIn = (told: AttemptResult) => {
  if (told._tag !== "Failed") assert.fail(`it is ${told._tag}`)
  return told.failure
}

describe("a job of a provider", () => {
  it.effect("is submitted once, polled at growing intervals with the credential, and answered with its result", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([waiting, running, running, done])
      const told = yield* result(run)
      assert.deepStrictEqual(lines(asked), [`POST ${origin}/v1/videos`, `GET ${job}`, `GET ${job}`, `GET ${job}`])
      assert.isTrue(asked.every(({ authorization }) => authorization === "Bearer k"))
      assert.deepStrictEqual(
        asked.map(({ atMs }) => Math.round(atMs)),
        [0, 500, 1250, 2375]
      )
      assert.deepInclude(told, {
        _tag: "Completed",
        body: JSON.stringify({ outputs: [{ content: `${job}/content` }], seconds: 4, id: "job/1" })
      })
    })
  )

  it.effect("never waits longer than the longest pause between two polls", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([waiting, ...Array.from({ length: 40 }, () => running), done])
      yield* result(run)
      const pauses = asked.slice(1).map(({ atMs }, at) => atMs - (asked[at]?.atMs ?? 0))
      assert.isAtMost(Math.max(...pauses), 10_001)
      assert.strictEqual(Math.round(pauses.at(-1) ?? 0), 10_000)
    })
  )

  it.effect("fails as the submit failed, and is not asked about", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([answer(429, { error: { message: "slow down", code: "rate_limit_exceeded" } })])
      const failure = failureIn(yield* result(run))
      assert.strictEqual(failure.words?.status, 429)
      assert.strictEqual(failure.words?.problem.code, "rate_limit_exceeded")
      assert.strictEqual(asked.length, 1)
    })
  )

  it.effect("is asked about again after polls that failed in passing, and as late as the provider wants", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([
        waiting,
        transportFailure("reset"),
        answer(503, { error: "busy" }),
        answer(429, { error: "slow" }, { "retry-after": "7" }),
        answer(200, Buffer.from("<html>")),
        done
      ])
      const told = yield* result(run)
      assert.strictEqual(told._tag, "Completed")
      assert.strictEqual(asked.length, 6)
      assert.isAtLeast((asked[4]?.atMs ?? 0) - (asked[3]?.atMs ?? 0), 7_000)
    })
  )

  it.effect("is given up and cancelled when polls go on failing", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([waiting, answer(503, { error: { message: "busy" } })])
      const failure = failureIn(yield* result(run))
      assert.strictEqual(failure.words?.status, 503)
      assert.strictEqual(asked.length, 1 + 7 + 1)
      assert.strictEqual(asked.at(-1)?.line, `DELETE ${job}`)
    })
  )

  it.effect("is not asked about again where the provider refuses to tell", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([waiting, answer(401, { error: { message: "bad key" } })])
      assert.strictEqual(failureIn(yield* result(run)).words?.status, 401)
      assert.deepStrictEqual(lines(asked), [`POST ${origin}/v1/videos`, `GET ${job}`, `DELETE ${job}`])
    })
  )

  for (const [code, status] of [
    ["moderation_blocked", 400],
    ["server_overloaded", 502]
  ] as const) {
    it.effect(`fails with the provider's words (${code}), and is not cancelled`, () =>
      Effect.gen(function* () {
        const { asked, run } = setUp([waiting, { id: "job/1", status: "failed", error: { code, message: "No." } }])
        const failure = failureIn(yield* result(run))
        assert.deepInclude(failure, { status, reason: "error_in_200", message: "No." })
        assert.strictEqual(failure.words?.problem.code, code)
        assert.notInclude(lines(asked), `DELETE ${job}`)
      })
    )
  }

  it.effect("is cancelled when the time is over, and the failure tells so", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([waiting, running], { leftMs: 60_000 })
      const failure = failureIn(yield* result(run))
      assert.strictEqual(failure.reason, "total_timeout")
      assert.match(failure.message, /within 60000 ms\. It was cancelled/)
      assert.strictEqual(asked.at(-1)?.line, `DELETE ${job}`)
      assert.isAtMost(asked.at(-1)?.atMs ?? 0, 60_000)
    })
  )

  it.effect("is cancelled when whoever waits for it leaves", () =>
    Effect.gen(function* () {
      const { asked, run } = setUp([waiting, "never"])
      const fiber = yield* Effect.fork(run)
      yield* TestClock.adjust(5_000)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(1)
      assert.strictEqual(asked.at(-1)?.line, `DELETE ${job}`)
    })
  )

  it.effect("stays at the provider when it will be gone on with, and is gone on with without a second submit", () =>
    Effect.gen(function* () {
      const tickets: Array<JobTicket> = []
      const first = setUp([waiting, "never"], {
        observer: {
          ...unobserved,
          waiting: ({ ticket }) => Effect.sync(() => void tickets.push(ticket)),
          staysOnInterrupt: () => true
        }
      })
      const fiber = yield* Effect.fork(first.run)
      yield* TestClock.adjust(5_000)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(lines(first.asked), [`POST ${origin}/v1/videos`, `GET ${job}`])
      const stored = JSON.parse(JSON.stringify(tickets.at(-1))) as JobTicket
      const second = setUp([done], { observer: { ...unobserved, resumed: stored } })
      assert.strictEqual((yield* result(second.run))._tag, "Completed")
      assert.deepStrictEqual(lines(second.asked), [`GET ${job}`])
    })
  )

  it.effect("sends no credential to another host than the provider's, and only fetches from there", () =>
    Effect.gen(function* () {
      const elsewhere: PolledJob = {
        submitted: () => ({
          _tag: "Waiting",
          status: "queued",
          progress: null,
          ticket: {
            id: "1",
            poll: { method: "GET", url: "https://elsewhere.test/job?sig=1" },
            cancel: { method: "POST", url: "https://elsewhere.test/cancel" }
          }
        }),
        polled: (polled, ticket) =>
          polled["done"] === true
            ? { _tag: "Done", answer: polled }
            : { _tag: "Waiting", status: "in_progress", progress: null, ticket }
      }
      const { asked, fetched, run } = setUp([{}, {}, { done: true }], { job: elsewhere })
      assert.strictEqual((yield* result(run))._tag, "Completed")
      assert.deepStrictEqual(lines(asked), [`POST ${origin}/v1/videos`])
      assert.deepStrictEqual(fetched, ["https://elsewhere.test/job?sig=1", "https://elsewhere.test/job?sig=1"])
      const late = setUp([{}, {}], { job: elsewhere, leftMs: 1_000 })
      yield* result(late.run)
      assert.deepStrictEqual(lines(late.asked), [`POST ${origin}/v1/videos`])
    })
  )

  it.effect("fails at once when the address to ask at may not be fetched from, and asks no second time", () =>
    Effect.gen(function* () {
      const inside: PolledJob = {
        submitted: () => ({
          _tag: "Waiting",
          status: "queued",
          progress: null,
          ticket: { id: "1", poll: { method: "GET", url: "https://inside.test/job" }, cancel: null }
        }),
        polled: () => null
      }
      for (const [given, reason] of [
        [new UrlBlocked({ reason: "private" }), "blocked"],
        [new RedirectRefused({ reason: "downgrade" }), "blocked"],
        [transportFailure("blocked"), "blocked"],
        [new ResponseTooLarge({ limitBytes: 1_048_576 }), "answer_too_large"]
      ] as const) {
        const { fetched, run } = setUp([{}, given], { job: inside })
        assert.deepInclude(failureIn(yield* result(run)), { status: 502, reason }, given._tag)
        assert.strictEqual(fetched.length, 1, given._tag)
      }
    })
  )

  it.effect("keeps the credential for the provider's own hosts, where they are documented as one", () =>
    Effect.gen(function* () {
      for (const [url, isOwn] of [
        ["https://eu.provider.test/job", true],
        ["http://eu.provider.test/job", false],
        ["https://provider.test.evil.test/job", false]
      ] as const) {
        const family: PolledJob = {
          ownHosts: "provider.test",
          submitted: () => ({
            _tag: "Waiting",
            status: "queued",
            progress: null,
            ticket: { id: "1", poll: { method: "GET", url }, cancel: null }
          }),
          polled: (polled) => ({ _tag: "Done", answer: polled })
        }
        const { asked, fetched, run } = setUp([{}, {}], { job: family })
        yield* result(run)
        assert.strictEqual(asked.length, isOwn ? 2 : 1, url)
        assert.strictEqual(fetched.length, isOwn ? 0 : 1, url)
      }
    })
  )

  it.effect("fetches the result where the provider keeps it", () =>
    Effect.gen(function* () {
      const fetching: PolledJob = {
        submitted: (_, place) => ({
          _tag: "Fetch",
          requests: [
            { method: "GET", url: `${place}/result` },
            { method: "GET", url: "https://cdn.test/2" }
          ],
          read: (bodies) => ({ outputs: bodies.map(({ bytes, type }) => `${type}:${bytes.toString()}`) })
        }),
        polled: () => null
      }
      const { asked, fetched, run } = setUp(
        [{}, answer(200, Buffer.from("one"), { "content-type": "Image/PNG; a=b" }), answer(200, Buffer.from("two"))],
        { job: fetching }
      )
      assert.deepInclude(yield* result(run), { body: JSON.stringify({ outputs: ["image/png:one", ":two"] }) })
      assert.strictEqual(asked.length, 2)
      assert.deepStrictEqual(fetched, ["https://cdn.test/2"])
    })
  )
})
