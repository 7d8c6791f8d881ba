/**
 * `$XDG_CONFIG_HOME/gateway/config.json`: gateways that `gateway login` was used with, and which of them commands ask. It holds keys, so
 * that only its owner may read it. A file that cannot be trusted or read is an error and is never overwritten.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import { BadArgument, CommandFailed } from "../Failure.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** A gateway, and the key that commands use there. */
export const Context = Schema.Struct({
  /** Address without a slash at the end. */
  url: Schema.String,
  key: Schema.Redacted(Schema.NonEmptyString),
  /** Id of the key at the gateway when `login` made it, so that `logout` can remove it; null for a key that was given. */
  keyId: Schema.NullOr(Schema.String)
})
export type Context = typeof Context.Type

const Contexts = Schema.Struct({
  current: Schema.NullOr(Schema.String),
  contexts: Schema.Record({ key: Schema.String, value: Context })
})
export type Contexts = typeof Contexts.Type

const File = Schema.parseJson(Contexts, { space: 2 })
const decode = Schema.decodeUnknownEither(File)
const encode = Schema.encodeSync(File)

export const noContexts: Contexts = { current: null, contexts: {} }

const maxBytes = 1_048_576
const openToOthers = 0o077

/**
 * Finds the path of the file under an environment. A relative `XDG_CONFIG_HOME` is to be ignored (XDG base directory
 * specification).
 */
export const contextFile = (environment: ReadonlyMap<string, string>): string => {
  const configured = environment.get("XDG_CONFIG_HOME")
  const home = environment.get("HOME") || homedir()
  const base = configured !== undefined && isAbsolute(configured) ? configured : join(home, ".config")
  return join(base, "gateway", "config.json")
}

const unusable = (file: string, problem: string, remedy: string): BadArgument =>
  new BadArgument({ message: `The file with your logins, ${file}, ${asSentence(problem)}`, hint: remedy })

const movingAway = "Correct it, or move it away and use 'gateway login <url>' again."

/** Reads the file; empty when there is none. */
export const read = (file: string): Effect.Effect<Contexts, BadArgument> =>
  Effect.gen(function* () {
    const text = yield* Effect.try({
      try: () => {
        const stat = statSync(file, { throwIfNoEntry: false })
        if (stat === undefined) return null
        if (process.getuid !== undefined && (stat.mode & openToOthers) !== 0) {
          return unusable(
            file,
            "can be read by other users",
            `Run 'chmod 600 ${file}'; if others may have read it, log in anew.`
          )
        }
        if (!stat.isFile() || stat.size > maxBytes)
          return unusable(file, "is not one that 'gateway login' writes", movingAway)
        return readFileSync(file, "utf8")
      },
      catch: (error) =>
        unusable(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`, movingAway)
    })
    if (text === null) return noContexts
    if (typeof text !== "string") return yield* text
    // The schema's own message would repeat keys.
    return yield* Either.mapLeft(decode(text), () =>
      unusable(file, "does not hold what 'gateway login' writes", movingAway)
    )
  })

/** Replaces the file, whole or not at all. */
export const write = (file: string, contexts: Contexts): Effect.Effect<void, CommandFailed> =>
  Effect.try({
    try: () => {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      const fresh = `${file}.${process.pid}.new`
      rmSync(fresh, { force: true })
      writeFileSync(fresh, `${encode(contexts)}\n`, { flag: "wx", mode: 0o600 })
      renameSync(fresh, file)
    },
    catch: (error) =>
      new CommandFailed({
        message: `${file} cannot be written: ${asSentence(error instanceof Error ? error.message : String(error))}`,
        hint: "Check the permissions of its folder, or set XDG_CONFIG_HOME to another one."
      })
  })

/** A context by its name; null when there is none. */
export const named = ({ contexts }: Contexts, name: string): Context | null =>
  Object.hasOwn(contexts, name) ? (contexts[name] ?? null) : null

/** The name that means this machine's gateway. */
export const localName = "local"

/** A context that is named. */
export const find = (all: Contexts, name: string): Effect.Effect<Context, BadArgument> => {
  const context = named(all, name)
  return context === null
    ? new BadArgument({
        message: `There is no login '${name}'.`,
        hint: "See 'gateway context list'; 'gateway login <url>' makes one."
      })
    : Effect.succeed(context)
}

/** The context that commands use; null when there is none. */
export const current = (all: Contexts): Effect.Effect<Context | null, BadArgument> => {
  if (all.current === null) return Effect.succeed(null)
  const found = named(all, all.current)
  return found === null
    ? new BadArgument({
        message: `The login '${all.current}' is in use, but it is not there any more.`,
        hint: "Choose another with 'gateway context use <name>', or log in again with 'gateway login <url>'."
      })
    : Effect.succeed(found)
}

/** The key that is kept for an address; null when there is none. */
export const keyFor = ({ contexts }: Contexts, url: string): Redacted.Redacted | null =>
  Object.values(contexts).find((context) => context.url === url)?.key ?? null
