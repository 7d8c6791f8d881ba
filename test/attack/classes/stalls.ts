/** One request, or one answer, that is to keep the gateway's one thread busy for more than a tenth of a second. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answerOf } from "../Asks.ts"
import { adminKey, type Gateway, ingestToken } from "../Arena.ts"
import type { Attempt, AttackClass, Verdict } from "../Attempt.ts"
import { once } from "../Once.ts"
import { send } from "../RawHttp.ts"
import { stalls } from "../Stalls.ts"

const mebibyte = 1_048_576
const bigBytes = 45 * mebibyte
const json = { "content-type": "application/json" }
const patienceMs = 60_000

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join(",")
const sentence = "lorem ipsum dolor sit amet, the quick brown fox. "
const filled = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / Buffer.byteLength(text)))
const said = (content: unknown, bytes = 0): string =>
  JSON.stringify([{ role: "user", content: bytes === 0 ? content : filled(String(content), bytes) }])

/** Members of a request, by what is in them. */
const shapes: Readonly<Record<string, (bytes: number) => string>> = {
  "one text": (bytes) => `"messages":${said(sentence, bytes)}`,
  "2,000 turns": (bytes) =>
    `"messages":[${times(2_000, () => JSON.stringify({ role: "user", content: filled(sentence, bytes / 2_000) }))}]`,
  "30,000 turns": (bytes) =>
    `"messages":[${times(30_000, () => JSON.stringify({ role: "user", content: filled(sentence, bytes / 30_000 - 40) }))}]`,
  "text of another alphabet": (bytes) => `"messages":${said("привет мир как дела ", bytes)}`,
  emoji: (bytes) => `"messages":${said("\u{1F600}", bytes)}`,
  escapes: (bytes) => `"messages":${said('\n\t"x\\', bytes / 1.8)}`,
  "escaped characters": (bytes) => `"messages":[{"role":"user","content":"${filled("\\u00e9\\ud83d\\ude00", bytes)}"}]`,
  "a picture": (bytes) =>
    `"messages":${said([{ type: "image_url", image_url: { url: `data:image/png;base64,${filled("iVBORw0KGgo", bytes)}` } }])}`,
  "blanks before a member": (bytes) => `${" ".repeat(bytes)}"messages":${said("Hi")}`,
  "blanks within a list": (bytes) => `"messages":[${" ".repeat(bytes)}${said("Hi").slice(1)}`,
  "personal data": (bytes) => `"messages":${said("a@b.example 4111 1111 1111 1111 +49 30 1234567 ", bytes)}`,
  "a name": (bytes) => `"messages":${said("Hi")},"${"n".repeat(bytes)}":1`,
  "a number": (bytes) => `"messages":${said("Hi")},"x":1${"0".repeat(bytes)}`,
  "empty objects": (bytes) => `"messages":${said("Hi")},"x":[${"{},".repeat(bytes / 3)}1]`,
  "empty lists": (bytes) => `"messages":${said("Hi")},"x":[${"[],".repeat(bytes / 3)}1]`,
  numbers: (bytes) => `"messages":${said("Hi")},"x":[${"1,".repeat(bytes / 2)}1]`,
  "small texts": (bytes) => `"messages":${said("Hi")},"x":[${'"ab",'.repeat(bytes / 5)}1]`,
  "a member twice at its end": (bytes) => `"messages":${said(sentence, bytes)},"x":{"a":1,"a":2}`,
  "no end": (bytes) => `"messages":${said(sentence, bytes)},"x":[`
}

const plain = once((arena) => arena.watched({}))
const guarded = once(async (arena) => {
  const gateway = await arena.watched({ PII_REDACTION_ENABLED: "true", INJECTION_GUARD_MODE: "redact" })
  await gateway.must("PUT", "/api/settings/guardrails", {
    customPatterns: [{ name: "letters", pattern: "\\p{L}{200}", replacement: "[LETTERS]" }],
    structuredOutput: { check: true, repair: false }
  })
  return gateway
})

const modelOf = once(async (arena, which: string, wire: string) => {
  const gateway = await (which === "plain" ? plain(arena) : guarded(arena))
  const { prefix } = await arena.node(gateway, wire as WireName)
  await arena.connection(gateway, prefix)
  return prefix
})

const post = (gateway: Gateway, path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  send(gateway.port, { method: "POST", path, headers: { ...json, ...headers }, body }, patienceMs)

/** Answered or refused, but not broken. */
const asked = async (gateway: Gateway, path: string, body: string): Promise<Verdict> => {
  const { status, text } = await post(gateway, path, body)
  return status >= 500 ? `${status}: ${text.slice(0, 120)}` : null
}

const bigBody = (which: "plain" | "guarded", wire: WireName, name: string, bytes: number): Attempt => {
  const title = `${which}, to ${wire}: ${Math.round(bytes / mebibyte)} MiB with ${name}`
  return {
    name: title,
    run: async (arena) => {
      const gateway = await (which === "plain" ? plain(arena) : guarded(arena))
      const prefix = await modelOf(arena, which, wire)
      const body = `{"model":"${prefix}/m",${shapes[name]?.(bytes) ?? ""}${name === "no end" ? "" : "}"}`
      return stalls(title, gateway, () => asked(gateway, "/v1/chat/completions", body))
    }
  }
}

/** The other wires' own requests, with one text. */
const otherWires: Readonly<
  Record<string, (model: string, text: string) => { readonly path: string; readonly body: unknown }>
> = {
  messages: (model, text) => ({
    path: "/v1/messages",
    body: { model, max_tokens: 9, messages: [{ role: "user", content: text }] }
  }),
  responses: (model, text) => ({ path: "/v1/responses", body: { model, input: text } }),
  gemini: (model, text) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text }] }] }
  }),
  ollama: (model, text) => ({
    path: "/api/chat",
    body: { model, stream: false, messages: [{ role: "user", content: text }] }
  }),
  embeddings: (model, text) => ({ path: "/v1/embeddings", body: { model, input: text } }),
  completions: (model, text) => ({ path: "/v1/completions", body: { model, prompt: text } })
}

const vectors = {
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [1] }],
  model: "m",
  usage: { prompt_tokens: 1, total_tokens: 1 }
}

const otherWire = (name: string): Attempt => {
  const title = `plain: 45 MiB of one text on the wire ${name}`
  return {
    name: title,
    run: async (arena) => {
      const gateway = await plain(arena)
      const { prefix } = await arena.node(
        gateway,
        name === "embeddings" || name === "completions" ? "chat" : (name as WireName)
      )
      await arena.connection(gateway, prefix)
      if (name === "embeddings") arena.answer(prefix, Fake.json(vectors))
      const made = otherWires[name]?.(`${prefix}/m`, filled(sentence, bigBytes))
      const body = JSON.stringify(made?.body)
      return stalls(title, gateway, () => asked(gateway, made?.path ?? "", body))
    }
  }
}

const letters = "абвгдежзиклмнопрстуфхцчшщ".repeat(8_000)

const dearPattern: Attempt = {
  name: "an operator's pattern that costs too much is refused",
  run: async (arena) => {
    const gateway = await guarded(arena)
    const { status, text } = await gateway.manage("PUT", "/api/settings/guardrails", {
      customPatterns: [{ name: "x", pattern: "\\p{L}{1000}", replacement: "y" }]
    })
    return status === 400 && text.includes("steps") ? null : `${status}: ${text.slice(0, 160)}`
  }
}

const pattern: Attempt = {
  name: "an operator's pattern on 200,000 letters",
  run: async (arena) => {
    const gateway = await guarded(arena)
    const prefix = await modelOf(arena, "guarded", "chat")
    const body = JSON.stringify({ model: `${prefix}/m`, messages: [{ role: "user", content: letters }] })
    return stalls("an operator's pattern", gateway, () => asked(gateway, "/v1/chat/completions", body))
  }
}

/** Patterns of the operator's own on answers, too. */
const sanitised = once(async (arena) => {
  const gateway = await arena.watched({ PII_RESPONSE_SANITIZATION: "true", PII_REDACTION_ENABLED: "true" })
  await gateway.must("PUT", "/api/settings/guardrails", {
    customPatterns: [{ name: "letters", pattern: "\\p{L}{200}", replacement: "[LETTERS]" }]
  })
  return gateway
})

/** The same letters as the answer: whole, in one event, and in one call of a tool. */
const answerPattern = (form: "whole" | "one event" | "1,000 events" | "a tool's arguments"): Attempt => ({
  name: `an operator's pattern on an answer of 200,000 letters: ${form}`,
  run: async (arena) => {
    const gateway = await sanitised(arena)
    const { prefix } = await arena.node(gateway, "chat")
    await arena.connection(gateway, prefix)
    const isStream = form.includes("event")
    const pieces =
      form === "1,000 events"
        ? Array.from({ length: 1_000 }, (_, at) => letters.slice(at * 200, at * 200 + 200))
        : [letters]
    const toolCalls = [{ id: "call_1", name: "f", arguments: JSON.stringify({ a: letters }) }]
    const given = form === "whole" ? { text: letters } : { text: "Hi", toolCalls }
    arena.answer(prefix, isStream ? Fake.sse(Fake.chatStream(pieces)) : Fake.json(Fake.chatCompletion(given)))
    const body = JSON.stringify({ model: `${prefix}/m`, stream: isStream, messages: [{ role: "user", content: "Hi" }] })
    return stalls(`an operator's pattern on an answer, ${form}`, gateway, async () => {
      const { status, text } = await post(gateway, "/v1/chat/completions", body)
      return status === 200 && text.includes("[LETTERS]") ? null : `${status}: ${text.slice(0, 160)}`
    })
  }
})

const triedPattern: Attempt = {
  name: "an operator's pattern that is tried on 1,000,000 letters",
  run: async (arena) => {
    const gateway = await sanitised(arena)
    return stalls("a pattern that is tried", gateway, async () => {
      const { status, text } = await gateway.manage("POST", "/api/guardrails/test", { text: "a".repeat(1_000_000) })
      return status === 400 && text.includes("characters") ? null : `${status}: ${text.slice(0, 160)}`
    })
  }
}

const schemaPattern = (source: string): Attempt => ({
  name: `a client's schema with the pattern ${source} on an answer of 200,000 letters`,
  run: async (arena) => {
    const gateway = await guarded(arena)
    const { prefix } = await arena.node(gateway, "chat")
    await arena.connection(gateway, prefix)
    const answer = answerOf("chat") as { choices: Array<{ message: { content: string } }> }
    for (const choice of answer.choices) choice.message.content = JSON.stringify({ a: "a".repeat(200_000) })
    arena.answer(prefix, Fake.json(answer))
    const schema = { type: "object", properties: { a: { type: "string", pattern: source } } }
    const body = JSON.stringify({
      model: `${prefix}/m`,
      messages: [{ role: "user", content: "Hi" }],
      response_format: { type: "json_schema", json_schema: { name: "s", schema } }
    })
    // Personal data is not looked for in answers here.
    return stalls(`a schema's ${source}`, gateway, () => asked(gateway, "/v1/chat/completions", body))
  }
})

const headersOf = (count: number): string => `{${times(count, (at) => `"x-${at}":"v"`)}}`

const ingest: Attempt = {
  name: "50,000 headers in a record that is handed in",
  run: async (arena) => {
    const gateway = await plain(arena)
    const head = `"id":"r","timestamp":"2026-01-01T00:00:00Z","method":"POST","host":"a.example","path":"/","source":"http-proxy"`
    const rest = `"requestSize":0,"responseSize":0,"status":200`
    const body = `{${head},"requestHeaders":${headersOf(50_000)},"responseHeaders":${headersOf(40_000)},${rest}}`
    return stalls("ingest headers", gateway, async () => {
      const headers = { authorization: `Bearer ${ingestToken}` }
      const { status, text } = await post(gateway, "/api/tools/traffic-inspector/internal/ingest", body, headers)
      return status === 400 ? null : `${status}: ${text.slice(0, 160)}`
    })
  }
}

const notices = 50_000
const notice = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'

/** An MCP server that says again and again that its tools have changed. `flood` begins it. */
const startNoisyServer = async () => {
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" })
      streams.add(response)
      return
    }
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
      if (id === undefined) return void response.writeHead(202).end()
      const result =
        method === "initialize"
          ? {
              protocolVersion: "2025-06-18",
              capabilities: { tools: { listChanged: true } },
              serverInfo: { name: "n", version: "1" }
            }
          : { tools: [{ name: "t", inputSchema: { type: "object" } }] }
      response.writeHead(200, { ...json, "mcp-session-id": "s" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    flood: () => {
      for (const stream of streams) stream.write(notice.repeat(notices))
      return streams.size
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A client that listens, and how often it was told. */
const listen = async (gateway: Gateway) => {
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} }
  }
  const { headers } = await post(gateway, "/mcp", JSON.stringify(call), {
    accept: "application/json, text/event-stream"
  })
  const controller = new AbortController()
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/mcp`, {
    headers: { accept: "text/event-stream", "mcp-session-id": String(headers["mcp-session-id"]) },
    signal: controller.signal
  })
  let told = 0
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) told += decoder.decode(chunk).split("list_changed").length - 1
  })().catch(() => {})
  return {
    told: () => told,
    close: async () => {
      controller.abort()
      await reading
    }
  }
}

const noisy: Attempt = {
  name: `${notices} notices of an MCP server to 20 clients`,
  run: async (arena) => {
    const gateway = await plain(arena)
    const server = await startNoisyServer()
    const { server: registered } = await gateway.must("POST", "/api/mcp/servers", {
      name: arena.fresh("noisy"),
      url: server.url
    })
    await gateway.must("POST", `/api/mcp/servers/${registered.id}/test`)
    const clients = await Promise.all(Array.from({ length: 20 }, () => listen(gateway)))
    try {
      return await stalls("notices", gateway, async () => {
        const before = clients.map(({ told }) => told())
        const begunMs = performance.now()
        if (server.flood() === 0) return "the gateway does not listen to the server"
        await new Promise((done) => setTimeout(done, 2_500))
        const most = Math.ceil((performance.now() - begunMs) / 1_000) + 1
        const counts = clients.map(({ told }, at) => told() - (before[at] ?? 0))
        if (counts.some((count) => count === 0)) return "a client was not told"
        return counts.some((count) => count > most) ? `a client was told ${Math.max(...counts)} times` : null
      })
    } finally {
      for (const client of clients) await client.close()
      await gateway.manage("DELETE", `/api/mcp/servers/${registered.id}`)
      server.close()
    }
  }
}

/** All requests of a group arrive at one moment. */
const simulated: Attempt = {
  name: "a simulation of 20,000 requests in groups of 1,000",
  run: async (arena) => {
    const gateway = await plain(arena)
    const model = `${await modelOf(arena, "plain", "chat")}/m`
    const body = JSON.stringify({ model, requests: 20_000, burst: 1_000, errors: { "*": 0.3 }, compareWith: model })
    const authorization = { authorization: `Bearer ${adminKey}` }
    return stalls("simulation", gateway, async () => {
      const { status, text } = await post(gateway, "/api/routing/simulate", body, authorization)
      return status === 200 ? null : `${status}: ${text.slice(0, 120)}`
    })
  }
}

export const longStalls: AttackClass = {
  name: "long stalls",
  atOnce: 1,
  attempts: [
    noisy,
    simulated,
    ingest,
    dearPattern,
    pattern,
    answerPattern("whole"),
    answerPattern("one event"),
    answerPattern("1,000 events"),
    answerPattern("a tool's arguments"),
    triedPattern,
    schemaPattern("^\\p{L}{1000}$"),
    schemaPattern("\\p{L}{200}x"),
    schemaPattern("(?:\\p{L}?\\p{N}?){100}$"),
    ...Object.keys(shapes).flatMap((name) => [
      bigBody("plain", "chat", name, bigBytes),
      bigBody("plain", "messages", name, bigBytes)
    ]),
    ...["one text", "30,000 turns", "personal data", "text of another alphabet", "escapes"].map((name) =>
      bigBody("guarded", "chat", name, name === "personal data" ? 8 * mebibyte : bigBytes)
    ),
    ...Object.keys(otherWires).map(otherWire)
  ]
}
