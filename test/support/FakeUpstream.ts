/**
 * An upstream on a real socket that does what a test tells it to. Answers are taken from a queue, then from the standing answer.
 * Nothing here sleeps: pauses are latches, and whatever a test may wait for is a promise.
 */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"

// ---------------------------------------------------------------------------------------------------------- latches

export interface Latch {
  readonly open: () => void
  readonly opened: Promise<void>
}

export const makeLatch = (): Latch => {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

// ----------------------------------------------------------------------------------------------------------- server

export interface RecordedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The whole body as text. */
  readonly body: string
  /** Port of the client's socket: equal ports mean a reused connection. */
  readonly clientPort: number
  /** Resolves when the client's socket is closed, by whichever side. */
  readonly closed: Promise<void>
}

/** Handler of one request. It may take its time; there is nothing left to do when the client goes away. */
export type Answer = (response: ServerResponse, request: RecordedRequest) => void | Promise<void>

export interface FakeUpstream {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  readonly port: number
  /** Everything received so far, oldest first; a request is in it before its answer starts. */
  readonly requests: ReadonlyArray<RecordedRequest>
  /** Answers for the next requests, in order. */
  readonly enqueue: (...answers: ReadonlyArray<Answer>) => void
  /** Sets the answer when the queue is empty. At first: 500. */
  readonly always: (answer: Answer) => void
  /** Sets the answer to requests for models, which the gateway makes in the background. At first: 404. */
  readonly lists: (answer: Answer) => void
  /** Questions for models so far; they are not among `requests`. */
  readonly listRequests: ReadonlyArray<RecordedRequest>
  /** The n-th request (from 1), as soon as it has arrived. */
  readonly received: (n: number) => Promise<RecordedRequest>
  /** Open client sockets. */
  readonly openSockets: () => number
  /** Closes every socket the client keeps open, as an upstream does that restarts. */
  readonly closeSockets: () => void
}

const readBody = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

/** The list of models in any wire, and Ollama's details of one. */
const isForModels = ({ method, url }: RecordedRequest): boolean => {
  const [path = ""] = url.split("?")
  return method === "GET" ? /\/(models|tags)$/.test(path) : method === "POST" && path.endsWith("/api/show")
}

const closings = new WeakMap<Socket, Promise<void>>()

/** One listener per socket, however many requests it carries. */
const closedOf = (socket: Socket): Promise<void> => {
  const known = closings.get(socket)
  if (known !== undefined) return known
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  closings.set(socket, closed)
  return closed
}

/** Starts an upstream on a free loopback port, closed with the scope. */
export const start: Effect.Effect<FakeUpstream, never, Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const requests: Array<RecordedRequest> = []
    const waiting: Array<{ readonly n: number; readonly resolve: (request: RecordedRequest) => void }> = []
    const queue: Array<Answer> = []
    const sockets = new Set<Socket>()
    const listRequests: Array<RecordedRequest> = []
    let listing: Answer = json({ error: { message: "no list of models here" } }, { status: 404 })
    let standing: Answer = json({ error: { message: "the test gave no answer" } }, { status: 500 })

    const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
      const socket = incoming.socket
      const closed = closedOf(socket)
      response.on("error", () => {})
      const handle = async (): Promise<void> => {
        const request: RecordedRequest = {
          method: incoming.method ?? "",
          url: incoming.url ?? "",
          headers: incoming.headers,
          body: await readBody(incoming),
          clientPort: socket.remotePort ?? 0,
          closed
        }
        if (isForModels(request)) {
          listRequests.push(request)
          await listing(response, request)
          return
        }
        requests.push(request)
        const answer = queue.shift() ?? standing
        for (const waiter of waiting) if (waiter.n === requests.length) waiter.resolve(request)
        await answer(response, request)
      }
      handle().catch(() => socket.destroy())
    })
    server.on("connection", (socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => sockets.delete(socket))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo

    const upstream: FakeUpstream = {
      origin: `http://127.0.0.1:${port}`,
      port,
      requests,
      enqueue: (...answers) => void queue.push(...answers),
      always: (answer) => {
        standing = answer
      },
      lists: (answer) => {
        listing = answer
      },
      listRequests,
      received: (n) =>
        new Promise((resolve) => {
          const known = requests[n - 1]
          if (known === undefined) waiting.push({ n, resolve })
          else resolve(known)
        }),
      openSockets: () => sockets.size,
      closeSockets: () => {
        for (const socket of sockets) socket.destroy()
      }
    }
    return { upstream, server }
  }),
  ({ server, upstream }) =>
    Effect.promise(async () => {
      upstream.closeSockets()
      server.close()
      if (server.listening) await once(server, "close")
    })
).pipe(Effect.map(({ upstream }) => upstream))

// ---------------------------------------------------------------------------------------------------------- answers

interface Head {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A whole JSON answer. */
export const json =
  (body: unknown, head: Head = {}): Answer =>
  (response) => {
    response.writeHead(head.status ?? 200, { "content-type": "application/json", ...head.headers })
    response.end(JSON.stringify(body))
  }

/** A whole answer of any kind. */
export const text =
  (body: string | Buffer, head: Head = {}): Answer =>
  (response) => {
    response.writeHead(head.status ?? 200, { "content-type": "text/plain", ...head.headers })
    response.end(body)
  }

const openStream = (response: ServerResponse, head: Head = {}): void => {
  response.writeHead(head.status ?? 200, { "content-type": "text/event-stream", ...head.headers })
  response.flushHeaders()
}

const writePieces = async (
  response: ServerResponse,
  request: RecordedRequest,
  pieces: ReadonlyArray<string | Buffer | Latch>
): Promise<void> => {
  for (const piece of pieces) {
    if (response.destroyed) return
    if (typeof piece === "string" || Buffer.isBuffer(piece)) {
      if (!response.write(piece)) await Promise.race([once(response, "drain"), request.closed])
    } else await Promise.race([piece.opened, request.closed])
  }
}

/** An event stream: strings are written as they are, a latch holds the stream until the test opens it. Ends in an orderly way. */
export const sse =
  (pieces: ReadonlyArray<string | Buffer | Latch>, head: Head = {}): Answer =>
  async (response, request) => {
    openStream(response, head)
    await writePieces(response, request, pieces)
    response.end()
  }

/** Takes the request and never answers. */
export const hang = (): Answer => () => {}

/** Sends headers and what is given, then nothing more. */
export const silence =
  (pieces: ReadonlyArray<string> = [], head: Head = {}): Answer =>
  async (response, request) => {
    openStream(response, head)
    await writePieces(response, request, pieces)
  }

/** Resets the connection before a byte of the answer. */
export const resetBeforeHeaders = (): Answer => (response) => void response.socket?.resetAndDestroy()

/** Closes the connection in an orderly way before a byte of the answer, as an upstream does whose keep-alive time is over. */
export const closeBeforeHeaders = (): Answer => (response) => void response.socket?.destroy()

/** Sends the pieces, then resets the connection; a latch among the pieces lets the client read first. */
export const resetMidBody =
  (pieces: ReadonlyArray<string | Latch>, head: Head = {}): Answer =>
  async (response, request) => {
    openStream(response, head)
    await writePieces(response, request, pieces)
    response.socket?.resetAndDestroy()
  }

/** Announces more bytes than it sends, then closes. */
export const truncated =
  (body: string, missingBytes = 10): Answer =>
  (response) => {
    response.writeHead(200, { "content-length": String(Buffer.byteLength(body) + missingBytes) })
    response.write(body, () => response.socket?.end())
  }

/** A chunked stream that closes without its last chunk. */
export const cutOff =
  (pieces: ReadonlyArray<string | Latch>, head: Head = {}): Answer =>
  async (response, request) => {
    openStream(response, head)
    await writePieces(response, request, pieces)
    response.socket?.end()
  }

/** Sends these bytes on the bare socket and closes: for answers that are not HTTP, or HTTP of the old kind. */
export const raw =
  (pieces: ReadonlyArray<string | Latch>, ending: "close" | "reset" = "close"): Answer =>
  async (response, request) => {
    for (const piece of pieces) {
      if (typeof piece === "string") response.socket?.write(piece)
      else await Promise.race([piece.opened, request.closed])
    }
    if (ending === "close") response.socket?.end()
    else response.socket?.resetAndDestroy()
  }

const encoders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, "deflate-raw": deflateRawSync }

/** A body compressed without being requested. */
export const compressed =
  (body: string, encoding: keyof typeof encoders, head: Head = {}): Answer =>
  (response) => {
    const bytes = encoders[encoding](body)
    const header = encoding === "deflate-raw" ? "deflate" : encoding
    response.writeHead(head.status ?? 200, { "content-encoding": header, ...head.headers })
    response.end(bytes)
  }

/** The same text, one byte per write. */
export const byteByByte =
  (body: string, head: Head = {}): Answer =>
  async (response) => {
    openStream(response, head)
    for (const byte of Buffer.from(body)) {
      await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()))
    }
    response.end()
  }

// ----------------------------------------------------------------------------------------------------------- shapes

export interface FakeToolCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

export interface FakeAnswer {
  readonly model?: string
  readonly text?: string
  readonly toolCalls?: ReadonlyArray<FakeToolCall>
  readonly usage?: { readonly in: number; readonly out: number; readonly cacheRead?: number }
}

const usageOf = (answer: FakeAnswer) => ({ in: 7, out: 3, cacheRead: 0, ...answer.usage })

const chatUsage = (answer: FakeAnswer) => {
  const usage = usageOf(answer)
  return {
    prompt_tokens: usage.in,
    completion_tokens: usage.out,
    total_tokens: usage.in + usage.out,
    prompt_tokens_details: { cached_tokens: usage.cacheRead }
  }
}

const chatToolCalls = (calls: ReadonlyArray<FakeToolCall>) =>
  calls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments }
  }))

/** A whole chat-completions answer. */
export const chatCompletion = (answer: FakeAnswer = {}) => {
  const calls = answer.toolCalls ?? []
  return {
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 1_700_000_000,
    model: answer.model ?? "fake-model",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: answer.text ?? (calls.length === 0 ? "Hello" : null),
          ...(calls.length === 0 ? {} : { tool_calls: chatToolCalls(calls) })
        },
        finish_reason: calls.length === 0 ? "stop" : "tool_calls"
      }
    ],
    usage: chatUsage(answer)
  }
}

const dataLine = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const namedEvent = (value: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\n${dataLine(value)}`

/** The events of a chat-completions stream, ending with usage and `[DONE]`: one delta per text, then the tool calls. */
export const chatStream = (
  texts: ReadonlyArray<string>,
  answer: Omit<FakeAnswer, "text"> = {}
): ReadonlyArray<string> => {
  const calls = answer.toolCalls ?? []
  const head = {
    id: "chatcmpl-fake",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: answer.model ?? "fake-model"
  }
  const delta = (value: object, finish: string | null = null) =>
    dataLine({ ...head, choices: [{ index: 0, delta: value, finish_reason: finish }] })
  return [
    delta({ role: "assistant", content: "" }),
    ...texts.map((content) => delta({ content })),
    ...chatToolCalls(calls).map((call, index) => delta({ tool_calls: [{ index, ...call }] })),
    delta({}, calls.length === 0 ? "stop" : "tool_calls"),
    dataLine({ ...head, choices: [], usage: chatUsage(answer) }),
    "data: [DONE]\n\n"
  ]
}

const messagesUsage = (answer: FakeAnswer) => {
  const usage = usageOf(answer)
  return {
    input_tokens: usage.in - usage.cacheRead,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: 0,
    output_tokens: usage.out
  }
}

/** A whole messages answer. */
export const messagesAnswer = (answer: FakeAnswer = {}) => {
  const calls = answer.toolCalls ?? []
  const text = answer.text ?? (calls.length === 0 ? "Hello" : "")
  return {
    id: "msg_fake",
    type: "message",
    role: "assistant",
    model: answer.model ?? "fake-model",
    content: [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: JSON.parse(call.arguments) as unknown
      }))
    ],
    stop_reason: calls.length === 0 ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: messagesUsage(answer)
  }
}

/** The events of a messages stream, from `message_start` to `message_stop`. */
export const messagesStream = (
  texts: ReadonlyArray<string>,
  answer: Omit<FakeAnswer, "text"> = {}
): ReadonlyArray<string> => {
  const calls = answer.toolCalls ?? []
  const { output_tokens, ...input } = messagesUsage(answer)
  const block = (index: number, content_block: object, deltas: ReadonlyArray<object>) => [
    namedEvent({ type: "content_block_start", index, content_block }),
    ...deltas.map((delta) => namedEvent({ type: "content_block_delta", index, delta })),
    namedEvent({ type: "content_block_stop", index })
  ]
  const message = {
    ...messagesAnswer({ ...answer, text: "" }),
    content: [],
    stop_reason: null,
    usage: { ...input, output_tokens: 1 }
  }
  const textBlock = texts.length === 0 ? 0 : 1
  const stop = { stop_reason: calls.length === 0 ? "end_turn" : "tool_use", stop_sequence: null }
  return [
    namedEvent({ type: "message_start", message }),
    ...(texts.length === 0
      ? []
      : block(
          0,
          { type: "text", text: "" },
          texts.map((text) => ({ type: "text_delta", text }))
        )),
    ...calls.flatMap((call, i) =>
      block(i + textBlock, { type: "tool_use", id: call.id, name: call.name, input: {} }, [
        { type: "input_json_delta", partial_json: call.arguments }
      ])
    ),
    namedEvent({ type: "message_delta", delta: stop, usage: { output_tokens } }),
    namedEvent({ type: "message_stop" })
  ]
}

/** An error body as an upstream of that wire writes it. */
export const errorBody = (
  wire: "chat" | "messages" | "responses" | "gemini" | "ollama",
  message: string,
  detail: { readonly type?: string; readonly code?: string; readonly status?: number } = {}
): unknown => {
  const type = detail.type ?? "invalid_request_error"
  switch (wire) {
    case "chat":
    case "responses":
      return { error: { message, type, param: null, code: detail.code ?? null } }
    case "messages":
      return { type: "error", error: { type, message }, request_id: "req_fake" }
    case "gemini":
      return { error: { code: detail.status ?? 400, message, status: detail.code ?? "INVALID_ARGUMENT" } }
    case "ollama":
      return { error: message }
  }
}

/** A model list; an entry may carry more fields than its id. */
export const models = (entries: ReadonlyArray<string | ({ readonly id: string } & Record<string, unknown>)>) => ({
  object: "list",
  data: entries.map((entry) => ({
    object: "model",
    created: 1_700_000_000,
    owned_by: "fake",
    ...(typeof entry === "string" ? { id: entry } : entry)
  }))
})
