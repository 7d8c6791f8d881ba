/**
 * Passes requests on to the owner of the data folder: a worker serves what asks a model, and everything else has one home (docs/workers.md). Each
 * client connection has one connection to the owner, which begins with the client's address (`Preamble`), so that limits to this machine, the
 * login throttle and the audit log see who asked.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { type Match, routeAt } from "../../contract/Routes.ts"
import { Timers } from "../../platform/Timers.ts"
import type { ProcessRole } from "../../platform/programs/Siblings.ts"
import { requestSocket } from "./OwnerListener.ts"
import { preambleOf } from "./Preamble.ts"

export interface RelayFace {
  /** Hot: checks whether a request has its home at the owner. */
  readonly takes: (found: Match) => boolean
  /** Passes a request on. `url` is the one that the client sent, `body` what was read of it already. */
  readonly request: (url: string, request: IncomingMessage, response: ServerResponse, body?: Buffer) => void
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** Null in the process that has the data folder. */
export class Relay extends Context.Reference<Relay>()("gateway/entry/relay/Relay", {
  defaultValue: (): RelayFace | null => null
}) {}

/** Requests for a model whose answers are objects with an id, which only their home knows: jobs, and searches with a count of their own. */
const atHome: ReadonlySet<string> = new Set([
  "inference.videos",
  "inference.createVideo",
  "inference.music",
  "inference.search"
])

const served: ReadonlySet<string> = new Set(["conversation", "listing"])

/** Checks whether a worker answers a request by itself. */
export const isServedHere = (found: Match): boolean => {
  if (found._tag === "Unknown") return false
  const route = routeAt(found)
  return route !== null && route.plane === "edge" && served.has(route.handler) && !atHome.has(route.key)
}

/** Headers of a connection, and what node's own client adds to a request again. */
const ofConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "expect", "upgrade"])

/** Headers of a message as they came, without those of its connection. */
const passedOn = (rawHeaders: ReadonlyArray<string>, without: ReadonlySet<string>): Array<string> => {
  const headers: Array<string> = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ""
    if (!without.has(name.toLowerCase())) headers.push(name, rawHeaders[at + 1] ?? "")
  }
  return headers
}

/** Of a body that was read: it is decoded, and its length is another one. */
const ofBody: ReadonlySet<string> = new Set([
  ...ofConnection,
  "content-encoding",
  "content-length",
  "transfer-encoding"
])

const ofAnswer: ReadonlySet<string> = new Set([...ofConnection, "transfer-encoding"])

const away = `{"error":{"message":"The process that has the data folder is not there at the moment; it is being started again.","type":"server_error","code":"service_unavailable"}}`

const unavailable = (response: ServerResponse): void => {
  if (response.headersSent) return void response.destroy()
  response
    .writeHead(503, { "content-type": "application/json", "x-content-type-options": "nosniff", "retry-after": "1" })
    .end(away)
}

/** Errors of a socket file that nothing listens at. */
const isAbsent = ({ code }: NodeJS.ErrnoException): boolean => code === "ENOENT" || code === "ECONNREFUSED"

/** Time in ms between tries, and number of them: an owner that has ended is replaced within seconds. */
const retryMs = 100
const mostTries = 100

/** Connects for a client. While there is no owner it is tried again, as a restart lets requests wait, too. */
const openTo = (
  { after, path }: RelayOptions,
  client: Socket,
  done: (error: Error | null, socket: Socket) => void,
  tries = 1
): void => {
  const socket = connect({ path })
  const onError = (error: NodeJS.ErrnoException): void => {
    if (!isAbsent(error) || tries >= mostTries || client.destroyed) return done(error, socket)
    after(retryMs, () => openTo({ after, path }, client, done, tries + 1))
  }
  socket.once("error", onError).once("connect", () => {
    socket.off("error", onError)
    socket.write(preambleOf(client))
    done(null, socket)
  })
}

export interface RelayOptions {
  /** The owner's socket file. */
  readonly path: string
  readonly after: (delayMs: number, run: () => void) => unknown
}

export const make = (options: RelayOptions): RelayFace => {
  const agents = new WeakMap<Socket, Agent>()

  const agentOf = (client: Socket): Agent => {
    const known = agents.get(client)
    if (known !== undefined) return known
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const createConnection = (_: unknown, done: (error: Error | null, socket: Socket) => void): void =>
      openTo(options, client, done)
    Object.assign(agent, { createConnection })
    agents.set(client, agent)
    client.once("close", () => agent.destroy())
    return agent
  }

  const request: RelayFace["request"] = (url, asked, response, body) => {
    const { method = "GET", rawHeaders, socket } = asked
    const sent = httpRequest({
      agent: agentOf(socket),
      method,
      path: url,
      headers: passedOn(rawHeaders, body === undefined ? ofConnection : ofBody),
      setHost: false
    })
    sent.on("error", () => unavailable(response))
    sent.on("response", (answer) => {
      const { rawHeaders: headers, statusCode = 502, statusMessage } = answer
      response.writeHead(statusCode, statusMessage, passedOn(headers, ofAnswer))
      response.flushHeaders()
      answer.on("error", () => response.destroy())
      answer.on("end", () => {
        const trailers = answer.rawTrailers
        if (trailers.length > 0) response.addTrailers(answer.trailers)
      })
      answer.pipe(response)
    })
    response.on("close", () => {
      if (!response.writableFinished) sent.destroy()
    })
    if (body === undefined) asked.pipe(sent)
    else sent.end(body)
  }

  const upgrade: RelayFace["upgrade"] = (asked, socket, head) => {
    const { method = "GET", rawHeaders, url = "/" } = asked
    let text = `${method} ${url} HTTP/1.1\r\n`
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      text += `${rawHeaders[at] ?? ""}: ${rawHeaders[at + 1] ?? ""}\r\n`
    }
    socket.on("error", () => socket.destroy())
    openTo(options, asked.socket, (error, owner) => {
      if (error !== null || socket.destroyed) {
        owner.destroy()
        return void socket.destroy()
      }
      owner.write(Buffer.concat([Buffer.from(`${text}\r\n`, "latin1"), head]))
      const end = (): void => {
        owner.destroy()
        socket.destroy()
      }
      owner.on("error", end).on("close", end)
      socket.on("close", end)
      owner.pipe(socket)
      socket.pipe(owner)
    })
  }

  return { takes: (found) => !isServedHere(found), request, upgrade }
}

/** Layer of a worker. */
export const relayTo = ({ folder }: ProcessRole): Layer.Layer<never, never, Timers> =>
  Layer.effectContext(
    Effect.map(
      Timers,
      ({ after }) => Context.make(Relay, make({ path: requestSocket(folder), after })) as Context.Context<never>
    )
  )
