/**
 * Equal requests of several API keys in random interleavings, over real sockets and restarts: with the cache, idempotency and shared calls all on,
 * clients that leave and upstreams that break off, nobody gets the answer of another key or request, half an answer as a whole one, or a call
 * of a tool that he did not ask for.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../unit/store/fixtures.ts"

const runs = 3
const requestsPerRun = 160
const mostUnderWay = 16

interface Question {
  readonly owner: number
  /** What is asked: requests that differ in it must not share an answer. */
  readonly content: string
  readonly hasTools: boolean
  readonly stream: boolean
  readonly temperature: number
  readonly headers: Readonly<Record<string, string>>
}

interface Heard {
  readonly status: number
  readonly headers: Headers | null
  readonly text: string
  /** All that was sent came in, and says of itself that it is whole. */
  readonly isWhole: boolean
}

/** What a call says: what it was asked, and which call it is, at both ends. */
const partsOf = (content: string, call: number, pieces: number): ReadonlyArray<string> => {
  const name = `<${content} ${call} ${pieces}>`
  return [name, ...Array.from({ length: pieces }, (_, at) => ` ${at}`), `</${name}`]
}
const said = /^<(?<content>\w+) (?<call>\d+) (?<pieces>\d+)>/

const environment = new Map([["ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE", "true"]])
const patient = { failureThreshold: 1_000, degradationThreshold: 999, resetTimeoutMs: 500 }

const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]

const bodyOf = ({ content, hasTools, stream, temperature }: Question): object => ({
  model: "up/m",
  messages: [{ role: "user", content }],
  temperature,
  ...(stream ? { stream } : {}),
  ...(hasTools ? { tools } : {})
})

/** Deltas and calls in the events of a stream. */
const streamed = (text: string): { readonly content: string; readonly calls: number } => {
  let content = ""
  let calls = 0
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue
    const delta = JSON.parse(line.slice(6)).choices?.[0]?.delta ?? {}
    content += delta.content ?? ""
    // A call's arguments may come in deltas of their own: only its first one has an id.
    calls += (delta.tool_calls ?? []).filter(({ id }: { readonly id?: string }) => id !== undefined).length
  }
  return { content, calls }
}

const whole = (text: string): { readonly content: string; readonly calls: number } => {
  const { content, tool_calls: calls } = JSON.parse(text).choices[0].message
  return { content: content ?? "", calls: (calls ?? []).length }
}

describe("equal requests at random over real sockets", () => {
  it.scopedLive(
    "are each answered for themselves, whole or not at all",
    () =>
      Effect.gen(function* () {
        const random = makeSeededRandom(20_261_123)
        const pick = <A>(items: ReadonlyArray<A>): A =>
          items[random.below(items.length)] ?? assert.fail("nothing to pick")
        const dataDir = yield* temporaryFolder
        const upstream = yield* Fake.start
        let calls = 0
        /** Lets other sockets go first. */
        const turns = async (count: number): Promise<void> => {
          for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve))
        }
        upstream.always(async (response, request) => {
          const asked = JSON.parse(request.body)
          const { content } = asked.messages[0]
          const fate = pick(["whole", "whole", "whole", "whole", "whole", "whole", "cut", "reset", "failed"])
          const toolCalls = asked.tools === undefined ? [] : [{ id: "c1", name: "look", arguments: "{}" }]
          calls += 1
          const parts = partsOf(content, calls, random.below(5))
          const [before, between] = [random.below(30), random.below(8)]
          await turns(before)
          if (fate === "failed") {
            return Fake.json({ error: { message: "no", type: "server_error" } }, { status: 500 })(response, request)
          }
          if (asked.stream !== true) {
            const text = JSON.stringify(Fake.chatCompletion({ text: parts.join(""), toolCalls }))
            return fate === "whole"
              ? Fake.json(JSON.parse(text))(response, request)
              : Fake.truncated(text.slice(0, -20))(response, request)
          }
          const events = Fake.chatStream(parts, { toolCalls })
          const sent = fate === "whole" ? events : events.slice(0, 1 + random.below(events.length - 1))
          response.writeHead(200, { "content-type": "text/event-stream" })
          for (const event of sent) {
            response.write(event)
            await turns(between)
          }
          if (fate === "reset") response.socket?.resetAndDestroy()
          else if (fate === "cut") response.socket?.destroy()
          else response.end()
        })

        const question = (): Question => {
          const hasTools = random.below(5) === 0
          const key = pick(["", "", "k", "l"])
          return {
            owner: random.below(3),
            content: pick(["one", "two", "three"]),
            hasTools,
            stream: random.below(2) === 0,
            temperature: pick([0, 0, 0.05, 1]),
            headers: {
              ...(key === "" ? {} : { "idempotency-key": key }),
              ...(random.below(6) === 0 ? { "x-request-id": "r" } : {}),
              ...(random.below(3) === 0 ? { "x-gateway-cache-tools": "true" } : {}),
              ...(random.below(8) === 0 ? { "x-gateway-no-cache": "true" } : {})
            }
          }
        }

        const ask = async (url: string, secrets: ReadonlyArray<string>, asked: Question): Promise<Heard> => {
          const leaving = new AbortController()
          const leavesAfter = random.below(6) === 0 ? random.below(4) : Number.POSITIVE_INFINITY
          const authorization = `Bearer ${secrets[asked.owner] ?? ""}`
          let text = ""
          let response: Response | null = null
          try {
            if (leavesAfter === 0) void turns(random.below(40)).then(() => leaving.abort())
            response = await fetch(`${url}/v1/chat/completions`, {
              method: "POST",
              headers: { "content-type": "application/json", authorization, ...asked.headers },
              body: JSON.stringify(bodyOf(asked)),
              signal: leaving.signal
            })
            const decoder = new TextDecoder()
            const reader = response.body?.getReader() ?? assert.fail("an answer without a body")
            // Node's fetch may leave a read open for ever when it is aborted while the last piece comes in.
            const left = new Promise<never>((_, reject) =>
              leaving.signal.addEventListener("abort", () => reject(leaving.signal.reason))
            )
            for (let pieces = 1; ; pieces += 1) {
              const { done, value } = await Promise.race([reader.read(), left])
              if (done) break
              text += decoder.decode(value, { stream: true })
              if (pieces >= leavesAfter) leaving.abort()
            }
            const isWhole = response.status === 200 && (!asked.stream || text.includes("data: [DONE]"))
            return { status: response.status, headers: response.headers, text, isWhole }
          } catch {
            return { status: response?.status ?? 0, headers: response?.headers ?? null, text, isWhole: false }
          }
        }

        /** Who has a call's answer, by its number. */
        const ownerOf = new Map<number, number>()
        const seen = { whole: 0, broken: 0, refused: 0, hits: 0, idempotent: 0, tools: 0 }

        const check = (asked: Question, { headers, isWhole, status, text }: Heard): void => {
          const what = `${JSON.stringify(asked)}\n${status} ${text}`
          // A request with the same key gets what the first one got, whatever it says of the cache.
          const isAgain = headers?.get("x-gateway-idempotent") === "true"
          const isHit = headers?.get("x-gateway-cache") === "HIT" && !isAgain
          if (status !== 200) {
            seen.refused += 1
            if (status === 409) assert.isDefined(asked.headers["idempotency-key"], what)
            else assert.include([0, 401, 500, 502, 503, 504], status, what)
            return
          }
          if (!isWhole && !asked.stream) return void (seen.broken += 1)
          const { calls: toolCalls, content } = asked.stream ? streamed(text) : whole(text)
          const found = said.exec(content)?.groups
          if (found === undefined) {
            assert.isFalse(isWhole, what)
            seen.broken += 1
            return
          }
          const call = Number(found["call"])
          assert.strictEqual(found["content"], asked.content, what)
          assert.strictEqual(ownerOf.get(call) ?? asked.owner, asked.owner, what)
          ownerOf.set(call, asked.owner)
          if (!asked.hasTools) assert.strictEqual(toolCalls, 0, what)
          const all = partsOf(asked.content, call, Number(found["pieces"])).join("")
          if (!isWhole) {
            assert.isTrue(all.startsWith(content), what)
            seen.broken += 1
            return
          }
          assert.strictEqual(content, all, what)
          if (asked.hasTools) {
            assert.strictEqual(toolCalls, 1, what)
            seen.tools += 1
            if (isHit) assert.strictEqual(asked.headers["x-gateway-cache-tools"], "true", what)
          }
          if (isHit) {
            seen.hits += 1
            assert.strictEqual(headers?.get("x-gateway-response-cost"), "0.0000000000", what)
            assert.isUndefined(asked.headers["x-gateway-no-cache"], what)
          }
          if (isAgain) seen.idempotent += 1
          seen.whole += 1
        }

        const problems: Array<unknown> = []
        let secrets: ReadonlyArray<string> = []
        const prepare = async (gateway: TestGateway.TestGateway): Promise<void> => {
          await gateway.connect("up", upstream, "chat")
          await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true }, idempotencyWindowMs: 60_000 })
          // However often it breaks off, an account is left to be asked.
          await gateway.manage("PATCH", "/api/resilience", {
            connectionCooldown: { apikey: { baseCooldownMs: 100 } },
            providerBreaker: { local: patient, apikey: patient }
          })
          for (let at = 0; at < 30; at += 1) {
            const account = { provider: "up", name: `up ${at}`, apiKey: `upstream-key-${at}-of-many`, models: ["m"] }
            await gateway.manage("POST", "/api/providers", account)
          }
          const made = await Promise.all(["a", "b", "c"].map((name) => gateway.manage("POST", "/api/keys", { name })))
          secrets = made.map(({ secret }) => secret as string)
        }

        for (let run = 0; run < runs; run += 1) {
          const scope = yield* Scope.make()
          const gateway = yield* Scope.extend(TestGateway.start({ dataDir, environment }), scope)
          if (run === 0) yield* Effect.promise(() => prepare(gateway))
          const underWay = new Set<Promise<void>>()
          yield* Effect.promise(async () => {
            for (let number = 0; number < requestsPerRun; number += 1) {
              const asked = question()
              const heard = async (): Promise<void> => {
                const answer = await ask(gateway.url, secrets, asked)
                underWay.delete(one)
                try {
                  check(asked, answer)
                } catch (problem) {
                  problems.push(problem)
                }
              }
              const one: Promise<void> = heard()
              underWay.add(one)
              if (underWay.size >= mostUnderWay) await Promise.race(underWay)
              await turns(random.below(4))
            }
          })
          // The gateway stops while the last ones are still asked.
          yield* Scope.close(scope, Exit.void)
          yield* Effect.promise(() => Promise.all(underWay))
        }
        assert.deepStrictEqual(problems, [])
        for (const [what, count] of Object.entries(seen)) assert.isAbove(count, 3, what)
        assert.isBelow(calls, runs * requestsPerRun)
      }),
    60_000
  )
})
