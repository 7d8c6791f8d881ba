/** `gateway update --check`: whether there is a newer version. Nothing is installed. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isNewer } from "../../kernel/text/Versions.ts"
import { version } from "../../platform/Version.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, CommandFailed, ServerOffline } from "../Failure.ts"
import { boundedText } from "../gateway/BoundedText.ts"
import * as NodeHttp from "../gateway/NodeHttp.ts"
import * as Output from "../output/Output.ts"

const check = Options.boolean("check").pipe(Options.withDescription("Only ask; the default, nothing is installed."))
const from = Options.text("from").pipe(
  Options.withDescription(
    "Address of the package in an npm registry, such as https://registry.example/gateway (GATEWAY_UPDATE_URL)."
  ),
  Options.optional
)

const Answer = Schema.Struct({
  current: Schema.String,
  latest: Schema.NullOr(Schema.String),
  updateAvailable: Schema.NullOr(Schema.Boolean),
  source: Schema.NullOr(Schema.String)
})

/** The document of a package. https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md */
const Package = Schema.Struct({ "dist-tags": Schema.Struct({ latest: Schema.String.pipe(Schema.maxLength(100)) }) })

const patience = "10 seconds"
/** The document of a package with very many versions has some megabytes. */
const maxBytes = 16 * 1_048_576

const decodePackage = Schema.decodeUnknown(Schema.parseJson(Package))

const latestAt = (address: string) =>
  NodeHttp.client.get(address, { headers: { accept: "application/vnd.npm.install-v1+json, application/json" } }).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap((response) => boundedText(address, response, maxBytes)),
    Effect.flatMap(decodePackage),
    Effect.scoped,
    Effect.timeout(patience),
    Effect.mapBoth({
      onFailure: (error) =>
        error._tag === "CommandFailed"
          ? error
          : error._tag === "ParseError"
            ? new CommandFailed({ message: `What ${address} answers is not a package of an npm registry.` })
            : new ServerOffline({
                message: `The versions could not be asked for at ${address}.`,
                hint: "Check the network and the address (GATEWAY_UPDATE_URL)."
              }),
      onSuccess: (found) => found["dist-tags"].latest
    })
  )

const words = (latest: string | null): string => {
  if (latest === null)
    return `This is ${version}. No address of releases is set, so none was asked (GATEWAY_UPDATE_URL).`
  return isNewer(latest, version) ? `This is ${version}; there is ${latest}.` : `This is ${version}, the newest.`
}

export const updateCommand = Command.make("update", { check, from }, (flags) =>
  Effect.gen(function* () {
    const { environment } = yield* loadConfig
    const source = Option.getOrNull(flags.from) ?? environment.get("GATEWAY_UPDATE_URL") ?? null
    if (source !== null && !(URL.canParse(source) && /^https?:$/.test(new URL(source).protocol))) {
      return yield* new BadArgument({ message: `'${source}' is not an http or https address.` })
    }
    const latest = source === null ? null : yield* latestAt(source)
    yield* Output.result({
      schema: Answer,
      value: { current: version, latest, updateAvailable: latest === null ? null : isNewer(latest, version), source },
      text: Output.print(words(latest)),
      name: latest ?? version
    })
  })
)
