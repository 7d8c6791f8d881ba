/** The authority of a session in the trust store of the operating system, in a slot of its own, for as long as the session runs. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Slot, TrustStore } from "../host/TrustStore.ts"
import { SessionTrust, TrustFailed } from "./SessionTrust.ts"

const slot: Slot = "gateway-tproxy-ca.crt"

export const layer: Layer.Layer<SessionTrust, never, TrustStore> = Layer.effect(
  SessionTrust,
  Effect.map(TrustStore, (store) =>
    SessionTrust.of({
      install: (pem, sudoPassword) =>
        Effect.acquireRelease(
          store.install({ slot, pem, sudoPassword, lifetime: "session" }).pipe(
            // Said at once, because the end of a session has no answer that could carry it.
            Effect.flatMap(({ warnings }) =>
              Effect.forEach(warnings, (text) => Effect.logWarning(text), { discard: true })
            ),
            Effect.mapError(({ problem }) => new TrustFailed({ problem }))
          ),
          // What is left of it stays in the journal, where the watchdog and the next start find it.
          () =>
            store.remove(slot, pem).pipe(
              Effect.tap(({ left, problem }) =>
                left.length === 0
                  ? Effect.void
                  : Effect.logWarning(`The session's authority is still in ${left.join(", ")}: ${problem ?? "unknown"}`)
              ),
              Effect.ignoreLogged
            )
        )
    })
  )
)
