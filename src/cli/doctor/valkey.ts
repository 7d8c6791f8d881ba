/** Check of the server of Valkey over which gateways on one database tell each other what they learn. Nothing is changed there. */
import * as Effect from "effect/Effect"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import { shownOf } from "../../platform/ValkeyAddress.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { loadModule } from "../lazy.ts"
import * as Finding from "./Finding.ts"

const loadInspection = loadModule(() => import("../../store/valkey/Inspection.ts"))

const hint = "Gateways tell each other over the database as long as it cannot be used."

export const valkey = ({
  databaseUrl,
  valkey: address
}: Pick<AppConfigShape, "databaseUrl" | "valkey">): Effect.Effect<Finding.Finding | null> => {
  if (address === null) return Effect.succeed(null)
  if (databaseUrl === null) {
    return Effect.succeed(
      Finding.warn(
        "GATEWAY_VALKEY_URL is not used without GATEWAY_DATABASE_URL.",
        "It is for several gateways on one database: docs/cluster.md."
      )
    )
  }
  return Effect.flatMap(loadInspection, ({ inspect }) => inspect(address)).pipe(
    Effect.match({
      onFailure: ({ message }) => Finding.warn(`${shownOf(address)}: ${asSentence(message)}`, hint),
      onSuccess: ({ problem, roundTripMs, version }) =>
        problem === null
          ? Finding.ok(`${version} at ${shownOf(address)}, a round trip takes ${roundTripMs.toFixed(1)} ms`)
          : Finding.warn(`${version} at ${shownOf(address)}: ${asSentence(problem)}`, hint)
    })
  )
}
