/** `gateway setup-<tool>`: writes a coding tool's own configuration, and undoes it. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { maskSecret } from "../../../kernel/text/Masking.ts"
import { choose, type Chosen } from "../../../agents/tools/config/Chosen.ts"
import { diff } from "../../../agents/tools/config/Diff.ts"
import type { ToolPlan, ToolSetup } from "../../../agents/tools/config/ToolSetup.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import type { GatewayFlags } from "../../../cli/gateway/Target.ts"
import * as Output from "../../../cli/output/Output.ts"
import { carryOut, changesFor, isChanging, type KeyOfTool, presentOf } from "../../../agents/tools/files/SetUp.ts"
import { failure } from "./failure.ts"
import { isAlive, makeKey, revokeKey } from "./Key.ts"
import { offeredModels } from "./models.ts"
import { placesNow } from "./places.ts"
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

/** Placeholder for a key that a dry run does not make. */
const newKey = "<a new key>"

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

export const setUp = (tool: ToolSetup, given: SetupFlags) =>
  Effect.gen(function* () {
    const places = yield* placesNow
    const to = yield* Effect.flatMap(gatewayFlags(given), Client.target)
    const offered = yield* offeredModels(asker(to, given.apiKey))
    const chosen = choose(offered, Option.getOrNull(given.model), given.only)
    if (typeof chosen === "string") {
      return yield* new BadArgument({ message: chosen, hint: "'gateway model list' shows the models." })
    }
    const planWith = (apiKey: string): ToolPlan => tool.plan(places, { origin: to.url, apiKey, ...chosen })
    const present = yield* Effect.mapError(presentOf(tool.id, planWith(newKey), places), failure)
    const { former } = present
    const kept = former?.gateway === to.url ? present.key : null
    const known = Option.isSome(given.apiKey)
      ? { secret: Redacted.value(given.apiKey.value), id: null }
      : yield* usableKey(kept, to, chosen, given.dryRun)

    const write = (key: KeyOfTool) =>
      Effect.gen(function* () {
        const plan = planWith(key.secret)
        const { changes, written } = yield* given.dryRun
          ? Effect.map(changesFor(plan, present, places), (would) => ({ changes: would, written: [] }))
          : carryOut(tool.id, plan, present, places, { gateway: to.url, keyId: key.id })
        const result: Result = {
          tool: tool.id,
          gateway: to.url,
          model: chosen.model.id,
          dryRun: given.dryRun,
          files: changes.map((change) => ({
            path: change.file.path,
            changed: isChanging(change),
            backupPath: written.find(({ path }) => path === change.file.path)?.backupPath ?? null,
            diff: masked(diff(change.file.text ?? "", change.after), key.secret)
          })),
          notes: plan.notes
        }
        return result
      }).pipe(Effect.mapError(failure))

    const makesKey = known === null && !given.dryRun
    const key = known ?? (makesKey ? yield* makeKey(tool, to, chosen) : { secret: newKey, id: null })
    const madeId = makesKey ? key.id : null
    // A key that is in no file is of no use.
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
const formerGateway = (url: string) => Client.target({ ...Client.here, url: Option.some(url), local: false })

export const makeSetup = (tool: ToolSetup) =>
  Command.make(`setup-${tool.id}`, flags, (given) =>
    given.undo
      ? Effect.flatMap(gatewayFlags(given), (gateway) => undo(tool, gateway, given.dryRun))
      : Effect.flatMap(setUp(tool, given), (result) =>
          Output.result({ schema: Result, value: result, text: Output.print(textOf(tool, result)), name: tool.id })
        )
  )
