/** The certificate authority as its users see it: its certificate, its place among those that the machine trusts, and another in its place. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as StaticAuthority from "./StaticAuthority.ts"
import { type Slot, TrustStore } from "./host/TrustStore.ts"
import type { Decrypting } from "./Decrypting.ts"
import { CaptureParts } from "./CaptureParts.ts"
import type { CertificateView } from "./CaptureViews.ts"

/** Name of its certificate among those that the machine trusts. */
export const slot: Slot = "gateway-mitm-ca.crt"

export const makeAuthorityTrust = (authority: StaticAuthority.StaticAuthority, decrypting: Decrypting) =>
  Effect.gen(function* () {
    const parts = yield* CaptureParts
    const trustStore = yield* TrustStore

    const certificateOf = (found: Effect.Effect.Success<StaticAuthority.StaticAuthority["get"]>) =>
      Effect.map(
        Effect.orElseSucceed(trustStore.isTrusted(slot, found.certificate), () => false),
        (trusted): CertificateView => ({
          subject: found.subject,
          serial: found.serial,
          sha256: found.sha256,
          notBeforeMs: found.notBeforeMs,
          notAfterMs: found.notAfterMs,
          trusted
        })
      )

    const certificate = Effect.flatMap(authority.current, (current) =>
      current === null ? Effect.succeed(null) : certificateOf(current)
    )

    const untrust = Effect.gen(function* () {
      const current = yield* authority.current
      if (current === null || !trustStore.supported) return { left: [], problem: null }
      // To take out what is not there would rebuild the system's store for nothing.
      if ((yield* trustStore.places(slot, current.certificate)).length === 0) return { left: [], problem: null }
      const removed = yield* trustStore.remove(slot, current.certificate)
      if (removed.left.length === 0) parts.changed("untrusted", "certificate")
      return removed
    })

    const regenerate = Effect.gen(function* () {
      yield* untrust
      const isOpen = decrypting.current() !== null
      yield* decrypting.close
      const made = yield* authority.regenerate
      if (isOpen) yield* decrypting.open
      return yield* certificateOf(made)
    }).pipe(Effect.withSpan("Capture.regenerate"))

    const trust = Effect.fn("Capture.trust")(function* (sudoPassword: Redacted.Redacted | null) {
      const { certificate: pem } = yield* authority.get
      const { warnings } = yield* trustStore.install({ slot, pem, sudoPassword, lifetime: "kept" })
      parts.changed("trusted", "certificate")
      return warnings
    })

    return {
      certificate,
      certificatePem: Effect.map(authority.get, ({ certificate: pem }) => pem.replaceAll("\r\n", "\n")),
      regenerate,
      trust,
      untrust
    }
  })
