/** Credentials that the gateway sent come back in good answers: of models, of other services, of MCP servers. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { adminKey, type Arena } from "../Arena.ts"
import { answerOf, ask, wires } from "../Asks.ts"
import type { Attempt, AttackClass, Verdict } from "../Attempt.ts"
import { eventsOf, saidIn, streamOf } from "../Streams.ts"

const hex = (text: string): string => Buffer.from(text).toString("hex")

/** How a credential may be written. */
const forms: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  "percent-encoded": encodeURIComponent,
  "percent-encoded throughout": (secret) => hex(secret).replaceAll(/../g, "%$&"),
  "JSON-escaped": (secret) => JSON.stringify(secret).slice(1, -1),
  "JSON-escaped twice": (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  "in Unicode escapes": (secret) =>
    [...secret].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  hexadecimal: hex,
  "hexadecimal in capitals": (secret) => hex(secret).toUpperCase(),
  base64: (secret) => Buffer.from(secret).toString("base64"),
  "base64 behind a byte": (secret) => Buffer.from(`x${secret}y`).toString("base64"),
  "base64 behind two bytes": (secret) => Buffer.from(`xx${secret}yy`).toString("base64url")
}

/** No run of so many characters of a form may come back. */
const mostChars = 14

const leaked = (seen: Readonly<Record<string, string>>, written: string): Verdict => {
  for (const [where, text] of Object.entries(seen)) {
    for (let at = 0; at + mostChars <= written.length; at += 1) {
      if (text.includes(written.slice(at, at + mostChars)))
        return `'${written.slice(at, at + mostChars)}' is in ${where}`
    }
  }
  return null
}

const kinds = ["key", "header", "token"] as const
type Kind = (typeof kinds)[number]

/** One word: no part of it is in anything else. */
const secretOf = (arena: Arena, kind: Kind): string => {
  const noise = Array.from({ length: 6 }, () => Math.random().toString(36).slice(2, 8)).join("")
  return arena.fresh(`${noise}/+`) + (kind === "key" ? "Zq7" : '="Zq7')
}

const connected = async (arena: Arena, wire: WireName, kind: Kind) => {
  const secret = secretOf(arena, kind)
  const { prefix } = await arena.node(arena.open, wire)
  const more = {
    key: { apiKey: secret },
    header: { headers: { "x-secret": secret } },
    token: { authType: "oauth", apiKey: undefined, oauth: { accessToken: secret } }
  }[kind]
  const { id } = await arena.connection(arena.open, prefix, more)
  return { prefix, id, secret }
}

const inquire = async (arena: Arena, path: string, body: unknown) =>
  arena.open.send({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

/** An answer whose text is another one. */
const answerWith = (wire: WireName, text: string): unknown =>
  JSON.parse(JSON.stringify(answerOf(wire)).replaceAll('"Hello"', JSON.stringify(text).replaceAll("$", "$$$$")))

const whole = (wire: WireName, kind: Kind, form: string): Attempt => ({
  name: `${wire}: a ${kind} ${form} in a whole answer`,
  run: async (arena) => {
    const { id, prefix, secret } = await connected(arena, wire, kind)
    const written = forms[form]?.(secret) ?? secret
    arena.answer(prefix, Fake.json(answerWith(wire, `It is ${written}.`), { headers: { "x-request-id": written } }))
    const { body, path } = ask(wire, `${prefix}/m`)
    const { headers, text } = await inquire(arena, path, body)
    const stored = wire === "responses" ? (await arena.open.send({ path: `/v1/responses/${idIn(text)}` })).text : ""
    return leaked(
      {
        "the answer": text,
        "its headers": JSON.stringify(headers),
        "the stored answer": stored,
        "the connection": (await arena.open.manage("GET", `/api/providers/${id}`)).text,
        stderr: arena.open.program.stderr()
      },
      written
    )
  }
})

const idIn = (text: string): string => {
  try {
    return String(JSON.parse(text).id)
  } catch {
    return "none"
  }
}

const pieces = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))

const streamed = (from: WireName, to: WireName, form: string, size: number): Attempt => ({
  name: `${from} to ${to}: a key ${form} in a stream, ${size} characters an event`,
  run: async (arena) => {
    const { prefix, secret } = await connected(arena, from, "key")
    const written = forms[form]?.(secret) ?? secret
    const said = pieces(`It is ${written} and no more.`, size)
    arena.answer(prefix, streamOf(from, eventsOf(from, said)))
    const { body, path } = ask(to, `${prefix}/m`, "Hi", true)
    const { text } = await inquire(arena, path, body)
    const joined = saidIn(to, text)
    const isThere = joined.startsWith("It is ") && joined.endsWith(" and no more.")
    return (
      leaked({ "the events": text, "what they say": joined }, written) ?? (isThere ? null : `only '${joined}' came`)
    )
  }
})

const cutInBytes = (wire: WireName, form: string): Attempt => ({
  name: `${wire}: a key ${form} in an event that comes byte by byte`,
  run: async (arena) => {
    const { prefix, secret } = await connected(arena, wire, "key")
    const written = forms[form]?.(secret) ?? secret
    const headers = wire === "ollama" ? { "content-type": "application/x-ndjson" } : {}
    arena.answer(prefix, Fake.byteByByte(eventsOf(wire, [`It is ${written}.`]).join(""), { headers }))
    const { body, path } = ask(wire, `${prefix}/m`, "Hi", true)
    const { text } = await inquire(arena, path, body)
    return leaked({ "the events": text, "what they say": saidIn(wire, text) }, written)
  }
})

interface Service {
  readonly name: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly answer: (text: string) => Fake.Answer
}

/** Services besides conversations. */
const services: ReadonlyArray<Service> = [
  {
    name: "embeddings",
    path: "/v1/embeddings",
    body: { input: "Hi" },
    answer: (text) =>
      Fake.json({
        object: "list",
        model: text,
        data: [{ object: "embedding", index: 0, embedding: [1], note: text }],
        usage: { prompt_tokens: 1, total_tokens: 1 }
      })
  },
  {
    name: "moderations",
    path: "/v1/moderations",
    body: { input: "Hi" },
    answer: (text) => Fake.json({ id: text, model: "m", results: [{ flagged: false, categories: {}, note: text }] })
  },
  {
    name: "rerank",
    path: "/v1/rerank",
    body: { query: "Hi", documents: ["a"] },
    answer: (text) => Fake.json({ id: text, results: [{ index: 0, relevance_score: 1, document: { text } }] })
  },
  {
    name: "speech",
    path: "/v1/audio/speech",
    body: { input: "Hi", voice: "alloy" },
    answer: (text) => Fake.text(`ID3 ${text} ID3`, { headers: { "content-type": "audio/mpeg" } })
  },
  {
    name: "images",
    path: "/v1/images/generations",
    body: { prompt: "Hi" },
    answer: (text) => Fake.json({ created: 1, data: [{ b64_json: "aGk=", revised_prompt: text }] })
  }
]

const service = ({ answer, body, name, path }: Service, form: string): Attempt => ({
  name: `${name}: a key ${form}`,
  run: async (arena) => {
    const { prefix, secret } = await connected(arena, "chat", "key")
    const written = forms[form]?.(secret) ?? secret
    arena.answer(prefix, answer(written))
    const { headers, text } = await inquire(arena, path, { model: `${prefix}/m`, ...body })
    return leaked({ "the answer": text, "its headers": JSON.stringify(headers) }, written)
  }
})

const models = (form: string): Attempt => ({
  name: `list of models: a key ${form}`,
  run: async (arena) => {
    const { id, secret } = await connected(arena, "chat", "key")
    const written = forms[form]?.(secret) ?? secret
    await arena.open.must("PUT", `/api/providers/${id}`, { priority: 2 })
    const listed = await arena.open.manage("GET", `/api/providers/${id}/models`)
    return leaked({ "the list": listed.text }, written)
  }
})

type Place = "description" | "title" | "schema" | "content" | "structured" | "failure" | "error" | "meta"
const places: ReadonlyArray<Place> = [
  "description",
  "title",
  "schema",
  "content",
  "structured",
  "failure",
  "error",
  "meta"
]

/** A server that repeats a text in one place. */
const mcpServer =
  (place: Place, text: string): Fake.Answer =>
  (response, { body }) => {
    const { id, method } = JSON.parse(body)
    const at = (here: Place, other = "plain"): string => (place === here ? text : other)
    const write = (message: object | null): void => {
      response.writeHead(message === null ? 202 : 200, { "content-type": "application/json" })
      response.end(message === null ? "" : JSON.stringify({ jsonrpc: "2.0", id, ...message }))
    }
    const properties = { q: { type: "string", description: at("schema") } }
    switch (method) {
      case "initialize":
        return write({
          result: {
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "s", version: "1" }
          }
        })
      case "tools/list":
        return write({
          result: {
            tools: [
              {
                name: "t",
                title: at("title"),
                description: at("description"),
                inputSchema: { type: "object", properties }
              }
            ]
          }
        })
      case "tools/call":
        if (place === "error") return write({ error: { code: -32_000, message: text } })
        return write({
          result: {
            content: [{ type: "text", text: at("content", at("failure")) }],
            structuredContent: { found: { [at("structured")]: at("structured") } },
            isError: place === "failure",
            _meta: { note: at("meta") }
          }
        })
      default:
        return write(null)
    }
  }

const rpc = async (arena: Arena, session: string | null, message: object) =>
  arena.open.send({
    method: "POST",
    path: "/mcp",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${adminKey}`,
      accept: "application/json, text/event-stream",
      ...(session === null ? {} : { "mcp-session-id": session })
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message })
  })

const mcp = (place: Place, form: string): Attempt => ({
  name: `MCP server: a header ${form} as ${place}`,
  run: async (arena) => {
    const secret = secretOf(arena, "header")
    const written = forms[form]?.(secret) ?? secret
    const name = arena.fresh("s")
    arena.answer(name, mcpServer(place, written))
    const { server } = await arena.open.must("POST", "/api/mcp/servers", {
      name,
      url: `${arena.upstream.origin}/${name}/mcp`,
      headers: { authorization: `Bearer ${secret}` }
    })
    const begun = await rpc(arena, null, {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } }
    })
    const session = String(begun.headers["mcp-session-id"])
    await rpc(arena, session, { method: "notifications/initialized" })
    const listed = await rpc(arena, session, { id: 2, method: "tools/list" })
    const tool = new RegExp(`"(${name}[^"]*t)"`).exec(listed.text)?.[1] ?? ""
    const called = await rpc(arena, session, { id: 3, method: "tools/call", params: { name: tool, arguments: {} } })
    const tested = await arena.open.manage("POST", `/api/mcp/servers/${server.id}/test`)
    await arena.open.must("DELETE", `/api/mcp/servers/${server.id}`)
    if (tool === "") return `the tool is not listed: ${listed.text.slice(0, 200)}`
    return leaked(
      { "the list": listed.text, "the result": called.text, "the test": tested.text },
      // What a JSON text holds is read as the client reads it.
      written
    )
  }
})

const names = Object.keys(forms)

export const returned: AttackClass = {
  name: "returned credentials",
  atOnce: 4,
  attempts: [
    ...wires.flatMap((wire) => kinds.flatMap((kind) => names.map((form) => whole(wire, kind, form)))),
    ...wires.flatMap((wire) => names.flatMap((form) => [1, 5, 16].map((size) => streamed(wire, wire, form, size)))),
    ...wires.flatMap((from) =>
      wires.filter((to) => to !== from).flatMap((to) => ["plain", "base64"].map((form) => streamed(from, to, form, 3)))
    ),
    ...wires.flatMap((wire) => ["plain", "hexadecimal"].map((form) => cutInBytes(wire, form))),
    ...services.flatMap((one) => names.map((form) => service(one, form))),
    ...names.map(models),
    ...places.flatMap((place) => names.map((form) => mcp(place, form)))
  ]
}
