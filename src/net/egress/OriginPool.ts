/**
 * The connections to one origin. Each HTTP client has one socket and one request at a time, so that streams never wait for each other
 * and aborting a call destroys no socket but its own. Idle connections are reused last in, first out.
 */
import type { Client } from "undici"
import UndiciClient from "undici/lib/dispatcher/client.js"
import type { Transport } from "../../contract/domain/Transport.ts"
import type { Connect } from "./Connector.ts"
import { dropContinues } from "./Continue.ts"
import { transportFailure, type TransportFailure } from "./TransportFailure.ts"

export interface Connection {
  readonly client: Client
  cancelConnect: () => void
  /** Runs when the peer has ended its side and every byte was read, before the HTTP client is notified. */
  beforeEnd: (() => void) | null
  /** Runs before the next answer. */
  beforeAnswer: () => void
  /** True when the call may open a socket: once, and again when the idle one it was given turns out to be closed. */
  mayConnect: boolean
}

export interface OriginPool {
  readonly acquire: () => Connection
  /** Returns a connection whose call ended well. */
  readonly release: (connection: Connection) => void
  /** Destroys a connection at once, also one that is still being made. */
  readonly drop: (connection: Connection) => void
  /** Closes what is idle now, and what is busy as soon as its call ends. */
  readonly retire: () => void
}

/** Null: the usual ones. */
export type PoolLimits = Partial<Pick<Transport, "keepAliveMs" | "maxIdleSockets">>

/** Idle sockets kept per origin; the rest of a burst is closed. */
const maxIdle = 512
const keepAliveMs = 30_000
const longestKeepAliveMs = 600_000
const maxHeaderBytes = 64 * 1024

const ignore = (): void => {}

/** `open` collects every connection, so that its owner can close them all. */
export const makeOriginPool = (
  origin: string,
  connect: Connect,
  open: Set<Connection>,
  limits: PoolLimits = {}
): OriginPool => {
  const idleLimit = limits.maxIdleSockets ?? maxIdle
  const idleMs = limits.keepAliveMs ?? keepAliveMs
  const idle: Array<Connection> = []
  let retired = false

  const drop = (connection: Connection): void => {
    if (!open.delete(connection)) return
    connection.client.destroy(null, ignore)
    connection.cancelConnect()
  }

  const create = (): Connection => {
    const client = new UndiciClient(origin, {
      connect: (_options, done) => {
        // The client opens socket after socket for a peer that sends or closes before it gets the request.
        if (!connection.mayConnect) {
          queueMicrotask(() => done(transportFailure("reset"), null))
          return
        }
        connection.mayConnect = false
        connection.cancelConnect = connect({
          onSocket: (socket) => {
            socket.on("end", () => connection.beforeEnd?.())
            connection.beforeAnswer = dropContinues(socket)
            done(null, socket)
          },
          onFail: (failure: TransportFailure) => done(failure, null)
        })
      },
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: Math.max(idleMs, limits.keepAliveMs == null ? longestKeepAliveMs : 0),
      maxHeaderSize: maxHeaderBytes
    })
    const connection: Connection = {
      client,
      cancelConnect: ignore,
      beforeEnd: null,
      beforeAnswer: ignore,
      mayConnect: true
    }
    client.on("disconnect", () => {
      const position = idle.indexOf(connection)
      if (position === -1) return
      idle.splice(position, 1)
      drop(connection)
    })
    open.add(connection)
    return connection
  }

  return {
    acquire: () => {
      const known = idle.pop()
      if (known === undefined) return create()
      known.beforeAnswer()
      known.mayConnect = true
      return known
    },
    release: (connection) => {
      connection.beforeEnd = null
      if (retired || idle.length >= idleLimit) drop(connection)
      else idle.push(connection)
    },
    drop,
    retire: () => {
      retired = true
      for (const connection of idle.splice(0)) drop(connection)
    }
  }
}
