/** `gateway import`: takes over what another gateway has. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { stringify } from "yaml"
import { readEnvironment } from "../../declared/imports/Environment.ts"
import type { Imported, ImportOptions, Row } from "../../declared/imports/Imported.ts"
import { addressOfHost, usualAddress } from "../../declared/imports/Ollama.ts"
import { readLitellm } from "../../declared/imports/Litellm.ts"
import { omniRouteNamespaces, omniRouteTables } from "../../declared/imports/OmniRouteRecords.ts"
import { litellmShape, omniRouteShape, type Shape, shapeProblems } from "../../declared/imports/Shapes.ts"
import type { Json } from "../../declared/Values.ts"
import { readOmniRoute } from "../../declared/imports/OmniRoute.ts"
import { yes } from "../../../cli/asking/confirm.ts"
import { loadConfig, parse } from "../../../cli/flags/EnvFile.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import type { GatewayFlags } from "../../../cli/gateway/Target.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { askOllama } from "./askOllama.ts"
import { carryOut, Result } from "./carryOut.ts"
import { wantedIn, readText, readYaml } from "./DocumentFile.ts"
import { readOmniRouteFile } from "./readOmniRoute.ts"

const flags = {
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Show what would change, and change nothing.")),
  print: Options.boolean("print").pipe(
    Options.withDescription("Print the file for 'gateway apply' instead of applying it.")
  ),
  withSecrets: Options.boolean("with-secrets").pipe(
    Options.withDescription("Take keys that stand in the source; else variables stand for them.")
  ),
  yes,
  ...Client.connection
}

const ImportResult = Schema.Struct({
  report: Schema.Array(Schema.Struct({ what: Schema.String, result: Schema.String, reason: Schema.String })),
  ...Result.fields
})

const columns = [
  { header: "WHAT", value: ({ what }: Row) => what },
  { header: "RESULT", value: ({ result }: Row) => result },
  { header: "WHY", value: ({ reason }: Row) => Output.orDash(reason === "" ? null : reason) }
]

const optionsOf = (withSecrets: boolean) =>
  Effect.map(
    loadModule(() => import("../../../plane/providers/registry/index.ts")),
    ({ allProviders }): ImportOptions => ({
      providers: new Map(
        allProviders.flatMap(({ aliases, id }) => [id, ...aliases].map((name) => [name, id] as const))
      ),
      withSecrets
    })
  )

/** Refuses a source of which a member is of another kind than its program takes. */
const checkShape = (value: Json, shape: Shape, file: string): Effect.Effect<void, BadArgument> => {
  const problems = shapeProblems(value, shape)
  return problems.length === 0
    ? Effect.void
    : new BadArgument({ message: `'${file}' is not right:\n${problems.join("\n")}`, hint: "Nothing was changed." })
}

interface ImportFlags extends GatewayFlags {
  readonly dryRun: boolean
  readonly print: boolean
  readonly yes: boolean
}

/** Shows what was read, and makes the gateway have it. */
const finish = (
  { document, rows }: Imported,
  source: string,
  given: ImportFlags,
  more: ReadonlyMap<string, string> = new Map()
) =>
  Effect.gen(function* () {
    if (given.print) {
      for (const { reason, result, what } of rows) {
        if (result !== "taken") yield* Output.note(`${result}: ${what}. ${reason}`)
      }
      return yield* Output.print(stringify(document, { lineWidth: 0 }).trimEnd())
    }
    yield* Output.section(rows, columns)
    const { environment } = yield* loadConfig
    const values = new Map([...environment, ...more])
    const wanted = yield* wantedIn(document, source, values)
    const { text, value } = yield* carryOut(wanted, yield* Client.target(given), environment, {
      ...given,
      prune: false,
      withoutSecrets: true
    })
    yield* Output.result({
      schema: ImportResult,
      value: { report: rows, ...value },
      text: Output.print(text),
      name: source
    })
  })

export const importLitellm = Command.make(
  "litellm",
  { file: Args.text({ name: "config.yaml" }).pipe(Args.withDescription("LiteLLM's configuration.")), ...flags },
  (given) =>
    Effect.gen(function* () {
      const config = yield* readYaml(given.file, "<config.yaml>", "Name LiteLLM's config.yaml.")
      yield* checkShape(config, litellmShape, given.file)
      yield* finish(readLitellm(config, yield* optionsOf(given.withSecrets)), given.file, given)
    })
)

export const importOmniRoute = Command.make(
  "omniroute",
  {
    file: Args.text({ name: "file" }).pipe(
      Args.withDescription("OmniRoute's storage.sqlite, its data folder, or its JSON export.")
    ),
    ...flags
  },
  (given) =>
    Effect.gen(function* () {
      const content = yield* readOmniRouteFile(given.file)
      const records = omniRouteTables.map(({ member }) => member)
      yield* checkShape(content, omniRouteShape(records, omniRouteNamespaces), given.file)
      yield* finish(readOmniRoute(content, yield* optionsOf(given.withSecrets)), given.file, given)
    })
)

const { withSecrets: _, ...withoutSecrets } = flags

/** The variables of a file; one that has none is taken for another kind of file. */
const variablesOf = (file: string) =>
  Effect.gen(function* () {
    const hint = "Name a file of NAME=value lines."
    const text = yield* readText(file, "--file", hint)
    const values = parse(text)
    return values.size === 0 && text.trim() !== ""
      ? yield* new BadArgument({ message: `--file: '${file}' has no line NAME=value.`, hint })
      : values
  })

export const importEnv = Command.make(
  "env",
  {
    file: Options.text("file").pipe(
      Options.withDescription("A file of NAME=value lines, read instead of the environment."),
      Options.optional
    ),
    ...withoutSecrets
  },
  (given) =>
    Effect.gen(function* () {
      const values = Option.isNone(given.file) ? (yield* loadConfig).environment : yield* variablesOf(given.file.value)
      const { allProviders } = yield* loadModule(() => import("../../../plane/providers/registry/index.ts"))
      const { isGatewayKey } = yield* loadModule(() => import("../../../kernel/secrets/GatewayKey.ts"))
      const found = readEnvironment(values, allProviders, isGatewayKey)
      yield* finish(
        found,
        Option.getOrElse(given.file, () => "environment"),
        given,
        Option.isNone(given.file) ? new Map() : values
      )
    })
)

export const importOllama = Command.make(
  "ollama",
  {
    at: Args.text({ name: "url" }).pipe(
      Args.withDescription(`Where it is; default: OLLAMA_HOST, or ${usualAddress}.`),
      Args.optional
    ),
    ...withoutSecrets
  },
  (given) =>
    Effect.gen(function* () {
      const { environment } = yield* loadConfig
      const text = Option.getOrElse(given.at, () => environment.get("OLLAMA_HOST") ?? usualAddress)
      const address = addressOfHost(text)
      if (address === null) {
        return yield* new BadArgument({
          message: "That is no address of an Ollama server.",
          hint: "Name a host or an http address without a password: gateway import ollama http://192.168.1.5:11434"
        })
      }
      yield* finish(yield* askOllama(address), address, given)
    })
)
