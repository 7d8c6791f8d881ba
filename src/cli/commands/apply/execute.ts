/** Does what a plan says, one change after the other. */
import * as Effect from "effect/Effect"
import type { Change } from "../../../declared/Plan.ts"
import { connectionName } from "../../../declared/Present.ts"
import { isArray, type JsonObject, objectOr, stringOr } from "../../../declared/Values.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../Failure.ts"
import type * as Client from "../../gateway/Client.ts"
import { manage } from "../../gateway/Management.ts"
import * as Output from "../../output/Output.ts"

const places: Readonly<Record<Change["kind"], string>> = {
  node: "/api/provider-nodes",
  connection: "/api/providers",
  combo: "/api/combos",
  alias: "/api/models/alias",
  key: "/api/keys",
  settings: "/api/settings"
}

const textOf = (value: unknown): string => stringOr(value) ?? ""

/** Ids of the connections by their names. */
const connectionIds = (to: Client.Target) =>
  Effect.map(manage(to, "GET", places.connection), ({ connections }) => {
    const all = isArray(connections) ? connections.map(objectOr) : []
    return new Map(all.map((each) => [connectionName(each), textOf(each["id"])]))
  })

/** A combo's targets with the ids of this gateway. */
const withIds = (to: Client.Target, name: string, body: JsonObject): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const { targets } = body
    if (!isArray(targets) || targets.every((target) => objectOr(target)["connection"] === undefined)) return body
    const ids = yield* connectionIds(to)
    const missing = targets
      .map((target) => textOf(objectOr(target)["connection"]))
      .find((each) => each !== "" && !ids.has(each))
    if (missing !== undefined) {
      return yield* new BadArgument({
        message: `The combo '${name}' names the connection '${missing}', which is not there.`
      })
    }
    return {
      ...body,
      targets: targets
        .map(objectOr)
        .map(({ connection, ...target }) =>
          typeof connection === "string" ? Object.assign(target, { connectionId: ids.get(connection) ?? null }) : target
        )
    }
  })

/** The secret of a key that was made; null: none was. */
const one = (to: Client.Target, { action, body, id, kind, name }: Change): Effect.Effect<string | null, CliFailure> =>
  Effect.gen(function* () {
    const place = places[kind]
    if (kind === "settings") return yield* Effect.as(manage(to, "PATCH", place, body), null)
    if (kind === "alias") {
      return action === "remove"
        ? yield* Effect.as(manage(to, "DELETE", `${place}?alias=${encodeURIComponent(name)}`), null)
        : yield* Effect.as(manage(to, "POST", place, { alias: name, ...body }), null)
    }
    const own = `${place}/${encodeURIComponent(id ?? "")}`
    const sent = kind === "combo" ? yield* withIds(to, name, body) : body
    if (action === "remove") return yield* Effect.as(manage(to, "DELETE", own), null)
    if (action === "update") return yield* Effect.as(manage(to, kind === "key" ? "PATCH" : "PUT", own, sent), null)
    const made = yield* manage(to, "POST", place, sent)
    return stringOr(made["secret"])
  })

export interface Done {
  /** Of keys that were made, by name. */
  readonly secrets: Readonly<Record<string, string>>
}

/** A failure says what was done before it: the same command goes on from there. */
export const execute = (
  to: Client.Target,
  changes: ReadonlyArray<Change>,
  onDone: (change: Change) => void
): Effect.Effect<Done, CliFailure> =>
  Effect.gen(function* () {
    const secrets: Record<string, string> = {}
    for (const [at, change] of changes.entries()) {
      const secret = yield* one(to, change).pipe(
        Effect.mapError((failure) =>
          "message" in failure
            ? new CommandFailed({
                message: `${change.kind} '${change.name}': ${failure.message}`,
                hint:
                  at === 0
                    ? "Nothing was changed."
                    : `${at} of ${changes.length} changes were made; mend the file and run the command again.`
              })
            : failure
        ),
        // They are shown once: a key whose secret is lost is of no use.
        Effect.tapError(() =>
          Effect.forEach(Object.entries(secrets), ([name, secret]) =>
            Output.note(`The key '${name}' was made: ${secret}`)
          )
        )
      )
      if (secret !== null) secrets[change.name] = secret
      onDone(change)
    }
    return { secrets }
  })
