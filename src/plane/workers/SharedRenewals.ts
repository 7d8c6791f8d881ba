/** Renewals of access tokens for workers: the owner makes them, one at a time for an account, and answers when the worker has the new tokens. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { type RefreshFailed } from "../providers/oauth/RefreshFailed.ts"
import { TokenRefresh } from "../providers/oauth/TokenRefresh.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { WorkerLinks } from "../state/link/WorkerLinks.ts"
import { Renewals, type ToldRenewal } from "../state/Renewals.ts"
import { ConfigSettled } from "./ConfigWatch.ts"

const topic = "token.renew"

interface Wanted {
  readonly connectionId: string
  readonly usedAccessToken: string
}

const toldFailure = (failed: RefreshFailed): ToldRenewal => {
  const { message } = failed
  switch (failed._tag) {
    case "RefreshDead":
      return { failed: "dead", code: failed.code, message }
    case "RefreshTransient":
      return { failed: "transient", status: failed.status, message, retryAfterMs: failed.retryAfterMs }
    case "RefreshImpossible":
      return { failed: "impossible", reason: failed.reason, message }
  }
}

export const ownerLayer: Layer.Layer<never, never, TokenRefresh | WorkerLinks> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { refresh } = yield* TokenRefresh
    const { serve } = yield* WorkerLinks
    const settled = yield* ConfigSettled
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const renewed = ({ connectionId, usedAccessToken }: Wanted): Effect.Effect<ToldRenewal> =>
      Effect.match(refresh(connectionId, usedAccessToken), {
        onSuccess: (outcome): ToldRenewal => ({ outcome }),
        onFailure: toldFailure
      })
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        serve(topic, (_, body, answer) => {
          runFork(
            Effect.flatMap(Effect.zipLeft(renewed(body as Wanted), settled), (told) => Effect.sync(() => answer(told)))
          )
        })
      ),
      (stop) => Effect.sync(stop)
    )
  })
)

export const workerLayer: Layer.Layer<never, never, OwnerLink> = Layer.effectContext(
  Effect.map(OwnerLink, ({ ask }) => {
    const renew = (connectionId: string, usedAccessToken: string): Effect.Effect<ToldRenewal> =>
      Effect.async((resume) => {
        const wanted: Wanted = { connectionId, usedAccessToken }
        ask(topic, wanted, (told) => resume(Effect.succeed(told as ToldRenewal)))
      })
    return Context.make(Renewals, renew) as Context.Context<never>
  })
)
