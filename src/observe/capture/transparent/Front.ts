/** The listeners of the transparent mode, one per address family on loopback, and the test whether the rules lead there. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, createServer, type Server, type Socket } from "node:net"
import { networkInterfaces } from "node:os"
import type { Timers } from "../../../platform/Timers.ts"
import type { Addon } from "./Addon.ts"
import { connectMarked } from "./MarkedSockets.ts"
import type { Family } from "./Rules.ts"
import type { TransparentSettings } from "./Settings.ts"

/** Another program listens there. */
export class OnPortInUse extends Data.TaggedError("TransparentPortInUse")<{ readonly port: number }> {}

/** The listener cannot be opened; `code` is the system's word. */
export class FrontFailed extends Data.TaggedError("TransparentFrontFailed")<{ readonly code: string }> {}

/** The rules are in force, but a connection did not come to the listener. */
export class ProbeFailed extends Data.TaggedError("TransparentProbeFailed")<{ readonly family: Family }> {}

export interface Intercepted {
  readonly socket: Socket
  /** Address that the client was connecting to. */
  readonly address: string
  readonly port: number
}

export interface Front {
  readonly families: ReadonlyArray<Family>
  /** Connects as any program of this machine would, and waits for the connection to come here. Nothing is sent. */
  readonly probe: (family: Family) => Effect.Effect<void, ProbeFailed>
}

const loopback: Readonly<Record<Family, string>> = { 4: "127.0.0.1", 6: "::1" }
/** Addresses for documentation (RFC 5737, RFC 3849): nothing answers there. */
const nowhere: Readonly<Record<Family, string>> = { 4: "192.0.2.1", 6: "2001:db8::1" }
const backlog = 1_024
const probeTimeoutMs = 2_000

const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/iu, "")

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN"

/** Checks whether a family without such an address is missing, so that nothing of it can be intercepted. */
const isFamilyMissing = (family: Family, code: string): boolean =>
  family === 6 && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT" || code === "ENOPROTOOPT")

const isLoopback = (address: string): boolean => address === loopback[6] || address.startsWith("127.")

/** Addresses of this machine that the rules do not leave out. */
const ownAddresses = (family: Family): ReadonlyArray<string> =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((found) => found.family === `IPv${family}`)
    .map(({ address }) => address)
    .filter((address) => !isLoopback(address) && !address.startsWith("fe80:"))

export interface FrontOptions {
  readonly addon: Addon
  readonly settings: TransparentSettings
  readonly timers: Pick<typeof Timers.Service, "after">
  readonly onConnection: (intercepted: Intercepted) => void
}

export const open = ({
  addon,
  onConnection,
  settings,
  timers
}: FrontOptions): Effect.Effect<Front, OnPortInUse | FrontFailed, Scope.Scope> => {
  const { dport, mark, onPort } = settings
  /** Addresses that a test connects to at the moment, and what is done when it comes. */
  const awaited = new Map<string, () => void>()

  const receive = (socket: Socket): void => {
    const address = withoutMapping(socket.localAddress ?? "")
    const port = socket.localPort ?? 0
    const arrived = awaited.get(address)
    if (arrived !== undefined) {
      socket.destroy()
      return arrived()
    }
    // A program has connected to the listener itself; to pass that on would lead back here.
    if (port === onPort && isLoopback(address)) return void socket.destroy()
    onConnection({ socket, address, port })
  }

  const listen = (family: Family): Effect.Effect<Server | null, OnPortInUse | FrontFailed> =>
    Effect.async((resume) => {
      let fd: number
      try {
        fd = addon.listen(family, loopback[family], onPort, backlog)
      } catch (error) {
        const code = codeOf(error)
        if (isFamilyMissing(family, code)) return resume(Effect.succeed(null))
        return resume(
          Effect.fail(code === "EADDRINUSE" ? new OnPortInUse({ port: onPort }) : new FrontFailed({ code }))
        )
      }
      const server = createServer({ allowHalfOpen: true }, receive)
      server.once("error", (error) => resume(Effect.fail(new FrontFailed({ code: codeOf(error) }))))
      server.listen({ fd }, () => resume(Effect.succeed(server)))
    })

  const opened = (family: Family) =>
    Effect.acquireRelease(listen(family), (server) => Effect.sync(() => void server?.close()))

  /** Null: the address cannot be reached from here, whatever the rules. */
  const attempt = (address: string, start: () => Socket): Effect.Effect<boolean | null> =>
    Effect.async((resume) => {
      let socket: Socket | null = null
      const finish = (arrived: boolean | null): void => {
        timer.cancel()
        awaited.delete(address)
        socket?.destroy()
        resume(Effect.succeed(arrived))
      }
      const timer = timers.after(probeTimeoutMs, () => finish(false))
      awaited.set(address, () => finish(true))
      try {
        socket = start()
        socket.on("error", (error) => {
          // A connection that came and was ended is an error to the other side; it has been counted.
          if (awaited.has(address))
            finish(["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"].includes(codeOf(error)) ? null : false)
        })
      } catch {
        finish(false)
      }
    })

  const probe = (family: Family): Effect.Effect<void, ProbeFailed> =>
    Effect.gen(function* () {
      for (const address of [nowhere[family], ...ownAddresses(family)]) {
        const arrived = yield* attempt(address, () => connect({ host: address, port: dport }))
        if (arrived === true) return
        if (arrived === false) return yield* new ProbeFailed({ family })
      }
      // Nothing is reachable by this family: what can be tested is the way of a packet that has the mark already.
      const arrived = yield* attempt(nowhere[family], () =>
        connectMarked(addon, mark, nowhere[family], dport, { localAddress: loopback[family] })
      )
      if (arrived !== true) return yield* new ProbeFailed({ family })
    })

  return Effect.gen(function* () {
    yield* opened(4)
    const six = yield* opened(6)
    const families: ReadonlyArray<Family> = six === null ? [4] : [4, 6]
    return { families, probe }
  })
}
