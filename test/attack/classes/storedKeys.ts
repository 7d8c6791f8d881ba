/** A stored credential is sent to a host chosen by a caller who may change a setting or write a request. */
import * as Fake from "../../support/FakeUpstream.ts"
import { type Arena, baseUrlOf, type Gateway, type Node } from "../Arena.ts"
import { ask } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"

interface Stored extends Node {
  readonly connectionId: string
  readonly secrets: ReadonlyArray<string>
}

/** A node and a connection that both hold a secret header, and a key. */
const store = async (arena: Arena, gateway: Gateway): Promise<Stored> => {
  const secrets = ["stored-key-", "stored-node-header-", "stored-header-"].map((stem) =>
    arena.fresh(`${stem}0123456789-`)
  )
  const [apiKey, nodeHeader, header] = secrets
  const node = await arena.node(gateway, "chat", { headers: { "x-node-secret": nodeHeader } })
  const { id } = await arena.connection(gateway, node.prefix, { apiKey, headers: { "x-secret": header } })
  return { ...node, connectionId: id, secrets }
}

/** Spellings of the trap's address; some look like the upstream's. */
const destinations = ({ trap, upstream }: Arena): ReadonlyArray<string> => [
  baseUrlOf(trap.origin, "chat"),
  `http://localhost:${trap.port}/v1`,
  `http://[::ffff:127.0.0.1]:${trap.port}/v1`,
  `http://2130706433:${trap.port}/v1`,
  `http://0177.0.0.1:${trap.port}/v1`,
  `http://127.0.0.1:${upstream.port}@127.0.0.1:${trap.port}/v1`,
  `HTTP://127.0.0.1:${trap.port}`,
  ` http://127.0.0.1:${trap.port}/v1 `,
  `http:\\\\127.0.0.1:${trap.port}\\v1`,
  `http://127.0.0.1:${trap.port}#${upstream.origin}/v1`,
  `http://127.0.0.1:${trap.port}?${upstream.origin}/v1`
]

type Way = (arena: Arena, gateway: Gateway, stored: Stored, url: string) => Promise<unknown>

const put = (path: (stored: Stored) => string, body: (url: string, stored: Stored) => object): Way => {
  return (_arena, gateway, stored, url) => gateway.manage("PUT", path(stored), body(url, stored))
}
const connectionPath = ({ connectionId }: Stored): string => `/api/providers/${connectionId}`
const nodePath = ({ id }: Stored): string => `/api/provider-nodes/${id}`

const ways: Readonly<Record<string, Way>> = {
  "the address of a connection": put(connectionPath, (baseUrl) => ({ baseUrl })),
  "the address and the wires of a connection": put(connectionPath, (baseUrl) => ({ baseUrl, wires: ["messages"] })),
  "the address of a connection, with an empty key": put(connectionPath, (baseUrl) => ({ baseUrl, apiKey: "" })),
  "the address of a connection, with no key": put(connectionPath, (baseUrl) => ({ baseUrl, apiKey: null })),
  "the address of a connection, with the key as it is shown": async (_arena, gateway, stored, baseUrl) => {
    const { connection } = await gateway.must("GET", connectionPath(stored))
    return gateway.manage("PUT", connectionPath(stored), { baseUrl, apiKey: connection.apiKey })
  },
  "the address of a connection, with a new key but the old headers": put(connectionPath, (baseUrl) => ({
    baseUrl,
    apiKey: "a-new-key-0123456789"
  })),
  "the address of a connection, with new headers but the old key": put(connectionPath, (baseUrl) => ({
    baseUrl,
    headers: {}
  })),
  "a misspelt address of a connection": put(connectionPath, (base_url) => ({ base_url })),
  "the address of a node": put(nodePath, (baseUrl) => ({ baseUrl })),
  "the address of a node, with new headers": put(nodePath, (baseUrl) => ({ baseUrl, headers: {} })),
  "the path of a node's chat": put(nodePath, (chatPath) => ({ chatPath })),
  "the path of a node's chat, begun with two slashes": put(nodePath, (url) => ({
    chatPath: url.replace(/^\s*http:/i, "")
  })),
  "the path of a node's chat, begun with an at sign": put(nodePath, (url) => ({
    chatPath: url.replace(/^\s*http:../i, "@")
  })),
  "the path of a node's models": put(nodePath, (modelsPath) => ({ modelsPath })),
  "a question whether a key is valid": (_arena, gateway, { prefix }, baseUrl) =>
    gateway.manage("POST", "/api/providers/validate", { provider: prefix, apiKey: "a-new-key-0123456789", baseUrl }),
  "a question whether a changed connection would be accepted": (_arena, gateway, { connectionId }, baseUrl) =>
    gateway.manage("POST", "/api/providers/validate", { connectionId, baseUrl }),
  "the same with the node of the address": (_arena, gateway, { connectionId, prefix }, baseUrl) =>
    gateway.manage("POST", "/api/providers/validate", {
      connectionId,
      node: { name: prefix, prefix, type: "openai-compatible", baseUrl }
    }),
  "a new connection with an address of its own": (arena, gateway, { prefix }, baseUrl) =>
    gateway
      .manage("POST", "/api/providers", {
        provider: prefix,
        name: arena.fresh("other"),
        apiKey: "a-new-key-0123456789",
        baseUrl,
        models: ["m"]
      })
      .then(({ status, text }) =>
        status === 201 ? gateway.manage("POST", `/api/providers/${JSON.parse(text).connection.id}/test`) : null
      )
}

const redirects: ReadonlyArray<number> = [301, 302, 303, 307, 308]

/** Uses the account in every way there is, then looks at what has come into the trap. */
const caught = async (arena: Arena, gateway: Gateway, stored: Stored): Promise<Verdict> => {
  await gateway.manage("POST", `/api/providers/${stored.connectionId}/test`)
  await gateway.manage("GET", `/api/providers/${stored.connectionId}/models`)
  const question = ask("chat", `${stored.prefix}/m`)
  await gateway.send({
    method: "POST",
    path: question.path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(question.body)
  })
  for (const { body, headers, url } of arena.trap.requests) {
    const seen = `${url} ${JSON.stringify(headers)} ${body}`
    const secret = stored.secrets.find((planted) => seen.includes(planted))
    if (secret !== undefined) return `the trap received '${secret}' at ${url}`
  }
  return null
}

const spellings = 11

const byWay: ReadonlyArray<Attempt> = pairs(
  Object.entries(ways),
  Array.from({ length: spellings }, (_, at) => at)
).map(([[name, way], at]) => ({
  name: `${name}, spelling ${at}`,
  run: async (arena) => {
    const gateway = arena.open
    const stored = await store(arena, gateway)
    await way(arena, gateway, stored, destinations(arena)[at] ?? "")
    return caught(arena, gateway, stored)
  }
}))

const byRedirect: ReadonlyArray<Attempt> = pairs(redirects, ["GET", "POST"]).map(([status, method]) => ({
  name: `the upstream answers ${method} with ${status} and the trap's address`,
  run: async (arena) => {
    const stored = await store(arena, arena.open)
    const location = `${arena.trap.origin}/v1/chat/completions`
    arena.answer(stored.prefix, Fake.text("", { status, headers: { location } }))
    return caught(arena, arena.open, stored)
  }
}))

/** The headers of a registered MCP server, which is asked at once when it is tested. */
const byMcpServer: ReadonlyArray<Attempt> = Array.from({ length: spellings }, (_, at) => ({
  name: `the address of an MCP server, spelling ${at}`,
  run: async (arena) => {
    const { open, trap, upstream } = arena
    const secret = arena.fresh("stored-mcp-header-0123456789-")
    const url = `${upstream.origin}/${arena.fresh("mcp")}`
    const { server } = await open.must("POST", "/api/mcp/servers", {
      name: arena.fresh("m"),
      url,
      headers: { "x-secret": secret }
    })
    const path = `/api/mcp/servers/${server.id}`
    await open.manage("PATCH", path, { url: destinations(arena)[at] ?? "" })
    await open.manage("POST", `${path}/test`)
    await open.manage("DELETE", path)
    const told = trap.requests.find(({ headers }) => JSON.stringify(headers).includes(secret))
    return told === undefined ? null : `the trap received '${secret}' at ${told.url}`
  }
}))

export const storedKeys: AttackClass = {
  name: "stored keys read out",
  atOnce: 4,
  attempts: [...byWay, ...byRedirect, ...byMcpServer]
}
