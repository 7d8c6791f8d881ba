/** Logging in to Tailscale: the program prints an address, and waits until a person has been there. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { makeLane } from "../../../kernel/Lane.ts"
import { failed, type MeshToolFailed } from "./Failures.ts"
import type { MeshClient } from "./MeshClient.ts"
import { lastWords, makeAuthUrlReader } from "./Texts.ts"

export interface LoggingIn {
  /** Address at which a person logs in; null: this machine is logged in. */
  readonly authUrl: string | null
  readonly loggedIn: boolean
}

export const loginLimits = {
  /** Time limit in ms for the address: it comes from Tailscale's servers. */
  urlMs: 30_000,
  /** Time limit in ms for a person to log in. */
  personMs: 900_000
}

/** https://datatracker.ietf.org/doc/html/rfc1123#section-2 */
const hostnamePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

export const isHostname = (name: string): boolean => hostnamePattern.test(name)

const done: LoggingIn = { authUrl: null, loggedIn: true }

interface Pending {
  readonly hostname: string | null
  readonly url: string
  readonly scope: Scope.CloseableScope
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
}

/** `scope`: the program that waits for a person ends with it. One login at a time; another name begins it anew. */
export const makeLogin = Effect.fn("MeshLogin.make")(function* (client: MeshClient, scope: Scope.Scope) {
  const oneAtATime = makeLane(1).inTurn
  let pending: Pending | null = null

  const close = Effect.suspend(() => {
    const before = pending
    pending = null
    return before === null ? Effect.void : Scope.close(before.scope, Exit.void)
  })

  /** Changes only its name, when it is logged in. */
  const rename = (hostname: string | null): Effect.Effect<LoggingIn, MeshToolFailed> =>
    hostname === null
      ? Effect.succeed(done)
      : Effect.flatMap(client.tailscale(["set", `--hostname=${hostname}`], null), (result) =>
          result.code === 0
            ? Effect.succeed(done)
            : failed(`Tailscale did not take the name: ${lastWords(result, (text) => text)}`)
        )

  const start = (hostname: string | null): Effect.Effect<LoggingIn, MeshToolFailed> =>
    Effect.gen(function* () {
      const own = yield* Scope.fork(scope, ExecutionStrategy.sequential)
      const found = yield* Deferred.make<LoggingIn, MeshToolFailed>()
      const readUrl = makeAuthUrlReader()
      const ended = client
        .tailscale(["up", ...(hostname === null ? [] : [`--hostname=${hostname}`])], null, {
          timeoutMs: loginLimits.personMs,
          onLine: (line) => {
            const url = readUrl(line)
            if (url !== null) Deferred.unsafeDone(found, Effect.succeed({ authUrl: url, loggedIn: false }))
          }
        })
        .pipe(
          Effect.flatMap((result) =>
            result.code === 0
              ? Deferred.succeed(found, done)
              : Deferred.fail(found, failed(`Tailscale did not log in: ${lastWords(result, (text) => text)}`))
          ),
          Effect.catchAll((error) => Deferred.fail(found, error))
        )
      const fiber = yield* Effect.forkIn(ended, own)
      const answer = yield* Deferred.await(found).pipe(
        Effect.timeoutFail({
          duration: loginLimits.urlMs,
          onTimeout: () => failed("Tailscale gave no address to log in at. Is this machine online?")
        }),
        Effect.onError(() => Scope.close(own, Exit.void))
      )
      if (answer.authUrl === null) yield* Scope.close(own, Exit.void)
      else pending = { hostname, url: answer.authUrl, scope: own, fiber }
      return answer
    })

  return Effect.fn("MeshTools.login")((hostname: string | null) =>
    oneAtATime(
      Effect.gen(function* () {
        if (hostname !== null && !isHostname(hostname)) {
          return yield* failed("A name of a machine has letters, digits and hyphens, 63 at most.")
        }
        const state = yield* client.state
        if (state === null) return yield* failed("The daemon of Tailscale does not run on this machine.")
        if (state.backendState === "Running") {
          yield* close
          return yield* rename(hostname)
        }
        if (pending !== null && pending.hostname === hostname && pending.fiber.unsafePoll() === null) {
          return { authUrl: pending.url, loggedIn: false }
        }
        yield* close
        return yield* start(hostname)
      })
    )
  )
})
