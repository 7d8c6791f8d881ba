/** `gateway apply`: makes the gateway be as a file says. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { Declared } from "../../../declared/Document.ts"
import { type Change, plan } from "../../../declared/Plan.ts"
import { filled } from "../../../declared/Variables.ts"
import { ambiguous, doubles, wantedOf } from "../../../declared/Wanted.ts"
import { isUnreadable } from "../../../tools/config/formats/Format.ts"
import { yaml } from "../../../tools/config/formats/Yaml.ts"
import { type Json, type JsonObject, objectOr } from "../../../declared/Values.ts"
import { confirm, yes } from "../../asking/confirm.ts"
import { loadConfig } from "../../EnvFile.ts"
import { BadArgument } from "../../Failure.ts"
import { withoutValue } from "../../Flags.ts"
import * as Client from "../../gateway/Client.ts"
import * as Output from "../../output/Output.ts"
import { execute } from "./execute.ts"
import * as Made from "./Made.ts"
import { present } from "./present.ts"

const flags = {
  file: Options.text("file").pipe(
    Options.withAlias("f"),
    Options.withDescription("The file, YAML or JSON; '-' for standard input. Default: gateway.yaml."),
    Options.withDefault("gateway.yaml")
  ),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Show what would change, and change nothing.")),
  prune: Options.boolean("prune").pipe(
    Options.withDescription("Remove what an earlier apply has made and the file does not have any more.")
  ),
  schema: Options.boolean("schema").pipe(Options.withDescription("Print the file's JSON schema, for editors.")),
  yes,
  ...Client.connection
}

const maxFileBytes = 4 * 1_048_576

const readFile = (file: string): Effect.Effect<string, BadArgument> =>
  Effect.try({
    try: () => {
      if (file !== "-" && statSync(file).size > maxFileBytes) throw new Error(`is larger than ${maxFileBytes} bytes`)
      const text = readFileSync(file === "-" ? 0 : file, "utf8")
      if (text.length > maxFileBytes) throw new Error(`is larger than ${maxFileBytes} bytes`)
      return text
    },
    catch: (error) => {
      const why = error instanceof Error && error.message.startsWith("is larger") ? error.message : "cannot be read"
      return new BadArgument({
        message: `--file: '${file}' ${why}.`,
        hint: "'gateway export > gateway.yaml' writes one."
      })
    }
  })

const decode = Schema.decodeUnknownEither(Declared)

/** Complaints that are shown; the first ones are enough to mend a file. */
const mostComplaints = 20

const complaints = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)
    .slice(0, mostComplaints)
    .map(({ message, path }) => `${path.map(String).join(".")}: ${withoutValue(message)}`)
    .join("\n")

/** The document with its variables put in; nothing is asked of the gateway before it is right. */
const documentOf = (file: string, environment: ReadonlyMap<string, string>): Effect.Effect<JsonObject, BadArgument> =>
  Effect.gen(function* () {
    const parsed = yaml.parse(yield* readFile(file))
    if (isUnreadable(parsed)) return yield* new BadArgument({ message: `--file: '${file}' ${parsed.message}.` })
    const { unset, value } = filled(parsed, environment)
    if (unset.length > 0) {
      const names = unset.join(", ")
      return yield* new BadArgument({ message: `Not set in the environment: ${names}.`, hint: "Nothing was changed." })
    }
    const decoded = decode(value)
    if (Either.isLeft(decoded)) {
      return yield* new BadArgument({
        message: `'${file}' is not right:\n${complaints(decoded.left)}`,
        hint: "Nothing was changed."
      })
    }
    const [double] = doubles(wantedOf(objectOr(value)))
    if (double !== undefined) return yield* new BadArgument({ message: double, hint: "Nothing was changed." })
    return objectOr(value)
  })

const FieldChange = Schema.Struct({ field: Schema.String, from: Schema.Unknown, to: Schema.Unknown })
const Result = Schema.Struct({
  dryRun: Schema.Boolean,
  changes: Schema.Array(
    Schema.Struct({
      action: Schema.Literal("create", "update", "remove"),
      kind: Schema.String,
      name: Schema.String,
      changes: Schema.Array(FieldChange)
    })
  ),
  /** Of keys that were made. */
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

export const applyCommand = Command.make("apply", flags, (given) =>
  Effect.gen(function* () {
    if (given.schema) {
      return yield* Output.print(
        JSON.stringify(JSONSchema.make(Schema.encodedBoundSchema(Declared) as Schema.Schema<unknown>), null, 2)
      )
    }
    const { environment } = yield* loadConfig
    const home = environment.get("HOME") || homedir()
    const document = yield* documentOf(given.file, environment)
    const to = yield* Client.target(given)
    const made = yield* Made.read(environment, home, to.url)
    const wanted = wantedOf(document)
    const there = yield* present(to)
    const [unclear] = ambiguous(wanted, there)
    if (unclear !== undefined) return yield* new BadArgument({ message: unclear, hint: "Nothing was changed." })
    const fixed = new Set(there.filter(({ readOnly }) => readOnly).map(({ kind, name }) => `${kind} ${name}`))
    const changes = plan(wanted, there, { prune: given.prune ? made : null })
    const blocked = changes.find(({ action, kind, name }) => action === "update" && fixed.has(`${kind} ${name}`))
    if (blocked !== undefined) {
      return yield* new BadArgument({
        message: `The ${blocked.kind} '${blocked.name}' comes from the environment of the gateway and cannot be changed here.`,
        hint: "Take it out of the file, or give it another name."
      })
    }
    const lines = linesOf(changes)
    if (lines.length > 0) yield* Output.note(lines.join("\n"))
    const isDone = given.dryRun || changes.length === 0
    if (!isDone) yield* confirm(given, `Make ${Output.counted(changes.length, "change")} at ${to.url}?`)
    const { secrets } = isDone ? { secrets: {} } : yield* execute(to, changes)
    if (!given.dryRun) {
      for (const { action, kind, name } of changes) {
        if (action === "create") made.add(`${kind} ${name}`)
        if (action === "remove") made.delete(`${kind} ${name}`)
      }
      if (changes.length > 0) yield* Made.write(environment, home, to.url, made)
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
    yield* Output.result({ schema: Result, value, text: Output.print(text), name: "" })
  })
)
