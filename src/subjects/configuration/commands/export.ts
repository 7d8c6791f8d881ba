/** `gateway export`: the configuration as a file for `gateway apply`. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { stringify } from "yaml"
import { exported } from "../../declared/Export.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { present } from "./currentConfiguration.ts"

const Document = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const head = (url: string, variables: ReadonlyArray<string>, leftOut: ReadonlyArray<string>): string =>
  [
    `# The configuration of ${url}, for 'gateway apply -f <file>' (docs/apply.md).`,
    `# yaml-language-server: $schema=${url}/gateway.schema.json`,
    ...(variables.length === 0
      ? []
      : ["# Set these before, but for what the gateway has already: " + variables.join(", ")]),
    ...leftOut.map((sentence) => `# Left out: ${sentence.replaceAll(/\s+/g, " ")}`)
  ].join("\n")

export const exportCommand = Command.make("export", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { document, leftOut, variables } = exported(yield* present(to))
    const text = `${head(to.url, variables, leftOut)}\n${stringify(document, { lineWidth: 0 }).trimEnd()}`
    yield* Output.result({ schema: Document, value: document, text: Output.print(text), name: to.url })
    for (const sentence of leftOut) yield* Output.note(`Left out: ${sentence}`)
  })
)
