/**
 * The connection to the server behind one connection of a client: made with its first request, kept for the next ones, ended together with it.
 * One to one, because servers may keep what they know of a client with its connection.
 */
import { Agent, type ClientRequestArgs } from "node:http"
import type { Socket } from "node:net"
import { Duplex } from "node:stream"
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { Timers } from "../../../platform/Timers.ts"
import { type Dialled, DialFailed, dialFailed } from "./Origin.ts"

export interface ServerTls {
  /** `done` runs once. */
  readonly handshake: (socket: Socket, name: TlsName, done: (dialled: Dialled) => void) => void
}

export interface TlsName {
  /** Server name for the handshake; null for none. */
  readonly serverName: string | null
  /** The certificate must be for this name or address. */
  readonly verified: string
  /** Protocols that the client offers, the preferred one first. */
  readonly protocols: ReadonlyArray<string>
}

export interface ServerTlsOptions {
  readonly timers: Pick<typeof Timers.Service, "after">
  readonly timeoutMs: number
  /** Tells whether certificates are verified; called for every connection. */
  readonly verifies: () => boolean
  /** PEM of an authority that is trusted besides those of Node; null for none. */
  readonly extraAuthority: () => string | null
}

const keptSessions = 512

/** Handshakes with servers. Sessions are kept, so that the next handshake with a server is shorter. */
export const makeServerTls = ({ extraAuthority, timeoutMs, timers, verifies }: ServerTlsOptions): ServerTls => {
  const sessions = new LruMap<string, Buffer>({ capacity: keptSessions })
  let context: { readonly authority: string | null; readonly made: SecureContext } | null = null

  const contextOf = (authority: string | null): SecureContext => {
    if (context === null || context.authority !== authority) {
      const made = createSecureContext()
      if (authority !== null) made.context.addCACert(authority)
      context = { authority, made }
    }
    return context.made
  }

  return {
    handshake: (socket, { protocols, serverName, verified }, done) => {
      const isVerified = verifies()
      const key = `${isVerified} ${serverName ?? ""} ${verified} ${protocols.join()}`
      const session = sessions.get(key)
      const tls = connectTls({
        socket,
        host: verified,
        servername: serverName ?? "",
        secureContext: contextOf(extraAuthority()),
        ALPNProtocols: [...protocols],
        rejectUnauthorized: isVerified,
        ...(session === undefined ? {} : { session })
      })
      let isOver = false
      const finish = (dialled: Dialled): void => {
        if (isOver) return
        isOver = true
        timer.cancel()
        if (dialled instanceof DialFailed) tls.destroy()
        done(dialled)
      }
      const timer = timers.after(timeoutMs, () =>
        finish(new DialFailed("ETIMEDOUT", `The TLS handshake with ${verified} took too long.`))
      )
      tls
        .on("session", (ticket) => sessions.set(key, ticket))
        .on("error", (error) => {
          sessions.delete(key)
          const { code } = dialFailed(error, verified)
          finish(new DialFailed(code, `The TLS handshake with ${verified} failed: ${code}.`))
        })
        .once("close", () => finish(new DialFailed("ECONNRESET", `${verified} ended the TLS handshake.`)))
        .once("secureConnect", () => finish(tls))
    }
  }
}

const noSocket = new Duplex()

/** An HTTP agent with one socket, which `open` makes when it is needed. `onIdleEnd`: the server has ended it between requests. */
export class ServerLink extends Agent {
  readonly #open: (done: (dialled: Dialled) => void) => void
  readonly #onIdleEnd: () => void
  /** Requests in progress, counted by the relay. */
  busy = 0

  constructor(open: (done: (dialled: Dialled) => void) => void, onIdleEnd: () => void) {
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 })
    this.#open = open
    this.#onIdleEnd = onIdleEnd
  }

  override createConnection(
    _options: ClientRequestArgs,
    done?: (error: Error | null, socket: Duplex) => void
  ): undefined {
    this.#open((dialled) => {
      // Node takes no socket with an error, its types do.
      if (dialled instanceof DialFailed) return done?.(dialled, noSocket)
      dialled.once("close", () => {
        if (this.busy === 0) this.#onIdleEnd()
      })
      done?.(null, dialled)
    })
  }
}
