/** `$XDG_CONFIG_HOME/gateway/applied.json`: what `gateway apply` has made at each gateway, so that `--prune` removes nothing else. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { dirname, join } from "node:path"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { contextFile } from "../../../cli/gateway/Contexts.ts"

const Text = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) }), { space: 2 })
const decode = Schema.decodeUnknownEither(Text)
const encode = Schema.encodeSync(Text)

const fileOf = (environment: ReadonlyMap<string, string>): string =>
  join(dirname(contextFile(environment)), "applied.json")

const failed = ({ message }: { readonly message: string }): CommandFailed => new CommandFailed({ message })

const open = (environment: ReadonlyMap<string, string>, home: string) =>
  Effect.gen(function* () {
    const file = yield* Effect.mapError(ConfigFile.read(fileOf(environment), home), failed)
    const all = file.text === null ? Either.right({}) : decode(file.text)
    if (Either.isLeft(all)) return yield* failed({ message: `${file.path} does not hold what 'gateway apply' writes.` })
    return { file, all: all.right as Readonly<Record<string, ReadonlyArray<string>>> }
  })

/** Reads the entries that were made at a gateway, as `kind name`. */
export const read = (environment: ReadonlyMap<string, string>, home: string, url: string) =>
  Effect.map(open(environment, home), ({ all }) => new Set(all[url] ?? []))

export const write = (environment: ReadonlyMap<string, string>, home: string, url: string, made: ReadonlySet<string>) =>
  Effect.gen(function* () {
    const { all, file } = yield* open(environment, home)
    const text = `${encode({ ...all, [url]: [...made].toSorted() })}\n`
    yield* Effect.mapError(ConfigFile.write(file, text, home, ConfigFile.ownerOnly), failed)
  })
