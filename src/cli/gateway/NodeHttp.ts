/**
 * The HTTP client of commands, over Node's own requests. Node's `fetch` is a browser's: it adds `Sec-Fetch-Mode`, and a gateway accepts
 * its owner's token only without such headers. Proxies of the environment are used as the gateway uses them: never for this machine
 * and its network.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import { Agent, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http"
import { Agent as TlsAgent, request as httpsRequest } from "node:https"
import { Socket } from "node:net"
import { Readable } from "node:stream"
import { once } from "../../kernel/once.ts"
import { processEnvironment } from "../../platform/AppConfig.ts"

/** Agents of our own: the global ones may be set to use a proxy. A command makes few requests, and its end must not wait for idle sockets. */
const plain = new Agent({ keepAlive: false })
const secure = new TlsAgent({ keepAlive: false })

/** Loaded for those who have such variables only. */
const proxies = once(async () => {
  const [{ readEnvironmentProxies }, { openThrough }] = await Promise.all([
    import("../../net/egress/proxy/EnvironmentProxy.ts"),
    import("../../net/egress/proxy/ProxiedSocket.ts")
  ])
  const { hopOf } = readEnvironmentProxies(processEnvironment())
  return { hopOf, openThrough }
})

const proxyVariables = /^(?:https?|all)_proxy$/i

/**
 * Decides how the socket for a URL is made through a proxy; null: directly. Decided late: the settings file of the data
 * folder is read by then.
 */
const wayTo = async (url: URL): Promise<ProxiedOptions | null> => {
  if (![...processEnvironment()].some(([name, value]) => proxyVariables.test(name) && value !== "")) return null
  const { hopOf, openThrough } = await proxies()
  const hop = hopOf(url.origin)
  return hop === null ? null : throughProxy((done) => openThrough(hop, url, done))
}

type ProxiedOptions = Pick<RequestOptions, "protocol" | "createConnection">

/**
 * Connects through a proxy, without an agent, which would make the socket. The socket is in TLS already where the URL
 * is https: plain HTTP is written to it.
 */
const throughProxy = (open: (done: (error: Error | null, socket: Socket | null) => void) => void): ProxiedOptions => ({
  protocol: "http:",
  createConnection: (_options, done) => {
    open((error, socket) => done(error, socket ?? new Socket()))
    return undefined
  }
})

const withoutBody = new Set([101, 204, 205, 304])

const webResponse = (message: IncomingMessage, method: string): Response => {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2) {
    headers.append(message.rawHeaders[i] ?? "", message.rawHeaders[i + 1] ?? "")
  }
  if (withoutBody.has(status) || method === "HEAD") {
    message.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, { status, headers })
}

type Body = Uint8Array | string | Readable | null

/** Undefined for bodies of other kinds. A stream says its length beside it. */
const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Body | undefined => {
  switch (body._tag) {
    case "Empty":
      return null
    case "Uint8Array":
      return body.body
    case "Raw":
      return typeof body.body === "string" || body.body instanceof Readable ? body.body : undefined
    default:
      return undefined
  }
}

const lengthOf = (body: Body, request: HttpClientRequest.HttpClientRequest): Readonly<Record<string, string>> => {
  const bytes =
    body === null ? undefined : body instanceof Readable ? request.body.contentLength : Buffer.byteLength(body)
  return bytes === undefined ? {} : { "content-length": String(bytes) }
}

const send = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  signal: AbortSignal,
  way: ProxiedOptions | null
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const body = bodyOf(request)
    if (body === undefined) return reject(new TypeError("Commands send text, bytes and streams of Node only."))
    const isSecure = url.protocol === "https:"
    const call = (isSecure && way === null ? httpsRequest : httpRequest)(
      url,
      {
        ...(way ?? { agent: isSecure ? secure : plain }),
        method: request.method,
        signal,
        headers: { ...request.headers, ...lengthOf(body, request) }
      },
      (message) => {
        // An answer that comes before the whole body was sent is a refusal: the rest is not wanted.
        if (body instanceof Readable && (message.statusCode ?? 0) >= 400) body.destroy()
        try {
          resolve(webResponse(message, request.method))
        } catch (error) {
          reject(error)
        }
      }
    )
    call.on("error", reject)
    if (!(body instanceof Readable)) return void call.end(body ?? undefined)
    body.on("error", (error) => call.destroy(error))
    call.on("close", () => body.destroy())
    body.pipe(call)
  })

export const client: HttpClient.HttpClient = HttpClient.make((request, url, signal) =>
  Effect.map(
    Effect.tryPromise({
      try: async () => send(request, url, signal, await wayTo(url)),
      catch: (cause) => new RequestError({ request, reason: "Transport", cause })
    }),
    (response) => HttpClientResponse.fromWeb(request, response)
  )
)
