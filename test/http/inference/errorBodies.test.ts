/**
 * Error bodies that no provider documents: huge, not JSON, in another wire's shape, with the caller's words or credentials in them.
 * Whatever comes, the client gets an error of its own wire: short, without secrets, with the upstream's status.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Json = Record<string, unknown>

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

const megabyte = 1_048_576

/** An answer to a client is a few kilobytes at most, however much the upstream wrote. */
const mostChars = 24_000

const apiKey = "sk-planted-7f3a9c2e51d84b60c4e1"
const nodeSecret = "planted-node-secret-0b6d1e9a"

/** Ends like words that put an account out, and holds every quote there is. */
const prompt = `Explain "your account has been deactivated" and 'invalid_api_key' to me, \\ please.`

interface Body {
  readonly name: string
  readonly status: number
  readonly type?: string
  readonly text: (wire: WireName, sent: Json) => string
  /** It may stand in an event of a stream as well. */
  readonly isEvent?: true
  /** What the client can read of it; absent: any words. */
  readonly says?: string
}

const other: Readonly<Record<WireName, WireName>> = {
  chat: "gemini",
  responses: "messages",
  messages: "chat",
  gemini: "ollama",
  ollama: "messages"
}

/** Gemini's own object has the status as well. */
const unprocessable = { status: 422 }

const bodyIn = (wire: WireName, message: string, detail: object = {}): string =>
  JSON.stringify(Fake.errorBody(wire, message, detail))

/** The object of the wire with one more member. */
const withMember = (wire: WireName, message: string, member: Json): string => {
  const body = Fake.errorBody(wire, message, unprocessable) as Json
  return JSON.stringify(
    typeof body["error"] === "object" ? { ...body, error: { ...body["error"], ...member } } : { ...body, ...member }
  )
}

const secrets = `Bearer ${apiKey} ${encodeURIComponent(apiKey)} ${Buffer.from(apiKey).toString("base64")} ${nodeSecret}`

const bodies: ReadonlyArray<Body> = [
  {
    name: "a megabyte of words",
    isEvent: true,
    status: 422,
    text: (wire) => bodyIn(wire, `Too long to read. ${"word ".repeat(megabyte / 5)}`, unprocessable),
    says: "Too long to read."
  },
  {
    name: "a megabyte beside the words",
    isEvent: true,
    status: 422,
    text: (wire) => withMember(wire, "The field is wrong.", { rest: "x".repeat(megabyte) }),
    says: "The field is wrong."
  },
  {
    name: "a megabyte before the words",
    status: 503,
    text: (wire) => JSON.stringify({ rest: "x".repeat(megabyte), ...(Fake.errorBody(wire, "down") as Json) })
  },
  {
    name: "thirty thousand brackets",
    status: 500,
    text: (wire) =>
      bodyIn(wire, "deep").replace(/\}+$/, (end) => `,"x":${"[".repeat(30_000)}${"]".repeat(30_000)}${end}`)
  },
  { name: "a megabyte of brackets", status: 500, text: () => "[".repeat(megabyte) },
  { name: "a megabyte of a web page", status: 502, type: "text/html", text: () => `<html>${"<p>".repeat(350_000)}` },
  { name: "a megabyte of control characters", status: 500, text: () => "\u0000\u0007\u001b[31m".repeat(150_000) },
  { name: "plain words", status: 503, type: "text/plain", text: () => "upstream connect error", says: "connect error" },
  {
    name: "a web page",
    status: 502,
    type: "text/html",
    text: () => "<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
    says: "502 Bad Gateway"
  },
  { name: "nothing", status: 500, text: () => "" },
  {
    name: "half a JSON",
    status: 500,
    text: (wire) => bodyIn(wire, "It broke in two.", { status: 500 }).slice(0, -9),
    says: "It broke"
  },
  { name: "JSON that is no object", status: 500, text: () => "null" },
  { name: "bytes that are no text", status: 500, text: () => "\ufffd\ufffd\ufffd" },
  {
    name: "another wire's shape",
    isEvent: true,
    status: 422,
    text: (wire) => bodyIn(other[wire], "The field is wrong.", { type: "made_up" }),
    says: "The field is wrong."
  },
  {
    name: "the caller's words",
    isEvent: true,
    status: 422,
    text: (wire, sent) => bodyIn(wire, `Invalid value: ${JSON.stringify(sent)}`, unprocessable),
    says: "Invalid value"
  },
  {
    name: "secrets in the message",
    isEvent: true,
    status: 422,
    text: (wire) => bodyIn(wire, `Refused ${secrets}`, unprocessable),
    says: "Refused"
  },
  {
    name: "secrets in names and deep members",
    isEvent: true,
    status: 422,
    text: (wire) => withMember(wire, "Refused", { [apiKey]: { deep: [{ deeper: secrets }] }, param: apiKey }),
    says: "Refused"
  },
  {
    name: "secrets in plain words",
    status: 500,
    type: "text/plain",
    text: () => `Refused ${secrets}`,
    says: "Refused"
  },
  {
    name: "secrets at every cut of a megabyte",
    status: 500,
    text: () => `Refused ${`${apiKey} `.repeat(megabyte / (apiKey.length + 1))}`,
    says: "Refused"
  }
]

const routes: Readonly<Record<WireName, (stream: boolean) => string>> = {
  chat: () => "/v1/chat/completions",
  messages: () => "/v1/messages",
  responses: () => "/v1/responses",
  gemini: (stream) => `/v1beta/models/up%2Fm:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ollama: () => "/api/chat"
}

const requestOf = (wire: WireName, stream: boolean): Json => {
  if (wire === "gemini") return { contents: [{ role: "user", parts: [{ text: prompt }] }] }
  const model = "up/m"
  if (wire === "responses") return { model, input: prompt, stream }
  return { model, max_tokens: 20, stream, messages: [{ role: "user", content: prompt }] }
}

/** The words of an error in the shape of its wire; fails for any other shape. */
const wordsOf = (wire: WireName, status: number, text: string): string => {
  const body = JSON.parse(text) as Json
  const error = body["error"] as Json | string
  if (wire === "ollama") {
    if (typeof error !== "string") assert.fail(text)
    return error
  }
  if (typeof error === "string") assert.fail(text)
  assert.isString(error["message"])
  if (wire === "gemini") {
    assert.strictEqual(error["code"], status)
    assert.match(String(error["status"]), /^[A-Z_]+$/)
  } else assert.isString(error["type"])
  if (wire === "messages") {
    assert.strictEqual(body["type"], "error")
    assert.isString(body["request_id"])
  }
  if (wire === "chat" || wire === "responses") assert.includeMembers(Object.keys(error), ["param", "code"])
  return String(error["message"])
}

const encodings = [apiKey, encodeURIComponent(apiKey), Buffer.from(apiKey).toString("base64").slice(0, -4), nodeSecret]

const connect = async (gateway: TestGateway.TestGateway, upstream: Fake.FakeUpstream, wire: WireName) => {
  const kinds = { chat: "openai", responses: "openai", messages: "anthropic", gemini: "gemini", ollama: "ollama" }
  await gateway.manage("POST", "/api/provider-nodes", {
    name: "up",
    prefix: "up",
    type: `${kinds[wire]}-compatible`,
    baseUrl: wire === "ollama" ? upstream.origin : `${upstream.origin}/v1`,
    wires: [wire],
    headers: { "x-node-secret": nodeSecret }
  })
  const { connection } = await gateway.manage("POST", "/api/providers", { provider: "up", apiKey, models: ["m"] })
  return String(connection.id)
}

/** Opens nothing, so that every case meets its own body. */
const patient = {
  providerBreaker: Object.fromEntries(
    ["apikey", "local"].map((name) => [name, { degradationThreshold: 900, failureThreshold: 1000 }])
  )
}

interface Case {
  readonly body: Body
  readonly stream: boolean
  /** As an event of a stream that began well, with status 200. */
  readonly inside: boolean
}

const cases: ReadonlyArray<Case> = [
  ...bodies.map((body) => ({ body, stream: false, inside: false })),
  ...bodies.map((body) => ({ body, stream: true, inside: false })),
  ...bodies.filter(({ isEvent }) => isEvent === true).map((body) => ({ body, stream: true, inside: true }))
]

const answerWith =
  ({ body, inside }: Case, wire: WireName): Fake.Answer =>
  (response, request) => {
    const text = body.text(wire, JSON.parse(request.body) as Json)
    const headers = { "content-type": body.type ?? "application/json" }
    if (!inside) return Fake.text(text, { status: body.status, headers })(response, request)
    return Fake.sse([wire === "ollama" ? `${text}\n` : `data: ${text}\n\n`])(response, request)
  }

const check = async (client: WireName, { body, inside }: Case, answer: Response): Promise<void> => {
  const told = await answer.text()
  if (inside) assert.isAtLeast(answer.status, 400)
  else assert.strictEqual(answer.status, body.status)
  assert.isAtMost(told.length, mostChars)
  const words = wordsOf(client, answer.status, told)
  assert.isAbove(words.length, 0)
  assert.isAtMost(words.length, 3000)
  for (const form of encodings) assert.notInclude(told, form)
  if (body.says === undefined) return
  assert.include(words, body.says)
  assert.notInclude(words, '{"error"')
}

describe("undocumented error bodies", () => {
  for (const client of wires) {
    for (const wire of wires) {
      it.scopedLive(
        `${client} from ${wire}: bounded, scrubbed, in the client's shape, with the status`,
        () =>
          Effect.gen(function* () {
            const gateway = yield* TestGateway.start()
            const upstream = yield* Fake.start
            yield* Effect.promise(async () => {
              const id = await connect(gateway, upstream, wire)
              await gateway.manage("PATCH", "/api/resilience", patient)
              const wrong: Array<string> = []
              for (const each of cases) {
                upstream.always(answerWith(each, wire))
                const answer = await gateway.post(routes[client](each.stream), requestOf(client, each.stream))
                const manner = each.inside ? "inside a stream" : each.stream ? "streamed" : "whole"
                await check(client, each, answer).catch((error: unknown) => {
                  wrong.push(`${each.body.name} (${manner}): ${String(error).slice(0, 300)}`)
                })
                if (each.stream || !each.body.name.includes("secrets")) continue
                const kept = JSON.stringify(await gateway.manage("GET", `/api/providers/${id}`))
                for (const form of encodings) if (kept.includes(form)) wrong.push(`${each.body.name}: kept ${form}`)
              }
              assert.deepStrictEqual(wrong, [])
              assert.lengthOf(upstream.requests, cases.length)
              const { connection } = await gateway.manage("GET", `/api/providers/${id}`)
              assert.include(["unknown", "active", "unavailable"], connection.testStatus)
              assert.isAtMost(JSON.stringify(connection).length, mostChars)
            })
          }),
        60_000
      )
    }
  }
})
