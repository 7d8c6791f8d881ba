/** MCP servers for the gateway to ask: real ones of the official SDK over HTTP, and HTTP servers that answer as they like. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import type { Connected } from "../Client.ts"

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
  /** Tools beside its usual ones. */
  more: ReadonlyArray<{ readonly name: string; readonly inputSchema: { readonly type: "object" } }>
  /** Sessions under way, with which more tools can be offered. */
  readonly sessions: Map<string, { readonly server: Server; readonly transport: StreamableHTTPServerTransport }>
}

const bigText = "x".repeat(10 * 1_048_576)

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] })

const object = { type: "object" } as const
const words = { ...object, properties: { query: { type: "string" } }, required: ["query"] }

const tools = [
  {
    name: "search",
    title: "Search the pages",
    description: "Finds pages by words.",
    inputSchema: words,
    outputSchema: {
      ...object,
      properties: { found: { type: "array", items: { type: "string" } } },
      required: ["found"]
    },
    annotations: { readOnlyHint: true, openWorldHint: false }
  },
  { name: "fail", description: "Fails.", inputSchema: object },
  { name: "big", description: "Answers 10 MB.", inputSchema: object },
  { name: "wait", description: "Never answers.", inputSchema: object },
  { name: "steps", description: "Reports its steps.", inputSchema: object }
]

const offer = (docs: Docs): Server => {
  const server = new Server(
    { name: "docs-server", version: "1.2.0" },
    { capabilities: { tools: { listChanged: true } } }
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools, ...docs.more] }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, signal }) => {
    const query = params.arguments?.["query"]
    switch (params.name) {
      case "search":
        if (typeof query !== "string") throw new McpError(ErrorCode.InvalidParams, "query must be text")
        return { ...text(`Found ${query}.`), structuredContent: { found: [query] } }
      case "fail":
        return { ...text("It is not possible."), isError: true }
      case "big":
        return text(bigText)
      case "wait":
        docs.waiting += 1
        signal.addEventListener("abort", () => {
          docs.cancelled += 1
        })
        return new Promise<never>(() => {})
      default: {
        const progressToken = params._meta?.progressToken
        for (const progress of progressToken === undefined ? [] : [1, 2]) {
          await sendNotification({
            method: "notifications/progress",
            params: { progressToken: progressToken ?? "", progress, total: 2, message: `step ${progress}` }
          })
        }
        return text("done")
      }
    }
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

export const newDocs = (): Docs => ({ waiting: 0, cancelled: 0, more: [], sessions: new Map() })

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
          ? {
              jsonrpc: "2.0",
              id,
              error: { code: -32_601, message: `no such method for ${JSON.stringify(request.headers)}` }
            }
          : { jsonrpc: "2.0", id, result: answer(params as never) }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message))
    })
  }
}

const named = async ({ client }: Connected): Promise<ReadonlyArray<string>> => {
  const names: Array<string> = []
  let cursor: string | undefined
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor })
    names.push(...page.tools.map(({ name }) => name))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return names
}

/** The names of tools that are not the gateway's. */
export const foreign = async (connected: Connected): Promise<ReadonlyArray<string>> =>
  (await named(connected)).filter((name) => name.includes("__"))

export const textOf = (result: Awaited<ReturnType<Connected["client"]["callTool"]>>): string =>
  (result.content as ReadonlyArray<{ readonly text?: string }>)[0]?.text ?? ""

/** Calls a tool by its whole name. */
export const ask = async ({ client }: Connected, name: string, input: Record<string, unknown> = {}) => {
  const result = await client.callTool({ name, arguments: input })
  return { isError: result.isError === true, text: textOf(result), structured: result.structuredContent }
}
