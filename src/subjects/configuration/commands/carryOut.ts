/** Carries out a file: computes the changes, shows them, asks for consent, and applies them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { homedir } from "node:os"
import { keeping } from "../../declared/Kept.ts"
import { type Change, plan, type DeclaredThing } from "../../declared/Plan.ts"
import type { Json } from "../../declared/Values.ts"
import { ambiguous } from "../../declared/DesiredState.ts"
import { confirm } from "../../../cli/asking/confirm.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import type * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { execute } from "./execute.ts"
import * as Made from "./Made.ts"
import { present } from "./currentConfiguration.ts"

const FieldChange = Schema.Struct({ field: Schema.String, from: Schema.Unknown, to: Schema.Unknown })
export const Result = Schema.Struct({
  dryRun: Schema.Boolean,
  changes: Schema.Array(
    Schema.Struct({
      action: Schema.Literal("create", "update", "remove"),
      kind: Schema.String,
      name: Schema.String,
      changes: Schema.Array(FieldChange)
    })
  ),
  /** Secrets of keys that were made. */
  secrets: Schema.Record({ key: Schema.String, value: Schema.String })
})

const signs = { create: "+", update: "~", remove: "-" } as const

const short = (value: Json): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}

const linesOf = (changes: ReadonlyArray<Change>): ReadonlyArray<string> =>
  changes.flatMap(({ action, changes: fields, kind, name }) => [
    `${signs[action]} ${kind} ${name}`,
    ...fields.map(({ field, from, to }) => `    ${field}: ${short(from)} -> ${short(to)}`)
  ])

const fromElsewhere = ({ kind }: Change): string =>
  kind === "mcpServer" ? "is a program of the gateway's machine" : "comes from the environment of the gateway"

export interface Manner {
  readonly dryRun: boolean
  readonly prune: boolean
  readonly yes: boolean
  /** A dry run shows what would change before the secrets of new things are at hand. */
  readonly withoutSecrets?: boolean
}

/** Carries out the changes, and writes their text for people. */
export const carryOut = (
  all: ReadonlyArray<DeclaredThing>,
  to: Client.Target,
  environment: ReadonlyMap<string, string>,
  given: Manner
) =>
  Effect.gen(function* () {
    const home = environment.get("HOME") || homedir()
    const made = yield* Made.read(environment, home, to.url)
    const there = yield* present(to)
    const [unclear] = ambiguous(all, there)
    if (unclear !== undefined) return yield* new BadArgument({ message: unclear, hint: "Nothing was changed." })
    const { notes, problems, wanted: kept } = keeping(all, there)
    const installed = new Set(there.flatMap(({ kind, name }) => (kind === "plugin" ? [name] : [])))
    const isThere = ({ kind, name }: DeclaredThing): boolean => kind !== "plugin" || installed.has(name)
    const wanted = kept.filter(isThere)
    for (const { name } of kept.filter((each) => !isThere(each))) {
      yield* Output.note(`The plugin '${name}' is not installed there: its configuration was left out.`)
    }
    if (problems.length > 0 && !(given.dryRun && given.withoutSecrets === true)) {
      return yield* new BadArgument({ message: problems.join("\n"), hint: "Nothing was changed." })
    }
    for (const sentence of [...problems, ...notes]) yield* Output.note(sentence)
    const fixed = new Set(there.filter(({ readOnly }) => readOnly).map(({ kind, name }) => `${kind} ${name}`))
    const changes = plan(wanted, there, { prune: given.prune ? made : null })
    const blocked = changes.find(({ action, kind, name }) => action === "update" && fixed.has(`${kind} ${name}`))
    if (blocked !== undefined) {
      return yield* new BadArgument({
        message: `The ${blocked.kind} '${blocked.name}' ${fromElsewhere(blocked)} and cannot be changed here.`,
        hint: "Take it out of the file, or give it another name."
      })
    }
    const lines = linesOf(changes)
    if (lines.length > 0) yield* Output.note(lines.join("\n"))
    // A question about what would be refused is of no use. With '--yes' the gateway tries it by itself, before it begins.
    if (changes.length > 0 && (given.dryRun || !given.yes)) yield* execute(to, changes, true)
    const isDone = given.dryRun || changes.length === 0
    if (!isDone) yield* confirm(given, `Make ${Output.counted(changes.length, "change")} at ${to.url}?`)
    const { secrets } = isDone ? { secrets: {} } : yield* execute(to, changes, false)
    if (!isDone) {
      for (const { action, kind, name } of changes) {
        if (action === "create") made.add(`${kind} ${name}`)
        if (action === "remove") made.delete(`${kind} ${name}`)
      }
      // The secrets of new keys are shown this once, whether or not this can be remembered.
      yield* Effect.ignore(Made.write(environment, home, to.url, made))
    }
    const value = {
      dryRun: given.dryRun,
      changes: changes.map(({ action, changes: fields, kind, name }) => ({ action, kind, name, changes: fields })),
      secrets
    }
    const told =
      changes.length === 0
        ? "Nothing to change."
        : given.dryRun
          ? `${Output.counted(changes.length, "change")} would be made.`
          : `${Output.counted(changes.length, "change")} made.`
    const keys = Object.entries(secrets).map(([name, secret]) => `${name}: ${secret}`)
    const text = [told, ...(keys.length === 0 ? [] : ["Secrets of the new keys, shown once:", ...keys])].join("\n")
    return { value, text }
  })
