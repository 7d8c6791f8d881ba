/**
 * Lists every interface by which a caller can have a model or a provider of searches asked, and every limit and right of an API key, for tests of
 * one against the other. Each request carries a word of its own, by which its calls are found at the upstream.
 */
import { WebSocket } from "ws"
import { endpointCategories, type EndpointCategory } from "../../src/subjects/keys/entity.ts"
import { eventually } from "./eventually.ts"
import * as Fake from "./FakeUpstream.ts"

/** Arguments of a call by an interface. */
export interface EndpointCaller {
  readonly url: string
  /** Calls as administrator; throws unless it is answered with 2xx. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly manage: (method: string, path: string, body?: unknown) => Promise<any>
  readonly keyId: string
  readonly secret: string
  /** The secret of a key without limits. */
  readonly spare: string
  /** A model id, or the name of a combo. */
  readonly model: string
  /** Word in its requests. Each adds a number. */
  readonly word: string
}

export interface Door {
  readonly name: string
  /** Category of the interface, and that of the work that is done then. */
  readonly entry: EndpointCategory
  readonly category: EndpointCategory
  /** The key stands in the order, and does not come from an address. */
  readonly isOrder?: true
  /** Scopes that its key needs beside those of every key. */
  readonly scopes?: ReadonlyArray<string>
  /** True when it asks a provider of searches, and names no model. */
  readonly isSearch?: true
  /** One after the other; done when nothing more comes of it. */
  readonly ask: (caller: EndpointCaller, times: number) => Promise<void>
  /** The same, side by side. */
  readonly together: (caller: EndpointCaller, times: number) => Promise<void>
}

type Ask = (caller: EndpointCaller, text: string) => Promise<unknown>

const each = (ask: Ask): Pick<Door, "ask" | "together"> => ({
  ask: async (caller, times) => {
    for (let time = 0; time < times; time += 1) await ask(caller, `${caller.word} ${time}`)
  },
  together: async (caller, times) => {
    await Promise.all(Array.from({ length: times }, (_, time) => ask(caller, `${caller.word} ${time}`)))
  }
})

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}`, "content-type": "application/json" })

const send = async (url: string, body: unknown, headers: Record<string, string>): Promise<string> =>
  (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).text()

const post = ({ secret, url }: EndpointCaller, path: string, body: unknown, more: Record<string, string> = {}) =>
  send(url + path, body, { ...bearer(secret), ...more })

const said = (content: string) => [{ role: "user", content }]

/** An inference route. */
const route = (
  category: EndpointCategory,
  path: string,
  body: (model: string, text: string) => object,
  name = path
): Door => ({
  name,
  entry: category,
  category,
  ...each((caller, text) => post(caller, path, body(caller.model, text)))
})

const chatBody = (model: string, text: string) => ({ model, messages: said(text) })

const gemini = (method: string): Door => ({
  name: `/v1beta ${method}`,
  entry: "chat",
  category: "chat",
  ...each((caller, text) =>
    post(caller, `/v1beta/models/${caller.model}:${method}`, { contents: [{ role: "user", parts: [{ text }] }] })
  )
})

const form = (path: string, fields: (text: string) => Record<string, string>, file: string): Ask => {
  return async ({ model, secret, url }, text) => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ model, ...fields(text) })) body.append(name, value)
    body.append(file, new File([new Uint8Array([137, 80, 78, 71])], file === "file" ? "a.wav" : "a.png"))
    return (await fetch(url + path, { method: "POST", headers: { authorization: `Bearer ${secret}` }, body })).text()
  }
}

/** All turns of one socket. */
const overSocket: Ask = ({ model, secret, url }, text) =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/responses`, { headers: bearer(secret) })
    const over = (): void => {
      socket.terminate()
      resolve(null)
    }
    socket.on("error", over)
    socket.on("close", over)
    socket.on("open", () => socket.send(JSON.stringify({ type: "response.create", model, input: text })))
    socket.on("message", (data) => {
      const { type } = JSON.parse(String(data))
      if (type === "error" || /^response\.(?:completed|incomplete|failed)$/.test(type)) over()
    })
  })

const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params })

const mcp = (
  name: string,
  path: string,
  accept: string,
  tool: string,
  input: (caller: EndpointCaller, text: string) => object,
  category: EndpointCategory = "chat"
): Door => ({
  name: `MCP ${name}`,
  entry: "agents",
  category,
  ...(category === "search" ? { isSearch: true as const } : {}),
  ...each((caller, text) =>
    post(caller, path, rpc("tools/call", { name: `gateway_${tool}`, arguments: input(caller, text) }), { accept })
  )
})

const json = "application/json"
const events = "text/event-stream"
const prompted = ({ model }: EndpointCaller, prompt: string) => ({ model, prompt })

const a2a = (name: string, method: string, params: (model: string, text: string) => object): Door => ({
  name: `A2A ${name}`,
  entry: "agents",
  category: "chat",
  ...each((caller, text) => post(caller, "/a2a", rpc(method, params(caller.model, text))))
})

const legacy = (model: string, text: string) => ({
  message: {
    kind: "message",
    messageId: "m",
    role: "user",
    parts: [{ kind: "text", text }],
    metadata: { skill: "smart-routing", model }
  }
})
const current = (model: string, text: string) => ({
  message: { messageId: "m", role: "ROLE_USER", parts: [{ text }], metadata: { skill: "smart-routing", model } }
})

/** A task that its client does not wait for, until it is over. */
const detached: Ask = async (caller, text) => {
  const asked = { ...legacy(caller.model, text), configuration: { blocking: false } }
  const { result } = JSON.parse(await post(caller, "/a2a", rpc("message/send", asked)))
  if (result === undefined) return
  await eventually(
    "the end of the task",
    async () => JSON.parse(await post(caller, "/a2a", rpc("tasks/get", { id: result.id }))).result.status.state,
    (state) => state !== "submitted" && state !== "working"
  )
}

/** A job of a film, until it is over. */
const filmJob: Ask = async (caller, prompt) => {
  const path = "/v1/videos/generations"
  const { id } = JSON.parse(await post(caller, path, { model: caller.model, prompt, async: true }))
  if (id === undefined) return
  await eventually(
    "the end of the film",
    async () => {
      const headers = { authorization: `Bearer ${caller.secret}` }
      return ((await (await fetch(`${caller.url}${path}/${id}`, { headers })).json()) as { status: string }).status
    },
    (status) => ["completed", "failed", "cancelled"].includes(status)
  )
}

/** A batch of so many lines; null where it is refused. */
const beginBatch = async (
  { model, url }: EndpointCaller,
  secret: string,
  endpoint: string,
  bodyOf: (model: string, text: string) => object,
  texts: ReadonlyArray<string>
): Promise<string | null> => {
  const headers = { authorization: `Bearer ${secret}` }
  const lines = texts.map((text, index) =>
    JSON.stringify({ custom_id: `c${index}`, method: "POST", url: endpoint, body: bodyOf(model, text) })
  )
  const file = new FormData()
  file.append("purpose", "batch")
  file.append("file", new File([lines.join("\n")], "in.jsonl"))
  const uploaded = await fetch(`${url}/v1/files`, { method: "POST", headers, body: file })
  if (!uploaded.ok) return null
  const { id } = (await uploaded.json()) as { readonly id: string }
  const order = { input_file_id: id, endpoint, completion_window: "24h" }
  return JSON.parse(await send(`${url}/v1/batches`, order, bearer(secret))).id ?? null
}

const isOver = (status: string): boolean => ["completed", "failed", "expired", "cancelled"].includes(status)

/** Lines whose turn has not come wait for it: those of another batch, behind them, show that they do. */
const batch = (endpoint: string, category: EndpointCategory, bodyOf: (model: string, text: string) => object): Door => {
  const ask = async (caller: EndpointCaller, times: number): Promise<void> => {
    const { keyId, manage, secret, spare, url, word } = caller
    const texts = Array.from({ length: times }, (_, time) => `${word} ${time}`)
    const id = await beginBatch(caller, secret, endpoint, bodyOf, texts)
    if (id === null) return
    const own = spare === secret ? [] : ["a", "b", "c", "d"].map((name) => `behind ${name}`)
    const behind = own.length === 0 ? null : await beginBatch(caller, spare, endpoint, bodyOf, own)
    const statusOf = async (batchId: string, of: string): Promise<string> =>
      ((await (await fetch(`${url}/v1/batches/${batchId}`, { headers: bearer(of) })).json()) as { status: string })
        .status
    if (behind !== null) await eventually("the batch behind it", () => statusOf(behind, spare), isOver)
    // Rights may have ended; who reads it is then the administrator.
    await manage("PATCH", `/api/keys/${keyId}`, { isActive: true, expiresAt: null, allowedEndpoints: [] })
    if (isOver(await statusOf(id, secret))) return
    await send(`${url}/v1/batches/${id}/cancel`, {}, bearer(secret))
    await eventually("the end of the batch", () => statusOf(id, secret), isOver)
  }
  return { name: `a batch of ${endpoint}`, entry: "batches", category, ask, together: ask }
}

const question = (content: string) => ({
  name: content,
  input: { messages: said(content) },
  expected: { strategy: "contains", value: "x" }
})

const evaluate = async ({ keyId, manage, model, word }: EndpointCaller, times: number): Promise<void> => {
  const suiteOf = async (name: string, ...texts: ReadonlyArray<string>): Promise<string> =>
    (await manage("POST", "/api/evals/suites", { name, cases: texts.map(question) })).suite.id
  const suites = [
    await suiteOf(word, ...Array.from({ length: times }, (_, time) => `${word} ${time}`)),
    await suiteOf(`behind ${word}`, ...["a", "b", "c", "d"].map((name) => `behind ${name}`))
  ]
  const target = { type: model.includes("/") ? "model" : "combo", id: model }
  const begin = (suiteId: string | undefined, more: object) =>
    manage("POST", "/api/evals", { suiteId, target, ...more }).then(
      ({ run }) => String(run.id),
      () => null
    )
  const statusOf = async (id: string): Promise<string> => (await manage("GET", `/api/evals/runs/${id}`)).run.status
  const run = await begin(suites[0], { apiKeyId: keyId })
  const behind = await begin(suites[1], {})
  if (behind !== null)
    await eventually(
      "the run behind it",
      () => statusOf(behind),
      (status) => status !== "running"
    )
  if (run !== null && (await statusOf(run)) === "running") await manage("POST", `/api/evals/runs/${run}/cancel`)
  for (const id of suites) await manage("DELETE", `/api/evals/suites/${id}`)
}

const testedCombo = async (caller: EndpointCaller, times: number, atOnce: boolean): Promise<void> => {
  const { manage, model, word } = caller
  const { combo } = await manage("POST", "/api/combos", {
    name: `tested-${word}`,
    strategy: "priority",
    targets: [{ model }]
  })
  const asking = { ...caller, model: combo.name }
  const door = mcp("", "/mcp", json, "test_combo", (by, prompt) => ({ combo: by.model, prompt }))
  await (atOnce ? door.together(asking, times) : door.ask(asking, times))
}

const ordinary: ReadonlyArray<Door> = [
  route("chat", "/v1/chat/completions", chatBody),
  route(
    "chat",
    "/v1/chat/completions",
    (model, text) => ({ ...chatBody(model, text), stream: true }),
    "chat, streamed"
  ),
  route("chat", "/v1/completions", (model, prompt) => ({ model, prompt })),
  route("chat", "/v1/messages", (model, text) => ({ ...chatBody(model, text), max_tokens: 9 })),
  route("chat", "/v1/responses", (model, input) => ({ model, input })),
  gemini("generateContent"),
  gemini("streamGenerateContent"),
  route("chat", "/api/chat", (model, text) => ({ ...chatBody(model, text), stream: false })),
  route("chat", "/api/generate", (model, prompt) => ({ model, prompt, stream: false })),
  {
    name: "a path with the key",
    entry: "chat",
    category: "chat",
    ...each(({ model, secret, url }, text) =>
      send(`${url}/api/v1/editor/${secret}/chat/completions`, chatBody(model, text), { "content-type": json })
    )
  },
  {
    name: "a key in the query",
    entry: "chat",
    category: "chat",
    ...each(({ model, secret, url }, text) =>
      send(
        `${url}/v1beta/models/${model}:generateContent?key=${secret}`,
        { contents: [{ parts: [{ text }] }] },
        { "content-type": json }
      )
    )
  },
  { name: "a socket", entry: "chat", category: "chat", ...each(overSocket) },
  route("embeddings", "/v1/embeddings", (model, input) => ({ model, input })),
  route("embeddings", "/api/embed", (model, input) => ({ model, input })),
  route("images", "/v1/images/generations", (model, prompt) => ({ model, prompt })),
  {
    name: "/v1/images/edits",
    entry: "images",
    category: "images",
    ...each(form("/v1/images/edits", (prompt) => ({ prompt }), "image"))
  },
  route("audio", "/v1/audio/speech", (model, input) => ({ model, input, voice: "alloy" })),
  {
    name: "/v1/audio/transcriptions",
    entry: "audio",
    category: "audio",
    ...each(form("/v1/audio/transcriptions", (prompt) => ({ prompt }), "file"))
  },
  route("rerank", "/v1/rerank", (model, query) => ({ model, query, documents: ["a"] })),
  route("moderations", "/v1/moderations", (model, input) => ({ model, input })),
  route("video", "/v1/videos/generations", (model, prompt) => ({ model, prompt })),
  { name: "a job of a film", entry: "video", category: "video", ...each(filmJob) },
  {
    ...route("search", "/v1/search", (_, query) => ({ query })),
    isSearch: true
  },
  mcp("JSON", "/mcp", json, "route_request", prompted),
  mcp("events", "/api/mcp/stream", events, "route_request", prompted),
  mcp("search", "/mcp", json, "web_search", (_, query) => ({ query }), "search"),
  {
    name: "MCP test of a combo",
    entry: "agents",
    category: "chat",
    scopes: ["read:combos"],
    ask: (caller, times) => testedCombo(caller, times, false),
    together: (caller, times) => testedCombo(caller, times, true)
  },
  a2a("plain", "message/send", (model, text) => ({
    skill: "smart-routing",
    messages: said(text),
    metadata: { model }
  })),
  a2a("0.3", "message/send", legacy),
  a2a("0.3, streamed", "message/stream", legacy),
  a2a("1.0", "SendMessage", current),
  a2a("1.0, streamed", "SendStreamingMessage", current),
  { name: "A2A, not waited for", entry: "agents", category: "chat", ...each(detached) },
  batch("/v1/chat/completions", "chat", chatBody),
  batch("/v1/embeddings", "embeddings", (model, input) => ({ model, input })),
  {
    name: "playground, compare",
    entry: "chat",
    category: "chat",
    ...each(({ model, ...caller }, prompt) =>
      post({ model, ...caller }, "/api/playground/compare", { models: [model], prompt })
    )
  },
  {
    name: "playground, improve",
    entry: "chat",
    category: "chat",
    // A prompt that cannot be improved is asked for twice.
    ...each(({ model, ...caller }, prompt) =>
      post({ model, ...caller }, "/api/playground/improve-prompt", { model, prompt })
    )
  },
  { name: "an evaluation", entry: "chat", category: "chat", isOrder: true, ask: evaluate, together: evaluate }
]

const managed = (name: string, door: Door | undefined): ReadonlyArray<Door> =>
  door === undefined ? [] : [{ ...door, name, scopes: ["manage"] }]

/** Interfaces, and those that open in another way to a key that manages. */
export const doors: ReadonlyArray<Door> = [
  ...ordinary,
  ...managed(
    "MCP of a key that manages",
    ordinary.find(({ name }) => name === "MCP JSON")
  ),
  ...managed(
    "A2A of a key that manages",
    ordinary.find(({ name }) => name === "A2A 1.0")
  ),
  ...managed(
    "playground of a key that manages",
    ordinary.find(({ name }) => name === "playground, compare")
  )
]

/** Answers for an upstream of all interfaces, by the path. */
export const answering: Fake.Answer = (response, request) => {
  const { body, url } = request
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
  const answers: ReadonlyArray<readonly [RegExp, object]> = [
    [/\/embeddings$/, { object: "list", model: "m", data: [{ index: 0, embedding: [1, 0] }], usage }],
    [/\/images\/(?:generations|edits)$/, { created: 1, data: [{ b64_json: "iVBORw==" }] }],
    [/\/transcriptions$/, { text: "Hello" }],
    [/\/rerank$/, { results: [{ index: 0, relevance_score: 1 }] }],
    [/\/moderations$/, { id: "x", model: "m", results: [{ flagged: false, categories: {}, category_scores: {} }] }],
    [/\/videos(?:\/|$)/, { id: "video_1", object: "video", status: "completed", progress: 100, seconds: "4" }],
    [/\/search$/, { query: "q", answer: null, results: [], response_time: 1 }]
  ]
  const found = answers.find(([path]) => path.test(url.split("?")[0] ?? ""))
  if (found !== undefined) return Fake.json(found[1])(response, request)
  if (url.endsWith("/speech")) {
    response.writeHead(200, { "content-type": "audio/mpeg" })
    return void response.end(Buffer.from([255, 251, 0, 0]))
  }
  const text = "Hello"
  return /"stream":\s*true/.test(body)
    ? Fake.sse(Fake.chatStream([text]))(response, request)
    : Fake.json(Fake.chatCompletion({ text, usage: { in: 10, out: 10 } }))(response, request)
}

/** A limit or a right, and how many of four requests may come through. */
export interface Limit {
  readonly name: string
  readonly allowed: number
  readonly settings: (door: Door) => object
  /** Used up by a first request of the key, which costs 1 USD. */
  readonly usedUp?: "budget" | "tokens"
  /** Four at once, of which only one may be under way. */
  readonly isAtOnce?: true
  /** True when the combo is asked for. */
  readonly asksCombo?: true
  readonly holdsFor: (door: Door) => boolean
}

const always = (): boolean => true
const ofModels = ({ isSearch }: Door): boolean => isSearch !== true

const allBut = (one: EndpointCategory) => endpointCategories.filter((category) => category !== one)

const never = () => ({
  enabled: true,
  from: "00:00",
  until: "00:01",
  days: [(new Date().getUTCDay() + 3) % 7],
  tz: "UTC"
})

const plain = { allowed: 0, holdsFor: always } as const

export const limits: ReadonlyArray<Limit> = [
  { ...plain, name: "a rate", allowed: 2, settings: () => ({ rateLimits: [{ limit: 2, window: 3_600 }] }) },
  { ...plain, name: "requests a minute", allowed: 2, settings: () => ({ maxRequestsPerMinute: 2 }) },
  { ...plain, name: "requests a day", allowed: 2, settings: () => ({ maxRequestsPerDay: 2 }) },
  { ...plain, name: "sessions at once", allowed: 4, isAtOnce: true, settings: () => ({ maxSessions: 1 }) },
  { ...plain, name: "a budget", usedUp: "budget", settings: () => ({}) },
  { ...plain, name: "tokens", usedUp: "tokens", settings: () => ({}) },
  { ...plain, name: "an end", settings: () => ({ expiresAt: "2020-01-01T00:00:00Z" }) },
  { ...plain, name: "being switched off", settings: () => ({ isActive: false }) },
  { ...plain, name: "a schedule", settings: () => ({ accessSchedule: never() }) },
  {
    name: "addresses",
    allowed: 0,
    settings: () => ({ ipAllowlist: ["198.51.100.7"] }),
    holdsFor: ({ isOrder }) => isOrder !== true
  },
  { ...plain, name: "endpoints, what is done", settings: ({ category }) => ({ allowedEndpoints: allBut(category) }) },
  {
    name: "endpoints, the way in",
    allowed: 0,
    settings: ({ entry }) => ({ allowedEndpoints: allBut(entry) }),
    holdsFor: ({ category, entry }) => category !== entry
  },
  {
    name: "endpoints, the way in alone",
    allowed: 0,
    settings: ({ entry }) => ({ allowedEndpoints: entry === "batches" ? ["batches", "files"] : [entry] }),
    holdsFor: ({ category, entry }) => category !== entry
  },
  { name: "other models", allowed: 0, settings: () => ({ allowedModels: ["other/*"] }), holdsFor: ofModels },
  { name: "a blocked model", allowed: 0, settings: () => ({ blockedModels: ["*"] }), holdsFor: ofModels },
  { ...plain, name: "other providers", settings: () => ({ allowedProviders: ["openai"] }) },
  { ...plain, name: "other connections", settings: () => ({ allowedConnections: ["none"] }) },
  {
    name: "other combos",
    allowed: 0,
    asksCombo: true,
    settings: () => ({ allowedCombos: ["other"] }),
    // Its test asks the targets by their own names.
    holdsFor: (door) => ofModels(door) && door.name !== "MCP test of a combo"
  }
]
