/**
 * What is said with a key that has `noLog` is looked for wherever it may be kept: in every file of the data folder, in the log, and in what the
 * management and other callers can read.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { moduleOf } from "../../support/RealPlugins.ts"
import * as Program from "../../support/Program.ts"
import { adminKey, baseUrlOf, gatewayOf, type Gateway } from "../Arena.ts"
import { answerOf, ask, wires } from "../Asks.ts"
import type { Attempt, AttackClass, Verdict } from "../Attempt.ts"
import { eventsOf, streamOf } from "../Streams.ts"

interface Place {
  readonly gateway: Gateway
  readonly upstream: Fake.FakeUpstream
  /** Secrets of a key whose words may not be kept, and of one whose words may. */
  readonly quiet: string
  readonly usual: string
}

const nodeTypes: Readonly<Record<WireName, string>> = {
  chat: "openai-compatible",
  responses: "openai-compatible",
  messages: "anthropic-compatible",
  gemini: "gemini-compatible",
  ollama: "ollama-compatible"
}

const witness = (hooks: ReadonlyArray<string>): string =>
  hooks.map((hook) => `${hook}: (...given) => { console.log(JSON.stringify(given)) }`).join(",\n")

const hooks = ["onRequest", "onResponse", "onModelSelect", "onError", "onStreamStart", "onStreamEnd"]

/** A gateway that keeps whatever it can. Started by the first attempt, and ended with this process. */
const begin = async (): Promise<Place> => {
  const scope = Effect.runSync(Scope.make())
  const program = await Effect.runPromise(
    Scope.extend(Program.start({ GATEWAY_ADMIN_KEY: adminKey, REQUIRE_API_KEY: "true" }), scope)
  )
  const upstream = await Effect.runPromise(Scope.extend(Fake.start, scope))
  const gateway = gatewayOf(program)
  const { must } = gateway
  upstream.always((response, request) => {
    const wire = (request.url.split("/")[1] ?? "chat") as WireName
    if (request.method === "GET") return Fake.json({ data: [{ id: "m" }], models: [{ name: "m" }] })(response, request)
    const service = Object.keys(services).find((path) => request.url.includes(path))
    const answer = service === undefined ? null : services[service]
    return answer == null
      ? answering(wire, request.body)(response, request)
      : answer(wordIn(request.body))(response, request)
  })
  const nodes = [...wires.map((wire) => [wire, wire] as const), ["broken", "chat"] as const]
  for (const [name, wire] of nodes) {
    await must("POST", "/api/provider-nodes", {
      name,
      prefix: `on-${name}`,
      type: nodeTypes[wire],
      baseUrl: baseUrlOf(`${upstream.origin}/${wire}`, wire),
      wires: [wire]
    })
    await must("POST", "/api/providers", {
      provider: `on-${name}`,
      name,
      apiKey: "upstream-key-0123456789",
      models: ["m"]
    })
  }
  await must("PATCH", "/api/settings", {
    cache: { enabled: true, anyTemperature: true },
    idempotencyWindowMs: 60_000,
    a2aEnabled: true
  })
  await must("PUT", "/api/settings/compression", { enabled: true, engine: "stacked" })
  await must("PUT", "/api/settings/memory", { enabled: true })
  await must("POST", "/api/tools/traffic-inspector/capture-modes/gateway", { enabled: true })
  await must("POST", "/api/tools/traffic-inspector/sessions", { name: "all" })
  await must("POST", "/api/plugins", {
    manifest: {
      name: "witness",
      version: "1.0.0",
      main: "index.js",
      hooks: Object.fromEntries(hooks.map((hook) => [hook, true]))
    },
    files: { "index.js": moduleOf("witness", witness(hooks)) }
  })
  await must("POST", "/api/plugins/witness/activate", { grant: [] })
  const key = async (noLog: boolean): Promise<string> =>
    (await must("POST", "/api/keys", { name: noLog ? "quiet" : "usual", noLog })).secret
  return { gateway, upstream, quiet: await key(true), usual: await key(false) }
}

let place: Promise<Place> | null = null
const placeOf = (): Promise<Place> => (place ??= begin())

const wordIn = (text: string): string => /marked-[a-z0-9]+/.exec(text)?.[0] ?? "unmarked"

/** The upstream answers with the word that it was asked with, whole or in a stream; or repeats it in an error. */
const answering = (wire: WireName, body: string): Fake.Answer => {
  const word = wordIn(body)
  const said = `I prefer ${word} answers and always will.`
  if (body.includes("fail-now")) return Fake.json({ error: { message: `Not about ${word}` } }, { status: 500 })
  if (body.includes('"stream":true') || body.includes("stream-now")) return streamOf(wire, eventsOf(wire, [said, "."]))
  return Fake.json(JSON.parse(JSON.stringify(answerOf(wire)).replaceAll('"Hello"', JSON.stringify(said))))
}

/** Answers of services besides conversations, by a part of their paths. */
const services: Readonly<Record<string, (word: string) => Fake.Answer>> = {
  embeddings: (word) =>
    Fake.json({
      object: "list",
      model: word,
      data: [{ object: "embedding", index: 0, embedding: [1] }],
      usage: { prompt_tokens: 1, total_tokens: 1 }
    }),
  moderations: (word) => Fake.json({ id: word, model: "m", results: [{ flagged: false, categories: {} }] }),
  rerank: (word) => Fake.json({ id: word, results: [{ index: 0, relevance_score: 1, document: { text: word } }] }),
  images: (word) => Fake.json({ created: 1, data: [{ b64_json: "aGk=", revised_prompt: word }] }),
  speech: (word) => Fake.text(`ID3 ${word}`, { headers: { "content-type": "audio/mpeg" } }),
  videos: (word) => Fake.json({ id: "video_1", object: "video", status: "failed", error: { message: `Not ${word}` } })
}

let count = 0
const freshWord = (): string => `marked-${Math.random().toString(36).slice(2, 12)}${(count += 1).toString(36)}`

/** Says a text with a key through one door. */
type Door = (place: Place, secret: string, text: string) => Promise<{ readonly status: number; readonly text: string }>

const post = ({ gateway }: Place, secret: string, path: string, body: object, headers: Record<string, string> = {}) =>
  gateway.send({
    method: "POST",
    path,
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}`, ...headers },
    body: JSON.stringify(body)
  })

const conversation =
  (from: WireName, to: WireName, isStreamed: boolean, more: Record<string, string> = {}): Door =>
  (at, secret, text) => {
    const { body, path } = ask(from, `on-${to}/m`, `${text}${isStreamed ? " stream-now" : ""}`, isStreamed)
    return post(at, secret, path, { ...body, ...(from === "gemini" ? {} : { temperature: 0 }) }, more)
  }

/** A long output of a tool, which compression takes parts of. */
const toolOutput = (text: string): string =>
  [
    "running 40 tests",
    ...Array.from({ length: 400 }, (_, at) => `test ${text} number ${at} ... ok`),
    "test result: ok. 400 passed"
  ].join("\n")

const withTool: Door = (at, secret, text) =>
  post(at, secret, "/v1/chat/completions", {
    model: "on-chat/m",
    messages: [
      { role: "user", content: "Run the tests" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"cargo test"}' } }]
      },
      { role: "tool", tool_call_id: "c1", content: toolOutput(text) },
      { role: "user", content: `What of ${text}?` }
    ]
  })

const a2a: Door = (at, secret, text) =>
  post(at, secret, "/a2a", {
    jsonrpc: "2.0",
    id: 1,
    method: "message/send",
    params: { skill: "smart-routing", messages: [{ role: "user", content: text }], metadata: { model: "on-chat/m" } }
  })

const doors: Readonly<Record<string, Door>> = {
  ...Object.fromEntries(
    wires.flatMap((from) =>
      wires.flatMap((to) => [
        [`${from} to ${to}`, conversation(from, to, false)],
        [`${from} to ${to}, streamed`, conversation(from, to, true)]
      ])
    )
  ),
  "legacy completions": (at, secret, text) =>
    post(at, secret, "/v1/completions", { model: "on-chat/m", prompt: text, temperature: 0 }),
  "an idempotent request": (at, secret, text) =>
    conversation("chat", "chat", false, { "idempotency-key": text })(at, secret, text),
  "a refusal of the upstream": (at, secret, text) =>
    post(at, secret, "/v1/chat/completions", {
      model: "on-broken/m",
      messages: [{ role: "user", content: `${text} fail-now` }]
    }),
  "an output of a tool": withTool,
  "the agent (A2A)": a2a,
  embeddings: (at, secret, text) => post(at, secret, "/v1/embeddings", { model: "on-chat/m", input: text }),
  moderations: (at, secret, text) => post(at, secret, "/v1/moderations", { model: "on-chat/m", input: text }),
  rerank: (at, secret, text) => post(at, secret, "/v1/rerank", { model: "on-chat/m", query: text, documents: [text] }),
  images: (at, secret, text) => post(at, secret, "/v1/images/generations", { model: "on-chat/m", prompt: text }),
  speech: (at, secret, text) =>
    post(at, secret, "/v1/audio/speech", { model: "on-chat/m", input: text, voice: "alloy" }),
  "a film": (at, secret, text) =>
    post(at, secret, "/v1/videos/generations", { model: "on-chat/m", prompt: text, async: true }),
  "a count of tokens": (at, secret, text) =>
    post(at, secret, "/v1/messages/count_tokens", {
      model: "on-messages/m",
      messages: [{ role: "user", content: text }]
    })
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** A segment of the journal may be gone by now: its rows are in the database, which is looked at as well. */
const bytesOf = (file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}

/** What the management shows of requests. */
const shown: ReadonlyArray<string> = [
  "/api/usage/logs?limit=100",
  "/api/plugins/witness/logs",
  "/api/plugins/witness",
  "/api/providers",
  "/api/memory?limit=100",
  "/api/mcp/audit?limit=100",
  "/api/tools/traffic-inspector/requests?limit=1000",
  "/api/tools/traffic-inspector/export.jsonl",
  "/api/tools/traffic-inspector/export.har"
]

const waitMs = 150

/** Where the word is; empty where it is kept nowhere. */
const foundIn = async ({ gateway }: Place, word: string, requestId: string): Promise<ReadonlyArray<string>> => {
  // What is written behind requests has been written by then; the usage row is on file before the last byte.
  await new Promise((resolve) => setTimeout(resolve, waitMs))
  await gateway.manage("PUT", "/api/db-backups")
  const places: Array<string> = []
  const { program } = gateway
  for (const file of filesIn(program.dataDir)) {
    if (bytesOf(file).includes(word)) places.push(file.slice(program.dataDir.length))
  }
  if (program.stderr().includes(word)) places.push("the log")
  for (const path of [...shown, `/api/routing/decisions/${requestId}`]) {
    if ((await gateway.manage("GET", path)).text.includes(word)) places.push(path)
  }
  return places
}

/** Whether a part of what was said went to the upstream with the id of the whole, which is kept. */
const isShortened = ({ upstream }: Place, word: string): boolean =>
  upstream.requests.some(({ body }) => body.includes(word) && /raw-output\/[0-9a-z]{20,}/.test(body))

/** Doors that end in an error of the upstream. */
const refused: ReadonlySet<string> = new Set(["a refusal of the upstream"])

const attempt = (name: string, door: Door): Attempt => ({
  name,
  run: async (): Promise<Verdict> => {
    const at = await placeOf()
    const word = freshWord()
    const answer = await door(at, at.quiet, `My name is ${word}. I prefer ${word} answers. Remember that.`)
    const requestId = String((answer as { headers?: Record<string, unknown> }).headers?.["x-gateway-request-id"])
    if (answer.status !== 200 && answer.status !== 202 && !refused.has(name))
      return `it was answered ${answer.status}: ${answer.text}`
    const found = await foundIn(at, word, requestId)
    if (found.length > 0) return `it is in ${found.join(", ")}`
    // What is kept in encrypted columns and in memory shows in what comes back.
    const again = await door(at, at.quiet, `My name is ${word}. I prefer ${word} answers. Remember that.`)
    const headers = (again as { headers?: Record<string, unknown> }).headers ?? {}
    if (headers["x-gateway-cache"] === "HIT" || headers["x-gateway-idempotent"] === "true") return "the answer was kept"
    if (isShortened(at, word)) return "an output of a tool was kept"
    const stored = /"id":"(resp_[^"]+)"/.exec(answer.text)?.[1]
    if (stored === undefined) return null
    const on = await post(at, at.quiet, "/v1/responses", {
      model: "on-chat/m",
      input: "And?",
      previous_response_id: stored
    })
    return on.status === 200 ? "an answer can be gone on from" : null
  }
})

/** Each keeper does keep what is said with a key that allows it: else nothing above would be shown. */
const control = (name: string, door: Door, isKept: (places: ReadonlyArray<string>) => boolean): Attempt => ({
  name: `(control) ${name} of an ordinary key is kept`,
  run: async (): Promise<Verdict> => {
    const at = await placeOf()
    const word = freshWord()
    const answer = await door(at, at.usual, `My name is ${word}. I prefer ${word} answers. Remember that.`)
    const requestId = String((answer as { headers?: Record<string, unknown> }).headers?.["x-gateway-request-id"])
    const places = [...(await foundIn(at, word, requestId)), ...(isShortened(at, word) ? ["raw outputs"] : [])]
    const again = await door(at, at.usual, `My name is ${word}. I prefer ${word} answers. Remember that.`)
    const headers = (again as { headers?: Record<string, unknown> }).headers ?? {}
    if (headers["x-gateway-cache"] === "HIT") places.push("the cache")
    if (headers["x-gateway-idempotent"] === "true") places.push("answers to repeats")
    return isKept(places) ? null : `it is only in ${places.join(", ") || "no place"}`
  }
})

export const keepers: AttackClass = {
  name: "keepers of words",
  // Each looks into all files of one data folder.
  atOnce: 1,
  attempts: [
    ...Object.entries(doors).map(([name, door]) => attempt(name, door)),
    control("what a plugin logs", conversation("chat", "chat", false), (places) =>
      places.includes("/api/plugins/witness/logs")
    ),
    control("an answer", conversation("chat", "chat", false), (places) => places.includes("the cache")),
    control("an output of a tool", withTool, (places) => places.includes("raw outputs")),
    control("the recorded traffic", conversation("chat", "chat", true), (places) =>
      places.some((each) => each.startsWith("/api/tools/traffic-inspector"))
    )
  ]
}
