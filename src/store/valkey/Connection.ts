/**
 * A connection to a server of Valkey or Redis. Commands are sent at once, however many wait for their answers, which come in the same order. One
 * that gets no answer in time ends the connection: whose the next answer were would not be known.
 */
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { connect as connectPlain, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import Parser from "redis-parser"
import { type ValkeyAddress, shownOf } from "../../platform/ValkeyAddress.ts"

export type Reply = string | number | null | ReadonlyArray<Reply>

export class ValkeyError extends Data.TaggedError("ValkeyError")<{
  /** A sentence without its end; never what was sent. */
  readonly message: string
}> {}

export interface Connection {
  /** Sends a command, whose answer may take so long. */
  readonly send: (args: ReadonlyArray<string>, withinMs?: number) => Effect.Effect<Reply, ValkeyError>
  /** Fails when the connection has ended. */
  readonly ended: Effect.Effect<never, ValkeyError>
}

/** Time in ms for the answer to a command that waits for nothing, and for a connection to be there. */
export const answersWithinMs = 2_000

/** Most commands that wait for their answers. */
export const mostWaiting = 1_000

const encoded = (args: ReadonlyArray<string>): string =>
  `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join("")}`

const opened = (to: ValkeyAddress): Socket => {
  const { host, isTls, port } = to
  // A name of the certificate is no address of IP.
  return isTls
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : connectPlain(port, host)
}

/** The password was wrong, or is not wanted. Of other words of the server the first alone: it may repeat what it was sent. */
const refused = ({ message }: ValkeyError): ValkeyError =>
  /^(?:WRONGPASS|ERR Client sent AUTH, but no password is set|ERR AUTH )/.test(message)
    ? new ValkeyError({ message: "it refuses the user and password of GATEWAY_VALKEY_URL" })
    : new ValkeyError({ message: message.startsWith("ERR") ? "it refuses AUTH" : message })

type Answered = (answer: Effect.Effect<Reply, ValkeyError>) => void

/** Gives each answer to the command that it is of. */
const makeAnswers = (end: (message: string) => void) => {
  const waiting: Array<Answered> = []
  const parser = new Parser({
    returnReply: (reply: Reply) => waiting.shift()?.(Effect.succeed(reply)),
    returnError: ({ message }) => waiting.shift()?.(Effect.fail(new ValkeyError({ message }))),
    returnFatalError: () => end("what it answers is not the protocol of Valkey")
  })
  return { waiting, take: (bytes: Buffer): void => parser.execute(bytes) }
}

/** Opens one that is there as long as the scope is open; who it is for the server says its `name`. */
export const connect = (to: ValkeyAddress, name: string): Effect.Effect<Connection, ValkeyError, Scope.Scope> =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<never, ValkeyError>()
    let problem: ValkeyError | null = null
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => opened(to)),
      (open) => Effect.sync(() => open.destroy())
    )
    const end = (message: string): void => {
      if (problem !== null) return
      problem = new ValkeyError({ message })
      socket.destroy()
      for (const answered of waiting.splice(0)) answered(Effect.fail(problem))
      Deferred.unsafeDone(ended, Effect.fail(problem))
    }
    const { take, waiting } = makeAnswers(end)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 10_000)
    socket.on("error", ({ message }) => end(message === "" ? `no connection to ${shownOf(to)}` : message))
    socket.on("close", () => end(`${shownOf(to)} has closed the connection`))
    socket.on("data", take)
    // Attached before anything can have come.
    const isThere = Effect.async<void>((resume) => {
      socket.once(to.isTls ? "secureConnect" : "connect", () => resume(Effect.void))
    })
    yield* Effect.raceFirst(isThere, Deferred.await(ended)).pipe(
      Effect.timeoutFail({
        duration: answersWithinMs,
        onTimeout: () =>
          new ValkeyError({ message: `${shownOf(to)} does not answer within ${answersWithinMs / 1_000} s` })
      })
    )

    const send: Connection["send"] = (args, withinMs = answersWithinMs) =>
      Effect.async<Reply, ValkeyError>((resume) => {
        if (problem !== null) return resume(Effect.fail(problem))
        if (waiting.length >= mostWaiting) {
          return resume(Effect.fail(new ValkeyError({ message: `more than ${mostWaiting} commands wait` })))
        }
        waiting.push(resume)
        socket.write(encoded(args))
      }).pipe(
        // Its time ends also within what cannot be interrupted.
        Effect.interruptible,
        Effect.timeoutFail({
          duration: withinMs,
          onTimeout: () => {
            end(`${shownOf(to)} gives no answer within ${withinMs / 1_000} s`)
            return problem ?? new ValkeyError({ message: "no answer" })
          }
        })
      )

    const { database, password, user } = to
    if (password !== null) {
      const credentials = [...(user === null ? [] : [user]), Redacted.value(password)]
      yield* Effect.mapError(send(["AUTH", ...credentials]), refused)
    }
    if (database !== 0) yield* send(["SELECT", String(database)])
    yield* send(["CLIENT", "SETNAME", name.replaceAll(/[^!-~]/g, "-")])
    return { send, ended: Deferred.await(ended) }
  })
