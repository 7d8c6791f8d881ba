/** `gateway apply`: makes the gateway be as a file says. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { declaredSchemaJson } from "../../declared/JsonSchema.ts"
import { yes } from "../../../cli/asking/confirm.ts"
import { loadConfig } from "../../../cli/flags/EnvFile.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { carryOut, Result } from "./carryOut.ts"
import { wantedIn, readYaml } from "./DocumentFile.ts"

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

export const applyCommand = Command.make("apply", flags, (given) =>
  Effect.gen(function* () {
    if (given.schema) {
      return yield* Output.print(declaredSchemaJson().trimEnd())
    }
    const { environment } = yield* loadConfig
    const text = yield* readYaml(given.file, "--file", "'gateway export > gateway.yaml' writes one.")
    const wanted = yield* wantedIn(text, given.file, environment)
    const { text: told, value } = yield* carryOut(wanted, yield* Client.target(given), environment, given)
    yield* Output.result({ schema: Result, value, text: Output.print(told), name: "" })
  })
)
