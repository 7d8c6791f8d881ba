/** `gateway setup-<tool> --undo`: the files as they were, except for what others changed since, and the key revoked. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import type { ToolSetup } from "../../../agents/tools/config/ToolSetup.ts"
import { placesNow } from "./places.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import type { GatewayFlags } from "../../../cli/gateway/Target.ts"
import * as Output from "../../../cli/output/Output.ts"
import { restorationOf } from "../../../agents/tools/files/UndoSetup.ts"
import { forget, writeAll } from "../../../agents/tools/files/Files.ts"
import { failure } from "./failure.ts"
import { revokeKey } from "./Key.ts"
import * as Records from "../../../agents/tools/files/Records.ts"

const Undone = Schema.Struct({
  tool: Schema.String,
  dryRun: Schema.Boolean,
  restored: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String),
  keyRevoked: Schema.Boolean
})

/** Revokes the key, and returns whether it is gone; a gateway that cannot be asked is reported, and is no failure. */
const revoke = (record: Records.ToolRecord, given: GatewayFlags) =>
  Effect.gen(function* () {
    if (record.keyId === null) return false
    const to = yield* Client.target(Option.isSome(given.url) ? given : { ...given, url: Option.some(record.gateway) })
    yield* revokeKey(to, record.keyId)
    return true
  }).pipe(
    Effect.catchAll(({ _tag, ...error }) =>
      Effect.as(
        Output.note(
          `The key could not be revoked: ${"message" in error ? String(error.message) : _tag} Remove it with 'gateway key remove ${record.keyId ?? ""}'.`
        ),
        false
      )
    )
  )

export const undo = (tool: ToolSetup, given: GatewayFlags, dryRun: boolean) =>
  Effect.gen(function* () {
    const places = yield* placesNow
    const { home } = places
    const recordsFile = Records.recordsFile(places)
    const records = yield* Effect.mapError(Records.read(recordsFile, home), failure)
    const record = records[tool.id]
    if (record === undefined) {
      return yield* new BadArgument({
        message: `${tool.name} was not set up by this user.`,
        hint: `'gateway setup-${tool.id}' sets it up.`
      })
    }
    const backs = yield* Effect.mapError(
      Effect.forEach(record.files, (file) => restorationOf(file, home)),
      failure
    )
    const changes = backs.flatMap(({ change }) => change ?? [])
    const removes = backs.flatMap((back) => back.removes ?? [])
    let keyRevoked = false
    if (!dryRun) {
      yield* Effect.mapError(writeAll(changes, home, null), failure)
      yield* Effect.forEach(removes, (file) => Effect.mapError(ConfigFile.remove(file, home), failure), {
        discard: true
      })
      keyRevoked = yield* revoke(record, given)
      yield* Effect.forEach(record.files, ({ backupPath }) => forget(backupPath, home), { discard: true })
      yield* Effect.mapError(Records.forget(recordsFile, home, tool.id, records), failure)
    }
    const value = {
      tool: tool.id,
      dryRun,
      restored: changes.map(({ file }) => file.path),
      removed: removes.map(({ path }) => path),
      keyRevoked
    }
    const lines = [
      ...value.restored.map((path) => `${dryRun ? "Would restore" : "Restored"} ${path}`),
      ...value.removed.map((path) => `${dryRun ? "Would remove" : "Removed"} ${path}`),
      ...(keyRevoked ? ["Revoked the key."] : []),
      ...(dryRun ? [] : [`${tool.name} is as it was before.`])
    ]
    yield* Output.result({ schema: Undone, value, text: Output.print(lines.join("\n")), name: tool.id })
  })
