/** `gateway config show`: the configuration a start would use. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import { envFile, loadConfig } from "../flags/EnvFile.ts"
import * as Output from "../output/Output.ts"
import { fields } from "../output/Table.ts"

/** View of the configuration; for secrets only whether they are set. */
const View = Schema.Struct({
  dataDir: Schema.String,
  envFile: Schema.String,
  host: Schema.String,
  port: Schema.Number,
  drainMs: Schema.Number,
  maxBodyBytes: Schema.Number,
  envConnections: Schema.Boolean,
  otlpEndpoint: Schema.NullOr(Schema.String),
  adminKeySet: Schema.Boolean,
  adminPasswordSet: Schema.Boolean,
  encryptionKeySet: Schema.Boolean
})

const view = (config: AppConfigShape): typeof View.Type => ({
  dataDir: config.dataDir,
  envFile: envFile(config.dataDir),
  host: config.host,
  port: config.port,
  drainMs: config.drainMs,
  maxBodyBytes: config.maxBodyBytes,
  envConnections: config.envConnections,
  otlpEndpoint: config.otlpEndpoint,
  adminKeySet: config.adminKey !== null,
  adminPasswordSet: config.adminPassword !== null,
  encryptionKeySet: config.encryptionKey !== null
})

export const configShow = Command.make("show", {}, () =>
  Effect.gen(function* () {
    const shown = view(yield* loadConfig)
    const text = Output.print(
      fields(Object.entries(shown).map(([name, value]) => [name, Output.orDash(String(value ?? ""))]))
    )
    yield* Output.result({ schema: View, value: shown, text, name: shown.dataDir })
  })
)
