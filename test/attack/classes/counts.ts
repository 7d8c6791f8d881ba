/** An upstream tells of tokens, pictures, seconds that cannot be: they are to be paid for with a caller's limit. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import type { Arena } from "../Arena.ts"
import { answerOf, ask, wires } from "../Asks.ts"
import type { Attempt, AttackClass, Verdict } from "../Attempt.ts"
import { eventsOf, streamOf } from "../Streams.ts"

/** One USD a token: what is believed beyond reason is seen at once. */
const dear = { input: 1_000_000, output: 1_000_000, cached: 1_000_000, cacheCreation: 1_000_000, reasoning: 1_000_000 }
const units = { perImage: 1_000, perSecond: 1_000, perCharacter: 1_000, perSearchUnit: 1_000 }

/** What a request of a few words and an answer of one may cost at these prices; the bounds of docs/costs.md. */
const mostUsd = 60_000

type Count = "prompt" | "answer" | "cached" | "reasoning" | "all"

const huge: Readonly<Record<string, unknown>> = {
  "a billion": 1_000_000_000,
  "a hundred thousand": 100_000,
  "more than any number": 1e308,
  negative: -1_000_000_000,
  "a text": "1000000000"
}

/** The usage of a wire, with a count that cannot be. */
const usageOf = (wire: WireName, count: Count, value: unknown): object => {
  const at = (one: Count): unknown => (count === one || count === "all" ? value : 1)
  switch (wire) {
    case "chat":
      return {
        prompt_tokens: at("prompt"),
        completion_tokens: at("answer"),
        total_tokens: 2,
        prompt_tokens_details: { cached_tokens: at("cached") },
        completion_tokens_details: { reasoning_tokens: at("reasoning") }
      }
    case "messages":
      return {
        input_tokens: at("prompt"),
        output_tokens: at("answer"),
        cache_read_input_tokens: at("cached"),
        cache_creation_input_tokens: at("cached")
      }
    case "responses":
      return {
        input_tokens: at("prompt"),
        output_tokens: at("answer"),
        total_tokens: 2,
        input_tokens_details: { cached_tokens: at("cached") },
        output_tokens_details: { reasoning_tokens: at("reasoning") }
      }
    case "gemini":
      return {
        promptTokenCount: at("prompt"),
        candidatesTokenCount: at("answer"),
        cachedContentTokenCount: at("cached"),
        thoughtsTokenCount: at("reasoning"),
        totalTokenCount: 2
      }
    case "ollama":
      return { prompt_eval_count: at("prompt"), eval_count: at("answer") }
  }
}

/** The body with the usage in its place. */
const withUsage = (wire: WireName, body: unknown, usage: object): unknown => {
  const answer = body as Record<string, unknown>
  if (wire === "gemini") return { ...answer, usageMetadata: usage }
  return wire === "ollama" ? { ...answer, ...usage } : { ...answer, usage }
}

const named = (value: { readonly type?: string }): string => {
  const name = value.type === undefined ? "" : `event: ${value.type}\n`
  return `${name}data: ${JSON.stringify(value)}\n\n`
}

/** The events with the usage wherever they tell one. */
const eventsWith = (wire: WireName, usage: object): ReadonlyArray<string> =>
  eventsOf(wire, ["Hello"]).map((event) => {
    const json = event.slice(event.indexOf("{"))
    if (!json.startsWith("{")) return event
    const value = JSON.parse(json)
    if (wire === "ollama") return value.done === true ? `${JSON.stringify({ ...value, ...usage })}\n` : event
    if ("usage" in value) value.usage = usage
    if ("usageMetadata" in value) value.usageMetadata = usage
    if (value.response?.usage !== undefined) value.response.usage = usage
    if (value.message !== undefined) value.message.usage = usage
    return named(value)
  })

interface Booked {
  readonly costUsd: number
  readonly tokens: Readonly<Record<"in" | "out" | "cacheRead" | "cacheWrite" | "reasoning", number>>
  readonly usageSource: string
  readonly told: unknown
}

const rowOf = async (arena: Arena, requestId: string): Promise<Booked | null> => {
  const { logs } = await arena.open.must("GET", "/api/usage/logs?limit=100")
  return logs.find((row: { readonly requestId: string }) => row.requestId === requestId) ?? null
}

const judged = async (arena: Arena, requestId: string): Promise<Verdict> => {
  const row = await rowOf(arena, requestId)
  if (row === null) return "there is no row"
  const { costUsd, told, tokens, usageSource } = row
  if (!(costUsd >= 0 && costUsd <= mostUsd)) return `it cost ${costUsd} USD for ${JSON.stringify(tokens)}`
  if (tokens.cacheRead + tokens.cacheWrite > tokens.in || tokens.reasoning > tokens.out)
    return `parts exceed their wholes: ${JSON.stringify(tokens)}`
  if (Object.values(tokens).some((count) => !Number.isSafeInteger(count) || count < 0))
    return `there is a count that is none: ${JSON.stringify(tokens)}`
  if (told !== null && usageSource !== "estimated") return "what is not believed is said to be the upstream's"
  return null
}

const prepared = async (arena: Arena): Promise<string> => {
  const { prefix } = await arena.node(arena.open, "chat")
  return prefix
}

const conversation = (wire: WireName, count: Count, what: string, isStreamed: boolean): Attempt => ({
  name: `${wire}, ${isStreamed ? "streamed" : "whole"}: ${what} as ${count}`,
  run: async (arena) => {
    const { prefix } = await arena.node(arena.open, wire)
    await arena.connection(arena.open, prefix)
    await arena.open.must("PATCH", "/api/pricing", { [prefix]: { m: dear } })
    const usage = usageOf(wire, count, huge[what])
    arena.answer(
      prefix,
      isStreamed ? streamOf(wire, eventsWith(wire, usage)) : Fake.json(withUsage(wire, answerOf(wire), usage))
    )
    const { body, path } = ask(wire, `${prefix}/m`, "Say hello to all of the people who are here", isStreamed)
    const { headers, status, text } = await arena.open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (status !== 200) return `it was answered ${status}: ${text.slice(0, 200)}`
    return judged(arena, String(headers["x-gateway-request-id"]))
  }
})

interface Service {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly answer: (value: unknown) => object
}

const services: ReadonlyArray<Service> = [
  {
    name: "embeddings",
    path: "/v1/embeddings",
    body: { input: "Hi" },
    answer: (value) => ({
      object: "list",
      model: "m",
      data: [{ object: "embedding", index: 0, embedding: [1] }],
      usage: { prompt_tokens: value, total_tokens: value }
    })
  },
  {
    name: "rerank, tokens",
    path: "/v1/rerank",
    body: { query: "Hi", documents: ["a"] },
    answer: (value) => ({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: value } })
  },
  {
    name: "rerank, units",
    path: "/v1/rerank",
    body: { query: "Hi", documents: ["a"] },
    answer: (value) => ({
      results: [{ index: 0, relevance_score: 1 }],
      meta: { billed_units: { search_units: value } }
    })
  },
  {
    name: "images, tokens",
    path: "/v1/images/generations",
    body: { prompt: "Hi" },
    answer: (value) => ({
      created: 1,
      data: [{ b64_json: "aGk=" }],
      usage: { input_tokens: value, output_tokens: value, total_tokens: value }
    })
  },
  {
    name: "images, many",
    path: "/v1/images/generations",
    body: { prompt: "Hi", n: 1 },
    answer: () => ({ created: 1, data: Array.from({ length: 5_000 }, () => ({ b64_json: "aGk=" })) })
  },
  {
    name: "legacy completions",
    path: "/v1/completions",
    body: { prompt: "Hi" },
    answer: (value) => ({
      ...(answerOf("chat") as object),
      usage: { prompt_tokens: value, completion_tokens: value, total_tokens: value }
    })
  }
]

const send = async (arena: Arena, prefix: string, path: string, body: object): Promise<Verdict> => {
  const { headers } = await arena.open.send({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: `${prefix}/m`, ...body })
  })
  return judged(arena, String(headers["x-gateway-request-id"]))
}

const service = ({ answer, body, name, path }: Service, what: string): Attempt => ({
  name: `${name}: ${what}`,
  run: async (arena) => {
    const prefix = await prepared(arena)
    await arena.connection(arena.open, prefix)
    await arena.open.must("PATCH", "/api/pricing", { [prefix]: { m: { ...dear, ...units } } })
    arena.answer(prefix, Fake.json(answer(huge[what])))
    return send(arena, prefix, path, body)
  }
})

const transcript = (what: string, usage: (value: unknown) => object): Attempt => ({
  name: `transcription, ${Object.keys(usage(1))[0]}: ${what}`,
  run: async (arena) => {
    const prefix = await prepared(arena)
    await arena.connection(arena.open, prefix)
    await arena.open.must("PATCH", "/api/pricing", { [prefix]: { m: { ...dear, ...units } } })
    arena.answer(prefix, Fake.json({ text: "Hello", usage: usage(huge[what]) }))
    const boundary = "b0undary"
    const part = (name: string, text: string, more = "") =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`
    const { headers } = await arena.open.send({
      method: "POST",
      path: "/v1/audio/transcriptions",
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
      body: `${part("model", `${prefix}/m`)}${part("file", "RIFF....WAVE", '; filename="a.wav"')}--${boundary}--\r\n`
    })
    return judged(arena, String(headers["x-gateway-request-id"]))
  }
})

/** The limit of a key holds: after one answer of a fraud the next request is still served. */
const limited = (wire: WireName, what: string): Attempt => ({
  name: `${wire}: ${what} against the limit of a key`,
  run: async (arena) => {
    const { prefix } = await arena.node(arena.closed, wire)
    await arena.connection(arena.closed, prefix)
    await arena.closed.must("PATCH", "/api/pricing", { [prefix]: { m: { input: 1, output: 1 } } })
    const { key, secret } = await arena.closed.must("POST", "/api/keys", { name: arena.fresh("k") })
    await arena.closed.must("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1 })
    arena.answer(prefix, Fake.json(withUsage(wire, answerOf(wire), usageOf(wire, "all", huge[what]))))
    const { body, path } = ask(wire, `${prefix}/m`)
    const asked = () =>
      arena.closed.send({
        method: "POST",
        path,
        headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
        body: JSON.stringify(body)
      })
    const statuses = [(await asked()).status, (await asked()).status]
    return statuses.every((status) => status === 200) ? null : `it was answered ${statuses.join(", ")}`
  }
})

const values = Object.keys(huge)
const counts: ReadonlyArray<Count> = ["prompt", "answer", "cached", "reasoning", "all"]

export const impossible: AttackClass = {
  name: "impossible counts",
  atOnce: 4,
  attempts: [
    ...wires.flatMap((wire) =>
      counts.flatMap((count) =>
        values.flatMap((what) => [false, true].map((isStreamed) => conversation(wire, count, what, isStreamed)))
      )
    ),
    ...services.flatMap((one) => values.map((what) => service(one, what))),
    ...values.flatMap((what) => [
      transcript(what, (seconds) => ({ seconds, type: "duration" })),
      transcript(what, (tokens) => ({ input_tokens: tokens, output_tokens: tokens, type: "tokens" }))
    ]),
    ...wires.flatMap((wire) => ["a billion", "a hundred thousand"].map((what) => limited(wire, what)))
  ]
}
