/** A tunnel by ngrok's SDK: https://ngrok.com/docs/getting-started/javascript. Its address is that of the account. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { scrub } from "../../../kernel/secrets/Scrub.ts"
import { harmless } from "../../../kernel/text/TerminalText.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { type Backend, TunnelFailed, TunnelNeedsAuth } from "../Backend.ts"
import type { Entrance } from "../TunnelEntrance.ts"
import { type Agent, type AgentOptions, loadSdk, type Sdk, type SdkMissing, startAgent } from "./Agent.ts"
import { authTokenProblem } from "./AuthToken.ts"
import { authTokenPage, failureOf } from "./Failure.ts"
import { mostPendingEvents, type SessionEvent, type WatchLimits, watchLimits, watchSession } from "./SessionWatch.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export interface TokenOptions {
  /** Null: that of `TOKEN_TUNNEL_AUTHTOKEN`. */
  readonly authToken: Redacted.Redacted | null
}

export interface TokenLimits extends WatchLimits, Pick<AgentOptions, "heartbeatSeconds" | "toleranceSeconds"> {
  /** Time limit in ms from the start to an address. */
  readonly openMs: number
  /** Time limit in ms for the other end to take the address back. */
  readonly closeMs: number
}

export const tokenLimits: TokenLimits = {
  ...watchLimits,
  openMs: 20_000,
  closeMs: 3_000,
  heartbeatSeconds: 5,
  toleranceSeconds: 10
}

export class TokenBackend extends Context.Tag("gateway/net/tunnels/token/TokenBackend")<
  TokenBackend,
  Backend<TokenOptions>
>() {}

const needsAuth = (reason: string): TunnelNeedsAuth => new TunnelNeedsAuth({ reason, authUrl: authTokenPage })

const missingSdk = new TunnelFailed({
  reason:
    "The package '@ngrok/ngrok' is not installed or does not run on this machine. Install the gateway with optional dependencies, or use another tunnel.",
  isFinal: true
})

const messageOf = (error: unknown): string =>
  Predicate.hasProperty(error, "message") && typeof error.message === "string" ? error.message : String(error)

/** An origin without a trailing slash; null: not an address of the web. */
const originOf = (url: string | null): string | null => {
  if (url === null || !URL.canParse(url)) return null
  const { origin, protocol } = new URL(url)
  return protocol === "https:" || protocol === "http:" ? origin : null
}

/** `load` and `limits` are those of the package and of this module but for tests. */
export const makeBackend = (
  environment: ReadonlyMap<string, string>,
  load: Effect.Effect<Sdk, SdkMissing> = loadSdk,
  limits: TokenLimits = tokenLimits
): Backend<TokenOptions> => {
  const valueOf = (name: string): string | null => {
    const text = environment.get(name)?.trim() ?? ""
    return text === "" ? null : text
  }

  const tokenOf = ({ authToken }: TokenOptions): Redacted.Redacted | TunnelNeedsAuth => {
    const token = authToken === null ? valueOf("TOKEN_TUNNEL_AUTHTOKEN") : Redacted.value(authToken).trim()
    if (token === null) {
      return needsAuth(
        "No authtoken of ngrok is known. Give one when you open the tunnel, or set TOKEN_TUNNEL_AUTHTOKEN."
      )
    }
    const problem = authTokenProblem(token)
    return problem === null ? Redacted.make(token) : needsAuth(`The authtoken ${asSentence(problem)}`)
  }

  const start = (sdk: Sdk, authToken: Redacted.Redacted, { host, port }: Entrance, events: Queue.Queue<SessionEvent>) =>
    Effect.try({
      try: () =>
        startAgent(
          sdk,
          {
            authToken,
            target: `http://${host}:${port}`,
            server: valueOf("TOKEN_TUNNEL_SERVER"),
            caFile: valueOf("TOKEN_TUNNEL_CA"),
            heartbeatSeconds: limits.heartbeatSeconds,
            toleranceSeconds: limits.toleranceSeconds
          },
          {
            onLost: (reason) => void events.unsafeOffer({ _tag: "Lost", reason }),
            onHeartbeat: () => void events.unsafeOffer({ _tag: "Heartbeat" })
          }
        ),
      catch: (error) =>
        new TunnelFailed({
          reason: `TOKEN_TUNNEL_SERVER or TOKEN_TUNNEL_CA cannot be used: ${asSentence(harmless(scrub(messageOf(error), [Redacted.value(authToken)])).slice(0, 200))}`,
          isFinal: true
        })
    })

  /** Closes the agent, also while it is being opened: the result of that is closed. */
  const close = (agent: Agent): Effect.Effect<void> =>
    Effect.promise(agent.close).pipe(
      // A finalizer cannot be interrupted otherwise, and the timeout would wait.
      Effect.interruptible,
      Effect.timeoutOption(limits.closeMs),
      Effect.tap((closed) =>
        Option.isSome(closed) ? Effect.void : Effect.logWarning("ngrok did not answer when the token tunnel was closed")
      ),
      Effect.asVoid
    )

  const addressOf = (agent: Agent, token: string): Effect.Effect<string, TunnelFailed | TunnelNeedsAuth> =>
    Effect.tryPromise({ try: () => agent.url, catch: (error) => failureOf(messageOf(error), token) }).pipe(
      Effect.timeoutFail({
        duration: limits.openMs,
        onTimeout: () =>
          new TunnelFailed({ reason: `ngrok gave no address within ${limits.openMs / 1_000} seconds.`, isFinal: false })
      }),
      Effect.map(originOf),
      Effect.flatMap((origin) =>
        origin === null
          ? new TunnelFailed({ reason: "ngrok gave an address that is none of the web.", isFinal: false })
          : Effect.succeed(origin)
      )
    )

  const run: Backend<TokenOptions>["run"] = Effect.fn("TokenBackend.run")(function* (options, entrance, opened) {
    const authToken = tokenOf(options)
    if (authToken instanceof TunnelNeedsAuth) return yield* authToken
    const sdk = yield* Effect.mapError(load, () => missingSdk)
    const events = yield* Effect.acquireRelease(Queue.sliding<SessionEvent>(mostPendingEvents), Queue.shutdown)
    const agent = yield* Effect.acquireRelease(start(sdk, authToken, entrance, events), close)
    const publicUrl = yield* addressOf(agent, Redacted.value(authToken))
    yield* opened({ publicUrl })
    const reason = yield* watchSession(events, limits, opened({ publicUrl }))
    return yield* new TunnelFailed({
      reason: `The connection to ngrok was lost: ${asSentence(harmless(scrub(reason, [Redacted.value(authToken)])).slice(0, 200))}`,
      isFinal: false
    })
  })

  const lacks = (options: TokenOptions): TunnelNeedsAuth | null => {
    const token = tokenOf(options)
    return token instanceof TunnelNeedsAuth ? token : null
  }

  return { name: "token", warning: null, lacks, run }
}

export const make = Effect.map(AppConfig, ({ environment }) => TokenBackend.of(makeBackend(environment)))

export const layer: Layer.Layer<TokenBackend, never, AppConfig> = Layer.effect(TokenBackend, make)
