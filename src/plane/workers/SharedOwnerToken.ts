/** The token of the gateway's owner at its workers, as a hash: commands of this machine ask models with it, whichever process takes the connection. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { OwnerToken } from "../../subjects/auth/OwnerToken.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { WorkerLinks } from "../state/link/WorkerLinks.ts"

const topics = {
  /** Asked: the hash; null: none was made yet. */
  wanted: "owner.token.wanted",
  /** Told: the hash of a token that was made. */
  issued: "owner.token.issued"
} as const

export const ownerLayer: Layer.Layer<never, never, OwnerToken | WorkerLinks> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { hash, onIssued } = yield* OwnerToken
    const { serve, tellAll } = yield* WorkerLinks
    yield* Effect.acquireRelease(
      Effect.sync(() => [
        serve(topics.wanted, (_worker, _body, answer) => answer(hash())),
        onIssued((issued) => tellAll(topics.issued, issued))
      ]),
      (stops) => Effect.sync(() => stops.forEach((stop) => stop()))
    )
  })
)

export const workerLayer: Layer.Layer<never, never, OwnerLink | OwnerToken> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { follow } = yield* OwnerToken
    const { ask, isUp, listen, watch } = yield* OwnerLink
    const told = (hash: unknown): void => {
      if (typeof hash === "string") follow(hash)
    }
    const asked = (): void => ask(topics.wanted, null, told)
    yield* Effect.acquireRelease(
      Effect.sync(() => [
        listen(topics.issued, told),
        watch((isThere) => {
          if (isThere) asked()
        })
      ]),
      (stops) => Effect.sync(() => stops.forEach((stop) => stop()))
    )
    if (isUp()) asked()
  })
)
