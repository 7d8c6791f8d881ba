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
            Effect.asVoid,
            Effect.mapError(({ problem }) => new TrustFailed({ problem }))
          ),
          // What is left of it stays in the journal, where the watchdog and the next start find it.
          () => Effect.ignoreLogged(store.remove(slot, pem))
        )
    })
  )
)
