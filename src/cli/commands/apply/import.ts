/** `gateway import`: takes over what another gateway has. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { stringify } from "yaml"
import { readEnvironment } from "../../../declared/imports/Environment.ts"
import type { Imported, ImportOptions, Row } from "../../../declared/imports/Imported.ts"
import { readLitellm } from "../../../declared/imports/Litellm.ts"
import { readOmniRoute } from "../../../declared/imports/OmniRoute.ts"
import { yes } from "../../asking/confirm.ts"
import { loadConfig, parse } from "../../EnvFile.ts"
import * as Client from "../../gateway/Client.ts"
import type { GatewayFlags } from "../../gateway/Target.ts"
import { loadRoom } from "../../lazy.ts"
import * as Output from "../../output/Output.ts"
import { carryOut, Result } from "./carryOut.ts"
import { documentOf, readText, readYaml } from "./DocumentFile.ts"
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
    loadRoom(() => import("../../../providers/registry/index.ts")),
    ({ allProviders }): ImportOptions => ({
      providers: new Map(
        allProviders.flatMap(({ aliases, id }) => [id, ...aliases].map((name) => [name, id] as const))
      ),
      withSecrets
    })
  )

interface Given extends GatewayFlags {
  readonly dryRun: boolean
  readonly print: boolean
  readonly yes: boolean
}

/** Shows what was read, and makes the gateway have it. */
const finish = (
  { document, rows }: Imported,
  source: string,
  given: Given,
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
    const whole = yield* documentOf(document, source, new Map([...environment, ...more]))
    const { text, value } = yield* carryOut(whole, yield* Client.target(given), environment, { ...given, prune: false })
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
      yield* finish(readOmniRoute(content, yield* optionsOf(given.withSecrets)), given.file, given)
    })
)

const { withSecrets: _, ...withoutSecrets } = flags

export const importEnv = Command.make(
  "env",
  {
    file: Options.text("file").pipe(
      Options.withDescription("A file of NAME=value lines, which go before the environment's."),
      Options.optional
    ),
    ...withoutSecrets
  },
  (given) =>
    Effect.gen(function* () {
      const { environment } = yield* loadConfig
      const more = Option.isNone(given.file)
        ? new Map<string, string>()
        : parse(yield* readText(given.file.value, "--file", "Name a file of NAME=value lines."))
      const { allProviders } = yield* loadRoom(() => import("../../../providers/registry/index.ts"))
      const { isGatewayKey } = yield* loadRoom(() => import("../../../kernel/GatewayKey.ts"))
      const found = readEnvironment(new Map([...environment, ...more]), allProviders, isGatewayKey)
      yield* finish(
        found,
        Option.getOrElse(given.file, () => "environment"),
        given,
        more
      )
    })
)
