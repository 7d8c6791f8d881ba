/** `gateway version` */
import * as Command from "@effect/cli/Command"
import * as Schema from "effect/Schema"
import { version } from "../../platform/Version.ts"
import * as Output from "../output/Output.ts"

export const versionCommand = Command.make("version", {}, () =>
  Output.result({
    schema: Schema.Struct({ version: Schema.String, node: Schema.String }),
    value: { version, node: process.versions.node },
    text: Output.print(version),
    name: version
  })
)
