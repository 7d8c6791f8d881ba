/** `gateway setup-<tool>`: writes a coding tool's own configuration, and undoes it. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { maskSecret } from "../../../kernel/Masking.ts"
import * as ConfigFile from "../../../platform/ConfigFile.ts"
import { choose, type Chosen } from "../../../tools/config/Chosen.ts"
import { diff } from "../../../tools/config/Diff.ts"
import { staleOf } from "../../../tools/config/Edits.ts"
import { isUnreadable, valueAt } from "../../../tools/config/formats/Format.ts"
import { formats } from "../../../tools/config/formats/index.ts"
import { placesOf, type Places, type ToolPlan, type ToolSetup } from "../../../tools/config/ToolSetup.ts"
import { loadConfig } from "../../EnvFile.ts"
import { BadArgument } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"
import type { GatewayFlags } from "../../gateway/Target.ts"
import * as Output from "../../output/Output.ts"
import { backOf } from "./Back.ts"
import { type Change, changesOf, failure, writeAll } from "./Files.ts"
import { isAlive, type KeyOfTool, makeKey, revokeKey } from "./Key.ts"
import { offeredModels } from "./models.ts"
import * as Records from "./Records.ts"
import { undo } from "./undo.ts"

export const flags = {
  remote: Options.text("remote").pipe(
    Options.withDescription("Address of a gateway elsewhere; the same as --url."),
    Options.optional
  ),
  apiKey: Options.redacted("api-key").pipe(
    Options.withDescription("Key for the tool. Without it one is made, for the models of the tool only."),
    Options.optional
  ),
  port: Options.integer("port").pipe(Options.withDescription("Port of the gateway on this machine."), Options.optional),
  model: Options.text("model").pipe(
    Options.withDescription("The model the tool begins with. Default: auto."),
    Options.optional
  ),
  only: Options.text("only").pipe(
    Options.withDescription("Only these models, '*' for any text. May be given several times."),
    Options.repeated
  ),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Show what would change, and write nothing.")),
  undo: Options.boolean("undo").pipe(Options.withDescription("Take it back: the files as they were, the key revoked.")),
  yes: Options.boolean("yes").pipe(Options.withAlias("y"), Options.withDescription("Ask nothing; nothing is asked.")),
  ...Client.connection
}

export interface SetupFlags extends GatewayFlags {
  readonly remote: Option.Option<string>
  readonly apiKey: Option.Option<Redacted.Redacted>
  readonly port: Option.Option<number>
  readonly model: Option.Option<string>
  readonly only: ReadonlyArray<string>
  readonly dryRun: boolean
  readonly undo: boolean
  readonly yes: boolean
}

export const Result = Schema.Struct({
  tool: Schema.String,
  gateway: Schema.String,
  model: Schema.NullOr(Schema.String),
  dryRun: Schema.Boolean,
  files: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      changed: Schema.Boolean,
      backupPath: Schema.NullOr(Schema.String),
      diff: Schema.Array(Schema.String)
    })
  ),
  notes: Schema.Array(Schema.String)
})
type Result = typeof Result.Type

/** Stands for a key that a dry run does not make. */
const newKey = "<a new key>"

export const placesNow = Effect.map(loadConfig, ({ environment }) => {
  const home = environment.get("HOME") || homedir()
  return placesOf(home, environment, existsSync)
})

const gatewayFlags = (given: SetupFlags): Effect.Effect<GatewayFlags, BadArgument> => {
  const named = [given.remote, given.url, Option.map(given.port, (port) => `http://127.0.0.1:${port}`)].filter(
    Option.isSome
  )
  if (named.length > 1) {
    return new BadArgument({ message: "--remote, --url and --port name several gateways.", hint: "Give one of them." })
  }
  return Effect.succeed({ ...given, url: named[0] ?? Option.none() })
}

/** A key with which models can be listed: the one for the tool where no other is known. */
const asker = (to: Client.Target, apiKey: Option.Option<Redacted.Redacted>): Client.Target =>
  to.apiKey === null && Option.isSome(apiKey) ? { ...to, apiKey: apiKey.value } : to

/** The key in the tool's file, where this command has put it there. */
const keptKey = (plan: ToolPlan, record: Records.ToolRecord | undefined, places: Places) =>
  Effect.gen(function* () {
    const file = plan.files.find(({ keyAt }) => keyAt !== undefined)
    if (record === undefined || file?.keyAt === undefined) return null
    const { text } = yield* Effect.mapError(ConfigFile.read(file.path, places.home), failure)
    const root = formats[file.format].parse(text ?? "")
    const secret = isUnreadable(root) ? undefined : valueAt(root, file.keyAt)
    return typeof secret === "string" && secret !== "" ? ({ secret, id: record.keyId } satisfies KeyOfTool) : null
  })

/** The key that the tool has already, while it works at this gateway; one that was given is not asked for. */
const usableKey = (kept: KeyOfTool | null, to: Client.Target, chosen: Chosen, dryRun: boolean) =>
  kept === null || kept.id === null
    ? Effect.succeed(kept)
    : Effect.map(isAlive(to, { id: kept.id, secret: kept.secret }, chosen, !dryRun), (alive) => (alive ? kept : null))

const masked = (lines: ReadonlyArray<string>, secret: string): ReadonlyArray<string> =>
  secret === newKey ? lines : lines.map((line) => line.replaceAll(secret, maskSecret(secret)))

export const textOf = (tool: ToolSetup, { dryRun, files, notes }: Result): string => {
  const changed = files.filter((file) => file.changed)
  const parts = changed.flatMap(({ backupPath, diff: lines, path }) => [
    `${dryRun ? "Would write" : "Wrote"} ${path}${backupPath === null ? "" : ` (a copy is in ${backupPath})`}`,
    ...lines.map((line) => `  ${line}`)
  ])
  const head =
    files.length > 0 && changed.length === 0 ? [`${tool.name} is set up already; nothing is changed.`] : parts
  return [...head, ...notes].join("\n")
}

/** Files of a former run that this one does not write, such as profiles of families that are gone. */
const goneOf = (former: Records.ToolRecord | undefined, { files }: ToolPlan) =>
  (former?.files ?? []).filter(({ path }) => files.every((file) => file.path !== path))

export const setUp = (tool: ToolSetup, given: SetupFlags) =>
  Effect.gen(function* () {
    const places = yield* placesNow
    const { home } = places
    const to = yield* Effect.flatMap(gatewayFlags(given), Client.target)
    const offered = yield* offeredModels(asker(to, given.apiKey))
    const chosen = choose(offered, Option.getOrNull(given.model), given.only)
    if (typeof chosen === "string") {
      return yield* new BadArgument({ message: chosen, hint: "'gateway model list' shows the models." })
    }
    const recordsFile = Records.recordsFile(places.environment)
    const records = yield* Records.read(recordsFile, home)
    const former = records[tool.id]
    const planWith = (apiKey: string): ToolPlan => tool.plan(places, { origin: to.url, apiKey, ...chosen })
    const changesWith = (plan: ToolPlan) => changesOf(plan.files, home, former?.files ?? [])

    const draft = planWith(newKey)
    // What cannot be read or written is found before a key is made.
    yield* changesWith(draft)
    const backs = yield* Effect.forEach(goneOf(former, draft), (file) => backOf(file, home))
    const kept = former?.gateway === to.url ? yield* keptKey(draft, former, places) : null
    const known = Option.isSome(given.apiKey)
      ? { secret: Redacted.value(given.apiKey.value), id: null }
      : yield* usableKey(kept, to, chosen, given.dryRun)

    const write = (key: KeyOfTool) =>
      Effect.gen(function* () {
        const plan = planWith(key.secret)
        const changes = yield* changesWith(plan)
        const changing = changes.filter(({ after, file }) => after !== (file.text ?? ""))
        const nowMs = yield* Clock.currentTimeMillis
        const written = given.dryRun
          ? []
          : yield* writeAll([...changing, ...backs.flatMap(({ change }) => change ?? [])], home, nowMs)
        if (!given.dryRun && plan.files.length > 0) {
          for (const { removes } of backs) {
            if (removes !== null) yield* Effect.mapError(ConfigFile.remove(removes, home), failure)
          }
          yield* Records.write(recordsFile, home, {
            ...records,
            [tool.id]: recordOf(plan, changes, written, former, { gateway: to.url, keyId: key.id })
          })
        }
        const result: Result = {
          tool: tool.id,
          gateway: to.url,
          model: chosen.model.id,
          dryRun: given.dryRun,
          files: changes.map(({ after, file }) => ({
            path: file.path,
            changed: after !== (file.text ?? ""),
            backupPath: written.find(({ path }) => path === file.path)?.backupPath ?? null,
            diff: masked(diff(file.text ?? "", after), key.secret)
          })),
          notes: plan.notes
        }
        return result
      })

    const makesKey = known === null && !given.dryRun
    const key = known ?? (makesKey ? yield* makeKey(tool, to, chosen) : { secret: newKey, id: null })
    const madeId = makesKey ? key.id : null
    // A key that stands in no file is of no use.
    const result = yield* Effect.onError(write(key), () =>
      madeId === null ? Effect.void : Effect.ignore(revokeKey(to, madeId))
    )
    const formerId = former?.keyId ?? null
    if (!given.dryRun && former !== undefined && formerId !== null && formerId !== key.id) {
      const at = former.gateway === to.url ? to : yield* formerGateway(former.gateway)
      yield* revokeKey(at, formerId).pipe(
        Effect.catchAll(() => Output.note(`The key it had before is still there: 'gateway key remove ${formerId}'.`))
      )
    }
    return result
  })

/** The gateway that a tool used before, with the key that is kept for it. */
const formerGateway = (url: string) => Client.target({ url: Option.some(url), gatewayKey: Option.none(), local: false })

/** The first copy is the one from before the set-up: a later run keeps it. */
const recordOf = (
  plan: ToolPlan,
  changes: ReadonlyArray<Change>,
  written: ReadonlyArray<{ readonly path: string; readonly backupPath: string | null }>,
  former: Records.ToolRecord | undefined,
  facts: { readonly gateway: string; readonly keyId: string | null }
): Records.ToolRecord => {
  const own = plan.files.map(({ edits, format, path }): Records.FileRecord => {
    const before = former?.files.find((file) => file.path === path)
    const paths = edits.map((edit) => edit.path)
    if (before !== undefined) {
      // A part of what is written now may have been written before as a whole, and the reverse.
      const stale = new Set([...staleOf(before.paths, edits), ...paths].map((each) => JSON.stringify(each)))
      return { ...before, paths: [...before.paths.filter((each) => !stale.has(JSON.stringify(each))), ...paths] }
    }
    const file = changes.find((change) => change.file.path === path)?.file
    return {
      path,
      format,
      backupPath: written.find((file) => file.path === path)?.backupPath ?? null,
      paths,
      made: file?.text === null,
      mode: file?.mode ?? ConfigFile.ownerOnly
    }
  })
  return { ...facts, files: own }
}

export const makeSetup = (tool: ToolSetup) =>
  Command.make(`setup-${tool.id}`, flags, (given) =>
    given.undo
      ? Effect.flatMap(gatewayFlags(given), (gateway) => undo(tool, gateway, given.dryRun))
      : Effect.flatMap(setUp(tool, given), (result) =>
          Output.result({ schema: Result, value: result, text: Output.print(textOf(tool, result)), name: tool.id })
        )
  )
