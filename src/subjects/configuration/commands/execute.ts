/** Sends a plan to the gateway, which carries it out whole or not at all. */
import * as Effect from "effect/Effect"
import type { Change } from "../../declared/Plan.ts"
import { type Json, type JsonObject, objectOr, stringOr } from "../../declared/Values.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import type * as Client from "../../../cli/gateway/Client.ts"
import { manage } from "../../../cli/gateway/Management.ts"

export interface Done {
  /** Secrets of keys that were made, by name. */
  readonly secrets: Readonly<Record<string, string>>
}

const sent = ({ action, body, id, kind, name }: Change): JsonObject => ({
  action,
  kind,
  name,
  ...(id === null ? {} : { id }),
  body
})

const textsOf = (value: Json | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(objectOr(value)).map(([name, text]) => [name, stringOr(text) ?? ""]))

/** `dryRun`: everything is judged as if it were done, and nothing is. A refusal names the change and leaves nothing half done. */
export const execute = (
  to: Client.Target,
  changes: ReadonlyArray<Change>,
  dryRun: boolean
): Effect.Effect<Done, CliFailure> =>
  Effect.gen(function* () {
    const planned = changes.filter(({ kind }) => kind !== "plugin")
    const { secrets } =
      planned.length === 0
        ? { secrets: null }
        : yield* manage(to, "POST", "/api/configuration/apply", { changes: planned.map(sent), dryRun }, "1 hour")
    // The gateway takes these from its own machine only, each by itself.
    for (const { body, kind, name } of dryRun ? [] : changes) {
      if (kind !== "plugin") continue
      const path = `/api/plugins/${encodeURIComponent(name)}/config`
      yield* manage(to, "PUT", path, { values: objectOr(body["values"]) })
    }
    return { secrets: textsOf(secrets ?? null) }
  })
