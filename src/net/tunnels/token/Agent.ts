/** One session of ngrok's SDK with one address. The package is loaded when it is needed: it is native, and may be missing. */
import type * as Ngrok from "@ngrok/ngrok"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** The part of the package that is used. */
export type Sdk = Pick<typeof Ngrok, "SessionBuilder">

/** Error of an SDK that is not installed, or not built for this machine. */
export class SdkMissing extends Data.TaggedError("SdkMissing")<{ readonly cause: unknown }> {}

export const loadSdk: Effect.Effect<Sdk, SdkMissing> = Effect.tryPromise({
  try: () => import("@ngrok/ngrok"),
  catch: (cause) => new SdkMissing({ cause })
})

export interface AgentOptions {
  readonly authToken: Redacted.Redacted
  /** `http://host:port` of the listener that requests go to. */
  readonly target: string
  /** `host:port` in place of ngrok's own. */
  readonly server: string | null
  /** File with the certificates that the server is checked by; null: those of ngrok. */
  readonly caFile: string | null
  /**
   * Interval at which the session is checked, and time limit of an answer. The other end drops sessions by these, too.
   */
  readonly heartbeatSeconds: number
  readonly toleranceSeconds: number
}

/** Neither is called after `close`. */
export interface AgentEvents {
  /** The session was lost, or could not be opened again; the SDK goes on trying. */
  readonly onLost: (reason: string) => void
  /** The other end has answered. */
  readonly onHeartbeat: () => void
}

export interface Agent {
  /** The public address, when it is open; rejects with the SDK's own error. */
  readonly url: Promise<string | null>
  /** Takes the address back, then ends the session. Never rejects; may hang with a server that does not answer. */
  readonly close: () => Promise<void>
}

const ignore = (): void => {}

/** Throws what the SDK says about options that cannot be used. */
export const startAgent = ({ SessionBuilder }: Sdk, options: AgentOptions, events: AgentEvents): Agent => {
  let isClosing = false
  // A session of its own: `forward` of the package keeps one for all calls, with the token of the first.
  const builder = new SessionBuilder()
    .authtoken(Redacted.value(options.authToken))
    .heartbeatInterval(options.heartbeatSeconds)
    .heartbeatTolerance(options.toleranceSeconds)
  if (options.server !== null) builder.serverAddr(options.server)
  if (options.caFile !== null) builder.rootCas(options.caFile)
  builder.handleDisconnection((_, reason) => {
    // Else a session whose end was not answered would be opened again when its connection is cut.
    if (isClosing) return false
    events.onLost(reason)
    return true
  })
  builder.handleHeartbeat(() => {
    if (!isClosing) events.onHeartbeat()
  })
  const session = builder.connect()
  const listener = session.then((open) => open.httpEndpoint().listenAndForward(options.target))
  const url = listener.then((open) => open.url())
  url.catch(ignore)
  return {
    url,
    close: async () => {
      isClosing = true
      await listener.then((open) => open.close()).catch(ignore)
      await session.then((open) => open.close()).catch(ignore)
    }
  }
}
