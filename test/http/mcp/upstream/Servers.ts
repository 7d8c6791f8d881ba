/** MCP servers for the gateway to ask: real ones of the official SDK over HTTP, and HTTP servers that answer as they like. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { z } from "zod"

/** A server that speaks over standard input and output. */
export const program = fileURLToPath(new URL("./program.mjs", import.meta.url))

export interface Listening {
  /** Where it speaks MCP. */
  readonly url: string
  /** Headers of all requests that came. */
  readonly seen: Array<IncomingMessage["headers"]>
}

/** Answers each request with the listener, on a free port of this machine, or the given one. */
export const answering = (listener: RequestListener, port = 0) =>
  Effect.acquireRelease(
    Effect.async<Listening & { readonly close: () => Promise<void>; readonly port: number }>((resume) => {
      const seen: Array<IncomingMessage["headers"]> = []
      const server = createServer((request, response) => {
        seen.push(request.headers)
        listener(request, response)
      })
      server.listen(port, "127.0.0.1", () => {
        const { port: bound } = server.address() as AddressInfo
        const close = () =>
          new Promise<void>((done) => {
            server.close(() => done())
            server.closeAllConnections()
          })
        resume(Effect.succeed({ url: `http://127.0.0.1:${bound}/mcp`, seen, close, port: bound }))
      })
    }),
    ({ close }) => Effect.promise(close)
  )

export interface Docs {
  /** Calls of the tool `wait` that began, and that were cancelled. */
  waiting: number
  cancelled: number
  /** Sessions under way, with which more tools can be offered. */
  readonly sessions: Map<string, { readonly server: McpServer; readonly transport: StreamableHTTPServerTransport }>
}

const bigText = "x".repeat(10 * 1_048_576)

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] })

const offer = (docs: Docs): McpServer => {
  const server = new McpServer({ name: "docs-server", version: "1.2.0" })
  server.registerTool(
    "search",
    {
      title: "Search the pages",
      description: "Finds pages by words.",
      inputSchema: { query: z.string() },
      outputSchema: { found: z.array(z.string()) },
      annotations: { readOnlyHint: true, openWorldHint: false }
    },
    ({ query }) => ({ ...text(`Found ${query}.`), structuredContent: { found: [query] } })
  )
  server.registerTool("fail", { description: "Fails." }, () => ({ ...text("It is not possible."), isError: true }))
  server.registerTool("big", { description: "Answers 10 MB." }, () => text(bigText))
  server.registerTool("wait", { description: "Never answers." }, ({ signal }) => {
    docs.waiting += 1
    signal.addEventListener("abort", () => {
      docs.cancelled += 1
    })
    return new Promise(() => {})
  })
  server.registerTool("steps", { description: "Reports its steps." }, async ({ _meta: meta, sendNotification }) => {
    for (const progress of meta?.progressToken === undefined ? [] : [1, 2]) {
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken: meta?.progressToken ?? "", progress, total: 2, message: `step ${progress}` }
      })
    }
    return text("done")
  })
  return server
}

/** A server of the official SDK with sessions. */
export const serving = (docs: Docs): RequestListener => {
  const { sessions } = docs
  const handle = async (request: Parameters<RequestListener>[0], response: Parameters<RequestListener>[1]) => {
    const id = request.headers["mcp-session-id"]
    const known = typeof id === "string" ? sessions.get(id) : undefined
    if (known !== undefined) return known.transport.handleRequest(request, response)
    if (id !== undefined) {
      response.writeHead(404, { "content-type": "application/json" })
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}')
      return
    }
    const server = offer(docs)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, { server, transport }),
      onsessionclosed: (session) => void sessions.delete(session)
    })
    await server.connect(transport)
    await transport.handleRequest(request, response)
  }
  return (request, response) => void handle(request, response)
}

export const docsServer = (docs: Docs, port = 0) => answering(serving(docs), port)

export const newDocs = (): Docs => ({ waiting: 0, cancelled: 0, sessions: new Map() })

/** A server that answers each method with one JSON message, without sessions. */
export const scripted = (answers: Readonly<Record<string, (params: never) => unknown>>): RequestListener => {
  const initialize = () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "scripted", version: "0" }
  })
  const all: Readonly<Record<string, (params: never) => unknown>> = { initialize, ...answers }
  return (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end()
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
      if (id === undefined) return void response.writeHead(202).end()
      const answer = all[method]
      const message =
        answer === undefined
          ? { jsonrpc: "2.0", id, error: { code: -32_601, message: "no such method" } }
          : { jsonrpc: "2.0", id, result: answer(params as never) }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message))
    })
  }
}
